"""Claude Code, which is tested further with its hooks."""
import dataclasses, json

from .base import FAILING, TASK, Client, Step

ALLOWED = ("--allowedTools", "Read", "Edit", "Bash", "Agent", "mcp__rethread")
SESSION = "c1c1c1c1-d2d2-4e3e-8f4f-a5a5a5a5a5a5"


class ClaudeClient(Client):
    name, agent, label, program = "claude-code", "claude-code", "Claude Code", "claude/node_modules/.bin/claude"
    api, package, installer, model_name, branch = "/messages", "claude", "setup.sh", "claude-sonnet-4-5", "main"
    usage = {"input": 1000, "output": 56, "cacheRead": 234, "cacheWrite": 20}
    names_sessions = True
    prompt_sign = "shortcuts"

    def variables(self):
        return {"ANTHROPIC_API_KEY": "sk-ant-fake", "ANTHROPIC_BASE_URL": self.url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1"}

    def prepare_terminal(self):
        file = self.home / ".claude.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        self.write(".claude.json", {**known, "hasCompletedOnboarding": True, "theme": "dark", "projects": {str(self.project): {"hasTrustDialogAccepted": True}},
                                    "customApiKeyResponses": {"approved": ["sk-ant-fake"]}})

    def reading(self, name):
        return Step("Read", {"file_path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("Edit", {"file_path": self.file(name), "old_string": old, "new_string": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("Bash", {"command": command}, command, exit_code)

    def delegating(self, task):
        return Step("Agent", {"description": "look around", "prompt": task, "subagent_type": "general-purpose", "run_in_background": False}, "look around",
                    is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt"), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["-p", "--model", self.model_name, "--session-id", self.session(), *ALLOWED, "--", prompt]

    def resume(self, prompt):
        return ["-p", "--model", self.model_name, "--resume", self.session(), *ALLOWED, "--", prompt]

    def fork(self, prompt):
        return ["-p", "--model", self.model_name, "--resume", self.session(), "--fork-session", "--", prompt]

    def sessions(self):
        return [SESSION]

    def resume_command(self):
        return f"claude --resume {self.session()}"
