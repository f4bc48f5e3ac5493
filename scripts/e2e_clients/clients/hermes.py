"""Hermes. Rethread reads it only if the user names it in `intake.agents`."""
import sqlite3

from .base import MODEL, TASK, Client, Step


class HermesClient(Client):
    name, agent, label, program, package = "hermes", "hermes", "Hermes", "hermes/bin/hermes", "hermes"
    is_private = True

    def set_up(self):
        self.write(".hermes/config.yaml", f"model: {{default: {MODEL}, provider: custom, base_url: '{self.url}/v1', api_key: x}}\n")

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read_file", {"path": notes}, notes),
                Step("patch", {"mode": "replace", "path": notes, "old_string": "hello world", "new_string": "hello there"}, notes),
                Step("terminal", {"command": "cat notes.txt"}, "cat notes.txt", exit_code=0),
                Step("terminal", {"command": "ls /nonexistent-dir; exit 3"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("read_file", {"path": missing}, missing, fails=True),
                Step("delegate_task", {"goal": TASK, "context": "look around"}, TASK, is_sub_agent=True)]

    def start(self, prompt):
        return ["chat", "-Q", "--yolo", "-q", prompt]

    def resume(self, prompt):
        return ["chat", "--resume", self.session(), "-Q", "--yolo", "-q", prompt]

    def session(self):
        with sqlite3.connect(f"file:{self.home}/.hermes/state.db?mode=ro", uri=True) as database:
            return database.execute("SELECT id FROM sessions WHERE parent_session_id IS NULL ORDER BY started_at").fetchone()[0]

    def resume_command(self):
        return f"hermes chat --resume {self.session()}"
