"""Copilot CLI with a provider of its own, which needs no login."""
import dataclasses

from .base import FAILING, MODEL, TASK, Client, Step, by_age


class CopilotClient(Client):
    name, agent, label, program, package = "copilot", "copilot", "Copilot CLI", "copilot/node_modules/.bin/copilot", "copilot"
    branch, prompt_sign, question = "main", r"\? help", ("Do you trust the files", "Enter")

    def variables(self):
        return {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{self.url}/v1", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": MODEL,
                "COPILOT_AUTO_UPDATE": "false"}

    def reading(self, name):
        return Step("view", {"path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("edit", {"path": self.file(name), "old_str": old, "new_str": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("bash", {"command": command, "description": "Run it"}, command, exit_code)

    def delegating(self, task):
        return Step("task", {"description": "look around", "prompt": task, "agent_type": "explore", "name": "looker", "mode": "sync"}, "look around",
                    is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["--allow-all-tools", "-p", prompt]

    def resume(self, prompt):
        return ["--allow-all-tools", f"--resume={self.session()}", "-p", prompt]

    def compact(self):
        return self.resume("/compact")

    def sessions(self):
        return [file.parent.name for file in by_age(self.home.glob(".copilot/session-state/*/events.jsonl"))]

    def resume_command(self):
        return f"copilot --resume={self.session()}"
