"""pi, which is tested further with its extension."""
from .base import MODEL, Client, Step

SESSION = "b1b1b1b1-c2c2-4d3d-8e4e-f5f5f5f5f5f5"


class PiClient(Client):
    name, agent, label, program = "pi", "pi", "pi", "pi/node_modules/.bin/pi"
    api, package, installer = "/messages", "pi", "setup.sh"
    usage = {"input": 1000, "output": 56, "cacheRead": 234, "cacheWrite": 20}

    def variables(self):
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}

    def set_up(self):
        provider = {"baseUrl": self.url, "api": "anthropic-messages", "apiKey": "x", "models": [{"id": MODEL}]}
        self.write(".pi/agent/models.json", {"providers": {"fake": provider}})

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read", {"path": notes}, notes),
                Step("edit", {"path": notes, "edits": [{"oldText": "hello world", "newText": "hello there"}]}, notes),
                Step("bash", {"command": "cat notes.txt"}, "cat notes.txt"),
                Step("bash", {"command": "ls /nonexistent-dir; exit 3"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("read", {"path": missing}, missing, fails=True)]

    def start(self, prompt):
        return ["-p", "--provider", "fake", "--model", MODEL, "--session-id", SESSION, prompt]

    def resume(self, prompt):
        return ["-p", "--provider", "fake", "--model", MODEL, "--session", SESSION, prompt]

    def fork(self, prompt):
        return ["-p", "--provider", "fake", "--model", MODEL, "--fork", SESSION, prompt]

    def session(self):
        return SESSION

    def resume_command(self):
        return f"pi --session {SESSION}"
