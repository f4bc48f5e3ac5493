"""Hermes. Rethread reads it only if the user names it in `intake.agents`."""
import dataclasses

from .base import FAILING, MODEL, TASK, Client, Step, ids_in


class HermesClient(Client):
    name, agent, label, program, package = "hermes", "hermes", "Hermes", "hermes/bin/hermes", "hermes"
    is_private = True
    prompt_sign, takes_first_prompt = f"⚕ {MODEL}", False

    def set_up(self):
        self.write(".hermes/config.yaml", f"model: {{default: {MODEL}, provider: custom, base_url: '{self.url}/v1', api_key: x}}\n")

    def reading(self, name):
        return Step("read_file", {"path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("patch", {"mode": "replace", "path": self.file(name), "old_string": old, "new_string": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("terminal", {"command": command}, command, exit_code)

    def delegating(self, task):
        return Step("delegate_task", {"goal": task, "context": "look around"}, task, is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["chat", "-Q", "--yolo", "-q", prompt]

    def resume(self, prompt):
        return ["chat", "--resume", self.session(), "-Q", "--yolo", "-q", prompt]

    def sessions(self):
        return ids_in(self.home / ".hermes/state.db", "SELECT id FROM sessions WHERE parent_session_id IS NULL ORDER BY started_at")

    def resume_command(self):
        return f"hermes chat --resume {self.session()}"
