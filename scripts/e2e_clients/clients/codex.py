"""Codex: it takes `apply_patch` out of the shell command and applies it itself."""
from .base import MODEL, TASK, Client, Step


class CodexClient(Client):
    name, agent, label, program = "codex", "codex", "Codex", "codex/node_modules/.bin/codex"
    branch, edited_files = "main", 2
    api, package, installer = "/responses", "codex", "setup.sh"

    def variables(self):
        return {"FAKE_KEY": "x"}

    def set_up(self):
        self.write(".codex/config.toml", "\n".join([
            'model_provider = "fake"', f'model = "{MODEL}"', 'sandbox_mode = "danger-full-access"', 'approval_policy = "never"',
            "[model_providers.fake]", 'name = "fake"', 'wire_api = "responses"', 'env_key = "FAKE_KEY"', f'base_url = "{self.url}/v1"', ""]))

    def patch(self, name, old, new):
        return f"apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: {name}\n@@\n-{old}\n+{new}\n*** End Patch\nPATCH"

    def steps(self):
        return [Step("exec_command", {"cmd": "sed -n 1,5p notes.txt"}, "sed -n 1,5p notes.txt", exit_code=0),
                Step("exec_command", {"cmd": self.patch("notes.txt", "hello world", "hello there")}, "notes.txt", exit_code=0),
                Step("exec_command", {"cmd": "cat notes.txt"}, "cat notes.txt", exit_code=0),
                Step("exec_command", {"cmd": "ls /nonexistent-dir; exit 3"}, "ls /nonexistent-dir; exit 3", exit_code=3),
                Step("exec_command", {"cmd": self.patch("missing.txt", "nothing", "something")}, "missing.txt", fails=True),
                Step("multi_agent_v1::spawn_agent", {"message": TASK}, TASK, is_sub_agent=True)]

    def call_name(self, one):
        return "apply_patch" if "apply_patch" in one.arguments.get("cmd", "") else super().call_name(one)

    def start(self, prompt):
        return ["exec", "--skip-git-repo-check", prompt]

    def resume(self, prompt):
        return ["exec", "resume", "--skip-git-repo-check", self.session(), prompt]

    def fork(self, prompt):
        return ["exec", "fork", "--skip-git-repo-check", self.session(), prompt]

    def session(self):
        files = sorted(self.home.glob(".codex/sessions/**/rollout-*.jsonl"))
        # The sub-agent's file is younger.
        return files[0].stem[-36:]

    def resume_command(self):
        return f"codex resume {self.session()}"
