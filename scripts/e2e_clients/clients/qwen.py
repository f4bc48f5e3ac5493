"""Qwen Code: after a run it asks the model once more, for its own memory."""
import dataclasses

from .base import FAILING, MODEL, TASK, Client, Step, by_age


class QwenClient(Client):
    name, agent, label, program, package = "qwen", "qwen", "Qwen Code", "qwen/node_modules/.bin/qwen", "qwen"
    branch, prompt_sign = "main", "Type your message"

    def variables(self):
        return {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_MODEL": MODEL}

    def set_up(self):
        self.write(".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}, "model": {"name": MODEL}})

    def reading(self, name):
        return Step("read_file", {"file_path": self.file(name)}, self.file(name))

    def editing(self, name, old, new):
        return Step("edit", {"file_path": self.file(name), "old_string": old, "new_string": new}, self.file(name))

    def running(self, command, exit_code=None):
        return Step("run_shell_command", {"command": command, "is_background": False}, command, exit_code)

    def delegating(self, task):
        return Step("agent", {"description": "look around", "prompt": task, "subagent_type": "general-purpose", "run_in_background": False}, "look around",
                    is_sub_agent=True)

    def steps(self):
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                dataclasses.replace(self.reading("missing.txt"), fails=True), self.delegating(TASK)]

    def start(self, prompt):
        return ["--yolo", prompt]

    def resume(self, prompt):
        return ["--yolo", "--resume", self.session(), prompt]

    def fork(self, prompt):
        return ["--yolo", "--resume", self.session(), "--fork-session", prompt]

    def compact(self):
        return self.resume("/compress")

    def sessions(self):
        return [file.stem for file in by_age(self.home.glob(".qwen/projects/*/chats/*.jsonl"))]

    def resume_command(self):
        return f"qwen --resume {self.session()}"
