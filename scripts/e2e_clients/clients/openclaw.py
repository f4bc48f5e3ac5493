"""OpenClaw. Rethread reads it only if the user names it in `intake.agents`."""
from .base import MODEL, Client, Step

SESSION = "a1a1a1a1-b2b2-4c3c-8d4d-e5e5e5e5e5e5"


class OpenClawClient(Client):
    name, agent, label, program, package = "openclaw", "openclaw", "OpenClaw", "openclaw/node_modules/.bin/openclaw", "openclaw"
    node, is_private = "node24/node_modules/node/bin", True
    price = {"input": 1, "output": 2, "cacheRead": 0.5, "cacheWrite": 0}

    def set_up(self):
        model = {"id": MODEL, "name": "Fake", "contextWindow": 200000, "maxTokens": 8192, "input": ["text"], "cost": self.price}
        provider = {"baseUrl": f"{self.url}/v1", "apiKey": "x", "api": "openai-completions", "models": [model]}
        defaults = {"model": {"primary": f"fake/{MODEL}"}, "workspace": str(self.project), "skipBootstrap": True}
        self.write(".openclaw/openclaw.json", {"gateway": {"mode": "local"}, "models": {"mode": "replace", "providers": {"fake": provider}},
                                               "agents": {"defaults": defaults}})

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read", {"path": notes}, notes),
                Step("edit", {"path": notes, "edits": [{"oldText": "hello world", "newText": "hello there"}]}, notes),
                Step("exec", {"command": "cat notes.txt"}, "cat notes.txt", exit_code=0),
                Step("exec", {"command": "ls /nonexistent-dir; exit 3"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                # A long result is stored compressed.
                Step("exec", {"command": "seq 3000"}, "seq 3000", exit_code=0),
                Step("read", {"path": missing}, missing, fails=True)]

    def start(self, prompt):
        return ["agent", "--local", "--agent", "main", "--session-id", SESSION, "-m", prompt]

    resume = start

    def session(self):
        return SESSION

    def resume_command(self):
        return f"openclaw agent --session-id {SESSION}"

    def cost(self, answers):
        return answers * sum(self.usage[kind] * self.price[kind] for kind in self.usage) / 1e6
