"""Gemini CLI: it counts thoughts beside the output."""
import json

from .base import TASK, Client, Step


class GeminiClient(Client):
    name, agent, label, program = "gemini", "gemini", "Gemini CLI", "gemini/node_modules/.bin/gemini"
    api, package, installer, model_name = "enerateContent", "gemini", "setup.sh", "gemini-2.5-flash"
    usage = {"input": 1000, "output": 63, "cacheRead": 234, "cacheWrite": 0}

    def variables(self):
        return {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def set_up(self):
        self.write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}})

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read_file", {"file_path": notes}, notes),
                Step("replace", {"file_path": notes, "instruction": "fix it", "old_string": "hello world", "new_string": "hello there"}, notes),
                Step("run_shell_command", {"command": "cat notes.txt", "description": "Show"}, "cat notes.txt"),
                Step("run_shell_command", {"command": "ls /nonexistent-dir; exit 3", "description": "List"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("read_file", {"file_path": missing}, missing, fails=True),
                Step("invoke_agent", {"agent_name": "codebase_investigator", "prompt": TASK}, TASK, is_sub_agent=True)]

    def start(self, prompt):
        return ["-m", self.model_name, "--yolo", "-p", prompt]

    def resume(self, prompt):
        return ["-m", self.model_name, "--yolo", "--resume", self.session(), "-p", prompt]

    def session(self):
        with sorted(self.home.glob(".gemini/tmp/*/chats/session-*.jsonl"))[0].open() as lines:
            return json.loads(next(lines))["sessionId"]

    def resume_command(self):
        return f"gemini --resume {self.session()}"
