"""pi, which is tested further with its extension."""
import dataclasses

from .base import FAILING, MODEL, Client, Step

SESSION = "b1b1b1b1-c2c2-4d3d-8e4e-f5f5f5f5f5f5"


class PiClient(Client):
    name, agent, label, program = "pi", "pi", "pi", "pi/node_modules/.bin/pi"
    api, package, installer = "/messages", "pi", "setup.sh"
    usage = {"input": 1000, "output": 56, "cacheRead": 234, "cacheWrite": 20}
    names_sessions = True
    prompt_sign = MODEL

    def variables(self):
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}

    def set_up(self):
        provider = {"baseUrl": self.url, "api": "anthropic-messages", "apiKey": "x", "models": [{"id": MODEL}]}
        self.write(".pi/agent/models.json", {"providers": {"fake": provider}})

    def prepare_terminal(self):
        self.write(".pi/agent/settings.json", {"defaultProvider": "fake", "defaultModel": MODEL})

    def reading(self, name):
        return Step("read", {"path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("edit", {"path": self.file(name), "edits": [{"oldText": old, "newText": new}]}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("bash", {"command": command}, command, exit_code)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt"), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True)]

    def start(self, prompt):
        return ["-p", "--provider", "fake", "--model", MODEL, "--session-id", self.session(), prompt]

    def resume(self, prompt):
        return ["-p", "--provider", "fake", "--model", MODEL, "--session", self.session(), prompt]

    def fork(self, prompt):
        return ["-p", "--provider", "fake", "--model", MODEL, "--fork", self.session(), prompt]

    def sessions(self):
        return [SESSION]

    def resume_command(self):
        return f"pi --session {self.session()}"
