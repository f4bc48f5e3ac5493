"""Droid: resuming needs a login, so both prompts go to one process. Sub-agents need a login too."""
import json

from .base import MODEL, Client, Step


class DroidClient(Client):
    name, agent, label, program, package = "droid", "droid", "Droid", "droid/node_modules/@factory/cli-linux-x64/bin/droid", "droid"
    model_name = "custom:Fake-0"

    def set_up(self):
        model = {"model": MODEL, "displayName": "Fake", "baseUrl": f"{self.url}/v1", "apiKey": "x", "provider": "generic-chat-completion-api",
                 "maxOutputTokens": 8192}
        self.write(".factory/settings.json", {"customModels": [model]})

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("Read", {"file_path": notes}, notes),
                Step("Edit", {"file_path": notes, "old_str": "hello world", "new_str": "hello there"}, notes),
                Step("Execute", self.shell("cat notes.txt"), "cat notes.txt", exit_code=0),
                Step("Execute", self.shell("ls /nonexistent-dir; exit 3"), "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("Read", {"file_path": missing}, missing, fails=True)]

    def shell(self, command):
        return {"command": command, "riskLevel": "low", "riskLevelReason": "reads", "timeout": 30, "summary": "Look"}

    def start(self, prompt):
        return ["exec", "-m", self.model_name, "--auto", "high", prompt]

    def begin(self):
        lines = "".join(json.dumps({"role": "user", "content": prompt}) + "\n" for prompt in self.prompts())
        self.run(["exec", "-m", self.model_name, "--auto", "high", "--input-format", "stream-json", "--output-format", "stream-json"], answers=False,
                 text=lines)

    def go_on(self):
        """Both prompts were said."""

    def session(self):
        return self.newest(".factory/sessions/*/*.jsonl").stem

    def resume_command(self):
        return f"droid --resume {self.session()}"
