"""Continue: it can resume only the newest session."""
import json

from .base import MODEL, Client, Step


class ContinueClient(Client):
    name, agent, label, program, package = "continue", "continue", "Continue", "continue/node_modules/.bin/cn", "continue"
    prompt_sign = "Ask anything"

    def set_up(self):
        self.write(".continue/config.yaml", f"""name: fake
version: 1.0.0
schema: v1
models:
  - name: Fake
    provider: openai
    model: {MODEL}
    apiBase: {self.url}/v1
    apiKey: x
    roles: [chat]
    capabilities: [tool_use]
""")

    def prepare_terminal(self):
        self.write(".continue/.onboarding_complete", "")

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("Read", {"filepath": notes}, notes),
                Step("Edit", {"file_path": notes, "old_string": "hello world", "new_string": "hello there"}, notes),
                Step("Bash", {"command": "cat notes.txt"}, "cat notes.txt"),
                Step("Bash", {"command": "ls /nonexistent-dir; exit 3"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("Read", {"filepath": missing}, missing, fails=True)]

    def start(self, prompt):
        return ["-p", "--auto", "--config", str(self.home / ".continue/config.yaml"), prompt]

    def resume(self, prompt):
        return ["-p", "--auto", "--resume", "--config", str(self.home / ".continue/config.yaml"), prompt]

    def fork(self, prompt):
        return ["-p", "--auto", "--fork", self.session(), "--config", str(self.home / ".continue/config.yaml"), prompt]

    def session(self):
        return json.loads((self.home / ".continue/sessions/sessions.json").read_text())[0]["sessionId"]

    def resume_command(self):
        # `cn --resume` resumes the newest session, whichever that is.
        return f"cn --fork {self.session()}"
