"""Copilot CLI with a provider of its own, which needs no login."""
from .base import MODEL, TASK, Client, Step


class CopilotClient(Client):
    name, agent, label, program, package = "copilot", "copilot", "Copilot CLI", "copilot/node_modules/.bin/copilot", "copilot"
    branch = "main"

    def variables(self):
        return {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{self.url}/v1", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": MODEL,
                "COPILOT_AUTO_UPDATE": "false"}

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("view", {"path": notes}, notes),
                Step("edit", {"path": notes, "old_str": "hello world", "new_str": "hello there"}, notes),
                Step("bash", {"command": "cat notes.txt", "description": "Show notes"}, "cat notes.txt", exit_code=0),
                Step("bash", {"command": "ls /nonexistent-dir; exit 3", "description": "List"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("view", {"path": missing}, missing, fails=True),
                Step("task", {"description": "look around", "prompt": TASK, "agent_type": "explore", "name": "looker", "mode": "sync"}, "look around",
                     is_sub_agent=True)]

    def start(self, prompt):
        return ["--allow-all-tools", "-p", prompt]

    def resume(self, prompt):
        return ["--allow-all-tools", f"--resume={self.session()}", "-p", prompt]

    def compact(self):
        return self.resume("/compact")

    def session(self):
        return self.newest(".copilot/session-state/*/events.jsonl").parent.name

    def resume_command(self):
        return f"copilot --resume={self.session()}"
