"""OpenCode and Kilo, which share their code."""
import sqlite3

from .base import MODEL, TASK, Client, Step


class OpenCodeClient(Client):
    name, agent, label, program = "opencode", "opencode", "OpenCode", "opencode/node_modules/.bin/opencode"
    package, installer = "opencode", "setup.sh"
    # Dollars for a million tokens.
    price = {"input": 1, "output": 2, "cache_read": 0.5}

    def variables(self):
        prefix = self.name.upper()
        return {f"{prefix}_DISABLE_AUTOUPDATE": "1", f"{prefix}_DISABLE_MODELS_FETCH": "1"}

    def set_up(self):
        model = {"tool_call": True, "limit": {"context": 200000, "output": 8192}, "cost": self.price}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{self.url}/v1", "apiKey": "x"}, "models": {MODEL: model}}
        self.write(f".config/{self.name}/{self.name}.json", {"provider": {"fake": provider}, "model": f"fake/{MODEL}", "permission": {"*": "allow"}})

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read", {"filePath": notes}, notes),
                Step("edit", {"filePath": notes, "oldString": "hello world", "newString": "hello there"}, notes),
                Step("bash", {"command": "cat notes.txt", "description": "Show notes"}, "cat notes.txt", exit_code=0),
                Step("bash", {"command": "ls /nonexistent-dir; exit 3", "description": "List"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("read", {"filePath": missing}, missing, fails=True),
                Step("task", {"description": "look around", "prompt": TASK, "subagent_type": "general"}, "look around", is_sub_agent=True)]

    def start(self, prompt):
        return ["run", prompt]

    def resume(self, prompt):
        return ["run", "-s", self.session(), prompt]

    def fork(self, prompt):
        return [*self.resume(prompt)[:-1], "--fork", prompt]

    def session(self):
        with sqlite3.connect(f"file:{self.home}/.local/share/{self.name}/{self.name}.db?mode=ro", uri=True) as database:
            return database.execute("SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created").fetchone()[0]

    def resume_command(self):
        return f"{self.name} -s {self.session()}"

    def cost(self, answers):
        one = self.usage["input"] * self.price["input"] + self.usage["output"] * self.price["output"] + self.usage["cacheRead"] * self.price["cache_read"]
        return answers * one / 1e6


class KiloClient(OpenCodeClient):
    name, agent, label, program = "kilo", "kilo", "Kilo", "kilo/node_modules/.bin/kilo"
    package, installer = "kilo", "setup-more.sh"

    def start(self, prompt):
        return ["run", "--auto", prompt]

    def resume(self, prompt):
        return ["run", "--auto", "-s", self.session(), prompt]
