"""Droid: resuming needs a login, so both prompts go to one process. Sub-agents need a login too."""
import dataclasses, json

from .base import FAILING, MODEL, Client, Step, by_age


class DroidClient(Client):
    name, agent, label, program, package = "droid", "droid", "Droid", "droid/node_modules/@factory/cli-linux-x64/bin/droid", "droid"
    model_name = "custom:Fake-0"

    def set_up(self):
        model = {"model": MODEL, "displayName": "Fake", "baseUrl": f"{self.url}/v1", "apiKey": "x", "provider": "generic-chat-completion-api",
                 "maxOutputTokens": 8192}
        self.write(".factory/settings.json", {"customModels": [model]})

    def reading(self, name):
        return Step("Read", {"file_path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("Edit", {"file_path": self.file(name), "old_str": old, "new_str": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("Execute", {"command": command, "riskLevel": "low", "riskLevelReason": "reads", "timeout": 30, "summary": "Look"}, command, exit_code)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True)]

    def start(self, prompt):
        return ["exec", "-m", self.model_name, "--auto", "high", prompt]

    def begin(self):
        lines = "".join(json.dumps({"role": "user", "content": prompt}) + "\n" for prompt in self.prompts())
        self.run(["exec", "-m", self.model_name, "--auto", "high", "--input-format", "stream-json", "--output-format", "stream-json"], answers=False,
                 text=lines)

    def go_on(self):
        """Both prompts were said."""

    def sessions(self):
        return [file.stem for file in by_age(self.home.glob(".factory/sessions/*/*.jsonl"))]

    def resume_command(self):
        return f"droid --resume {self.session()}"
