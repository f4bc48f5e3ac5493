"""Gemini CLI: it counts thoughts beside the output."""
import dataclasses, json

from .base import FAILING, TASK, Client, Step, by_age


class GeminiClient(Client):
    name, agent, label, program = "gemini", "gemini", "Gemini CLI", "gemini/node_modules/.bin/gemini"
    api, package, installer, model_name = "enerateContent", "gemini", "setup.sh", "gemini-2.5-flash"
    prompt_sign = "Type your message"
    usage = {"input": 1000, "output": 63, "cacheRead": 234, "cacheWrite": 0}

    def variables(self):
        return {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def set_up(self):
        self.write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}})

    def reading(self, name):
        return Step("read_file", {"file_path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("replace", {"file_path": self.file(name), "instruction": "fix it", "old_string": old, "new_string": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("run_shell_command", {"command": command, "description": "Run it"}, command, exit_code)

    def delegating(self, task):
        return Step("invoke_agent", {"agent_name": "codebase_investigator", "prompt": task}, task, is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt"), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["-m", self.model_name, "--yolo", "-p", prompt]

    def resume(self, prompt):
        return ["-m", self.model_name, "--yolo", "--resume", self.session(), "-p", prompt]

    def sessions(self):
        return [json.loads(file.read_text().partition("\n")[0])["sessionId"] for file in by_age(self.home.glob(".gemini/tmp/*/chats/session-*.jsonl"))]

    def resume_command(self):
        return f"gemini --resume {self.session()}"
