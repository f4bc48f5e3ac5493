"""Kimi Code."""
import json

from .base import MODEL, TASK, Client, Step


class KimiClient(Client):
    name, agent, label, program, package = "kimi", "kimi", "Kimi Code", "kimi/node_modules/.bin/kimi", "kimi"

    def set_up(self):
        self.write(".kimi-code/config.toml", "\n".join([
            'default_model = "fake"', 'default_permission_mode = "auto"', "[providers.fake]", 'type = "openai"', f'base_url = "{self.url}/v1"',
            'api_key = "x"', "[models.fake]", 'provider = "fake"', f'model = "{MODEL}"', "max_context_size = 200000", ""]))

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("Read", {"path": notes}, notes),
                Step("Edit", {"path": notes, "old_string": "hello world", "new_string": "hello there"}, notes),
                Step("Bash", {"command": "cat notes.txt", "description": "Show notes"}, "cat notes.txt"),
                Step("Bash", {"command": "ls /nonexistent-dir; exit 3", "description": "List"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("Read", {"path": missing}, missing, fails=True),
                Step("Agent", {"description": "look around", "prompt": TASK, "subagent_type": "explore"}, "look around", is_sub_agent=True)]

    def start(self, prompt):
        return ["-p", prompt]

    def resume(self, prompt):
        return ["-r", self.session(), "-p", prompt]

    def fork(self, prompt):
        self.run(["fork", "-y", self.session()], answers=False)
        return ["-r", self.sessions()[-1], "-p", prompt]

    def sessions(self):
        lines = (self.home / ".kimi-code/session_index.jsonl").read_text().splitlines()
        return [json.loads(line)["sessionId"] for line in lines]

    def session(self):
        return self.sessions()[0]

    def resume_command(self):
        return f"kimi -r {self.session()}"
