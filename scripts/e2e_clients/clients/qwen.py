"""Qwen Code: after a run it asks the model once more, for its own memory."""
from .base import MODEL, TASK, Client, Step


class QwenClient(Client):
    name, agent, label, program, package = "qwen", "qwen", "Qwen Code", "qwen/node_modules/.bin/qwen", "qwen"
    branch = "main"

    def variables(self):
        return {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_MODEL": MODEL}

    def set_up(self):
        self.write(".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}, "model": {"name": MODEL}})

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        return [Step("read_file", {"file_path": notes}, notes),
                Step("edit", {"file_path": notes, "old_string": "hello world", "new_string": "hello there"}, notes),
                Step("run_shell_command", {"command": "cat notes.txt", "is_background": False}, "cat notes.txt", exit_code=0),
                Step("run_shell_command", {"command": "ls /nonexistent-dir; exit 3", "is_background": False}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("read_file", {"file_path": missing}, missing, fails=True),
                Step("agent", {"description": "look around", "prompt": TASK, "subagent_type": "general-purpose", "run_in_background": False}, "look around",
                     is_sub_agent=True)]

    def start(self, prompt):
        return ["--yolo", prompt]

    def resume(self, prompt):
        return ["--yolo", "--resume", self.session(), prompt]

    def fork(self, prompt):
        return ["--yolo", "--resume", self.session(), "--fork-session", prompt]

    def compact(self):
        return self.resume("/compress")

    def session(self):
        return sorted(self.home.glob(".qwen/projects/*/chats/*.jsonl"), key=lambda path: path.stat().st_ctime)[0].stem

    def resume_command(self):
        return f"qwen --resume {self.session()}"
