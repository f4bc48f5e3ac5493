"""Aider: it reads edits out of the answer, and writes one Markdown file in the project, where each run is a session of its own.

It estimates tokens instead of storing what the model reported."""
from ..checks import REPLY
from .base import FAREWELL, GREETING, MODEL, Client

EDIT = r"I change the greeting.\n\nnotes.txt\n```\n<<<<<<< SEARCH\nhello world\n=======\nhello there\n>>>>>>> REPLACE\n```\n"


class AiderClient(Client):
    name, agent, label, program, package = "aider", "aider", "Aider", "aider/bin/aider", "aider"

    model_name, session_count, usage, stores_times = f"openai/{MODEL}", 2, None, False

    def variables(self):
        return {"OPENAI_API_KEY": "x", "OPENAI_API_BASE": f"{self.url}/v1"}

    def prompts(self):
        return [f"{GREETING} [[reply {EDIT}]]", FAREWELL]

    def steps(self):
        return []

    def start(self, prompt):
        return ["--model", f"openai/{MODEL}", "--weak-model", "openai/fake-weak", "--edit-format", "diff", "--yes-always", "--no-show-model-warnings",
                "--no-check-update", "--no-analytics", "--message", prompt, "notes.txt"]

    def resume(self, prompt):
        return ["--restore-chat-history", *self.start(prompt)]

    def replies(self):
        return [EDIT.replace(r"\n", "\n").strip(), REPLY]

    def call_count(self):
        """Rethread counts the applied edit."""
        return 1

    def session(self):
        return None

    def resume_command(self):
        return "aider --restore-chat-history"
