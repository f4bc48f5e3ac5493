"""Kimi Code."""
import dataclasses, json

from .base import FAILING, MODEL, TASK, Client, Step


class KimiClient(Client):
    name, agent, label, program, package = "kimi", "kimi", "Kimi Code", "kimi/node_modules/.bin/kimi", "kimi"
    prompt_sign, question, takes_first_prompt = "context: ", ("Trust this folder", "Enter"), False

    def set_up(self):
        self.write(".kimi-code/config.toml", "\n".join([
            'default_model = "fake"', 'default_permission_mode = "auto"', "[providers.fake]", 'type = "openai"', f'base_url = "{self.url}/v1"',
            'api_key = "x"', "[models.fake]", 'provider = "fake"', f'model = "{MODEL}"', "max_context_size = 200000", ""]))

    def reading(self, name):
        return Step("Read", {"path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("Edit", {"path": self.file(name), "old_string": old, "new_string": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("Bash", {"command": command, "description": "Run it"}, command, exit_code)

    def delegating(self, task):
        return Step("Agent", {"description": "look around", "prompt": task, "subagent_type": "explore"}, "look around", is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt"), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["-p", prompt]

    def resume(self, prompt):
        return ["-r", self.session(), "-p", prompt]

    def fork(self, prompt):
        self.run(["fork", "-y", self.session()], answers=False)
        return ["-r", self.sessions()[-1], "-p", prompt]

    def sessions(self):
        index = self.home / ".kimi-code/session_index.jsonl"
        return [json.loads(line)["sessionId"] for line in (index.read_text().splitlines() if index.exists() else [])]

    def resume_command(self):
        return f"kimi -r {self.session()}"
