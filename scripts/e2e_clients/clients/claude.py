"""Claude Code, which is tested further with its hooks."""
from .base import TASK, Client, Step

SESSION = "c1c1c1c1-d2d2-4e3e-8f4f-a5a5a5a5a5a5"


class ClaudeClient(Client):
    name, agent, label, program = "claude-code", "claude-code", "Claude Code", "claude/node_modules/.bin/claude"
    api, package, installer, model_name, branch = "/messages", "claude", "setup.sh", "claude-sonnet-4-5", "main"
    usage = {"input": 1000, "output": 56, "cacheRead": 234, "cacheWrite": 20}

    def variables(self):
        return {"ANTHROPIC_API_KEY": "sk-ant-fake", "ANTHROPIC_BASE_URL": self.url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1"}

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("Read", {"file_path": notes}, notes),
                Step("Edit", {"file_path": notes, "old_string": "hello world", "new_string": "hello there"}, notes),
                Step("Bash", {"command": "cat notes.txt"}, "cat notes.txt"),
                Step("Bash", {"command": "ls /nonexistent-dir; exit 3"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("Read", {"file_path": missing}, missing, fails=True),
                Step("Agent", {"description": "look around", "prompt": TASK, "subagent_type": "general-purpose", "run_in_background": False}, "look around",
                     is_sub_agent=True)]

    def start(self, prompt):
        return ["-p", "--model", self.model_name, "--session-id", SESSION, "--allowedTools", "Read", "Edit", "Bash", "Agent", "--", prompt]

    def resume(self, prompt):
        return ["-p", "--model", self.model_name, "--resume", SESSION, "--", prompt]

    def fork(self, prompt):
        return ["-p", "--model", self.model_name, "--resume", SESSION, "--fork-session", "--", prompt]

    def session(self):
        return SESSION

    def resume_command(self):
        return f"claude --resume {SESSION}"
