"""gptme: it asks again and again until the model calls `complete`."""
from .base import MODEL, Client, Step, by_age

END = Step("complete", {}, "")


class GptmeClient(Client):
    name, agent, label, program, package = "gptme", "gptme", "gptme", "gptme/bin/gptme", "gptme"
    model_name, edited_files = f"local/{MODEL}", 2

    def variables(self):
        return {"OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "x"}

    def patch(self, old, new):
        return f"<<<<<<< ORIGINAL\n{old}\n=======\n{new}\n>>>>>>> UPDATED"

    def steps(self):
        notes, missing = self.file("notes.txt"), self.file("missing.txt")
        failing = "sh -c 'ls /nonexistent-dir; exit 3'"
        return [Step("patch", {"path": notes, "patch": self.patch("hello world", "hello there")}, notes),
                Step("shell", {"command": "cat notes.txt"}, "cat notes.txt"),
                Step("shell", {"command": failing}, failing, exit_code=3),
                Step("patch", {"path": missing, "patch": self.patch("nothing", "something")}, missing, fails=True),
                END]

    def prompts(self):
        first, second = super().prompts()
        return [first, f"{second} {END.directive()}"]

    def replies(self):
        """The model only calls tools."""
        return []

    def call_count(self):
        return len(self.steps()) + 1

    def begin(self):
        self.run(self.start(self.prompts()[0]), answers=False)

    def go_on(self):
        self.run(["-n", "--model", self.model_name, "--name", self.session(), self.prompts()[1]], answers=False)

    def start(self, prompt):
        return ["-n", "--model", self.model_name, prompt]

    def greet(self, prompt):
        self.run(self.start(f"{prompt} {END.directive()}"), answers=False)

    def sessions(self):
        return [file.parent.name for file in by_age(self.home.glob(".local/share/gptme/logs/*/conversation.jsonl"))]

    def resume_command(self):
        return f"gptme --name {self.session()}"
