"""Cline: resuming needs a terminal, and it leaves a daemon running."""
import contextlib, json, os, signal

from .base import FAREWELL, MODEL, TASK, Client, Step
from ..checks import REPLY
from ..terminal import Terminal


class ClineClient(Client):
    name, agent, label, program, package = "cline", "cline", "Cline", "cline/node_modules/.bin/cline", "cline"
    branch = "main"

    def set_up(self):
        self.run(["auth", "-p", "openai-compatible", "-k", "x", "-m", MODEL, "-b", f"{self.url}/v1"], answers=False)

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read_files", {"files": [{"path": notes}]}, notes),
                Step("editor", {"path": notes, "old_text": "hello world", "new_text": "hello there"}, notes),
                Step("run_commands", {"commands": ["cat notes.txt"]}, "cat notes.txt", exit_code=0),
                Step("run_commands", {"commands": ["ls /nonexistent-dir; exit 3"]}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("read_files", {"files": [{"path": missing}]}, missing, fails=True),
                Step("spawn_agent", {"systemPrompt": "You look around", "task": TASK}, TASK, is_sub_agent=True)]

    def start(self, prompt):
        return [prompt]

    def go_on(self):
        with Terminal("cline", self.words(["-i", "--id", self.session()]), self.project, self.environment) as terminal:
            terminal.wait_for("Cline shows the session", lambda: "greeting" in terminal.screen())
            terminal.type(FAREWELL)
            terminal.wait_for("Cline stored the answer", self.is_answered)

    def is_answered(self):
        session = self.session()
        file = self.home / ".cline/data/sessions" / session / f"{session}.messages.json"
        with contextlib.suppress(ValueError):
            *_, question, answer = [json.dumps(message, ensure_ascii=False) for message in json.loads(file.read_text())["messages"]]
            return json.dumps(FAREWELL)[1:-1] in question and REPLY in answer
        return False

    def session(self):
        return sorted(self.home.glob(".cline/data/sessions/*_*"))[0].name

    def resume_command(self):
        return f"cline -i --id {self.session()}"

    def close(self):
        lock = self.home / ".cline/data/locks/hub/production.json"
        if lock.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(json.loads(lock.read_text())["pid"], signal.SIGTERM)
