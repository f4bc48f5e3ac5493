"""OpenClaw. Rethread reads it only if the user names it in `intake.agents`."""
import dataclasses

from .base import FAILING, MODEL, Client, Step

SESSION = "a1a1a1a1-b2b2-4c3c-8d4d-e5e5e5e5e5e5"


class OpenClawClient(Client):
    name, agent, label, program, package = "openclaw", "openclaw", "OpenClaw", "openclaw/node_modules/.bin/openclaw", "openclaw"
    node, is_private = "node24/node_modules/node/bin", True
    names_sessions = True
    price = {"input": 1, "output": 2, "cacheRead": 0.5, "cacheWrite": 0}

    def set_up(self):
        model = {"id": MODEL, "name": "Fake", "contextWindow": 200000, "maxTokens": 8192, "input": ["text"], "cost": self.price}
        provider = {"baseUrl": f"{self.url}/v1", "apiKey": "x", "api": "openai-completions", "models": [model]}
        defaults = {"model": {"primary": f"fake/{MODEL}"}, "workspace": str(self.project), "skipBootstrap": True}
        self.write(".openclaw/openclaw.json", {"gateway": {"mode": "local"}, "models": {"mode": "replace", "providers": {"fake": provider}},
                                               "agents": {"defaults": defaults}})

    def reading(self, name):
        return Step("read", {"path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("edit", {"path": self.file(name), "edits": [{"oldText": old, "newText": new}]}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("exec", {"command": command}, command, exit_code)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                # A long result is stored compressed.
                self.running("seq 3000", 0),
                dataclasses.replace(self.reading("missing.txt"), fails=True)]

    def start(self, prompt):
        return ["agent", "--local", "--agent", "main", "--session-id", self.session(), "-m", prompt]

    resume = start

    def sessions(self):
        return [SESSION]

    def resume_command(self):
        return f"openclaw agent --session-id {self.session()}"

    def cost(self, answers):
        return answers * sum(self.usage[kind] * self.price[kind] for kind in self.usage) / 1e6
