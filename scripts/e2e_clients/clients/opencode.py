"""OpenCode and Kilo, which share their code."""
import dataclasses

from .base import FAILING, MODEL, TASK, Client, Step, ids_in


class OpenCodeClient(Client):
    name, agent, label, program = "opencode", "opencode", "OpenCode", "opencode/node_modules/.bin/opencode"
    package, installer = "opencode", "setup.sh"
    prompt_sign = "ctrl.p commands"
    # Dollars for a million tokens.
    price = {"input": 1, "output": 2, "cache_read": 0.5}

    def variables(self):
        prefix = self.name.upper()
        return {f"{prefix}_DISABLE_AUTOUPDATE": "1", f"{prefix}_DISABLE_MODELS_FETCH": "1"}

    def set_up(self):
        model = {"tool_call": True, "limit": {"context": 200000, "output": 8192}, "cost": self.price}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{self.url}/v1", "apiKey": "x"}, "models": {MODEL: model}}
        self.write(f".config/{self.name}/{self.name}.json", {"provider": {"fake": provider}, "model": f"fake/{MODEL}", "permission": {"*": "allow"}})

    def reading(self, name):
        return Step("read", {"filePath": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("edit", {"filePath": self.file(name), "oldString": old, "newString": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("bash", {"command": command, "description": "Run it"}, command, exit_code)

    def delegating(self, task):
        return Step("task", {"description": "look around", "prompt": task, "subagent_type": "general"}, "look around", is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["run", prompt]

    def resume(self, prompt):
        return ["run", "-s", self.session(), prompt]

    def fork(self, prompt):
        return [*self.resume(prompt)[:-1], "--fork", prompt]

    def sessions(self):
        return ids_in(self.home / f".local/share/{self.name}/{self.name}.db", "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created")

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
