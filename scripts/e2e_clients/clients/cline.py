"""Cline: resuming needs a terminal, and it leaves a daemon running."""
import contextlib, dataclasses, json, os, signal

from .base import FAILING, FAREWELL, MODEL, TASK, Client, Step
from ..checks import REPLY
from ..terminal import Terminal


class ClineClient(Client):
    name, agent, label, program, package = "cline", "cline", "Cline", "cline/node_modules/.bin/cline", "cline"
    branch, prompt_sign, question = "main", "Ask anything", ("any other key to close", "Escape")

    def set_up(self):
        self.run(["auth", "-p", "openai-compatible", "-k", "x", "-m", MODEL, "-b", f"{self.url}/v1"], answers=False)

    def reading(self, name):
        return Step("read_files", {"files": [{"path": self.file(name)}]}, self.file(name))

    def editing(self, name, old, new):
        return Step("editor", {"path": self.file(name), "old_text": old, "new_text": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("run_commands", {"commands": [command]}, command, exit_code)

    def delegating(self, task):
        return Step("spawn_agent", {"systemPrompt": "You look around", "task": task}, task, is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return [prompt]

    def go_on(self):
        with Terminal("cline", self.words(["-i", "--id", self.session()]), self.project, self.environment) as terminal:
            terminal.wait_for("Cline shows the session", lambda: "greeting" in terminal.screen())
            terminal.type(FAREWELL)
            terminal.wait_for("Cline stored the answer", lambda: self.is_answered(FAREWELL))

    def is_answered(self, prompt):
        """Whether the model's answer to a prompt is stored. Calls, results and texts of ours may be in between."""
        session = self.session()
        file = self.home / ".cline/data/sessions" / session / f"{session}.messages.json"
        with contextlib.suppress(ValueError):
            messages = json.loads(file.read_text())["messages"]
            asked = [at for at, message in enumerate(messages) if json.dumps(prompt)[1:-1] in json.dumps(message, ensure_ascii=False)]
            return bool(asked) and any(message["role"] == "assistant" and REPLY in json.dumps(message) for message in messages[asked[-1]:])
        return False

    def sessions(self):
        return [folder.name for folder in sorted(self.home.glob(".cline/data/sessions/*_*"))]

    def resume_command(self):
        return f"cline -i --id {self.session()}"

    def close(self):
        lock = self.home / ".cline/data/locks/hub/production.json"
        if lock.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(json.loads(lock.read_text())["pid"], signal.SIGTERM)
