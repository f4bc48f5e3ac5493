"""Codex: it takes `apply_patch` out of the shell command and applies it itself."""
import dataclasses

from .base import FAILING, MODEL, TASK, Client, Step

# New hooks only run once the user trusts them in the terminal interface.
EXEC = ("exec", "--dangerously-bypass-hook-trust")


class CodexClient(Client):
    name, agent, label, program = "codex", "codex", "Codex", "codex/node_modules/.bin/codex"
    branch, edited_files = "main", 2
    api, package, installer = "/responses", "codex", "setup.sh"
    prompt_sign = "for shortcuts"

    def variables(self):
        return {"FAKE_KEY": "x"}

    def set_up(self):
        self.write(".codex/config.toml", "\n".join([
            'model_provider = "fake"', f'model = "{MODEL}"', 'sandbox_mode = "danger-full-access"', 'approval_policy = "never"',
            "[model_providers.fake]", 'name = "fake"', 'wire_api = "responses"', 'env_key = "FAKE_KEY"', f'base_url = "{self.url}/v1"', ""]))

    def prepare_terminal(self):
        with open(self.home / ".codex/config.toml", "a") as config:
            config.write(f'[projects."{self.project}"]\ntrust_level = "trusted"\n')

    def patch(self, name, old, new):
        return f"apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: {name}\n@@\n-{old}\n+{new}\n*** End Patch\nPATCH"

    def reading(self, name):
        return self.running(f"sed -n 1,5p {name}", 0)

    def editing(self, name, old, new):
        return Step("exec_command", {"cmd": self.patch(name, old, new)}, name, 0)

    def running(self, command, exit_code=None):
        return Step("exec_command", {"cmd": command}, command, exit_code)

    def delegating(self, task):
        return Step("multi_agent_v1::spawn_agent", {"message": task}, task, is_sub_agent=True)

    def steps(self):
        failing = dataclasses.replace(self.editing("missing.txt", "nothing", "something"), exit_code=None, fails=True)
        return [self.reading("notes.txt"), self.editing("notes.txt", "hello world", "hello there"), self.running("cat notes.txt", 0), self.running(FAILING, 3),
                failing, self.delegating(TASK)]

    def call_name(self, one):
        return "apply_patch" if "apply_patch" in one.arguments.get("cmd", "") else super().call_name(one)

    def start(self, prompt):
        return [*EXEC, "--skip-git-repo-check", prompt]

    def resume(self, prompt):
        return [*EXEC, "resume", "--skip-git-repo-check", self.session(), prompt]

    def fork(self, prompt):
        return ["exec", "fork", "--skip-git-repo-check", self.session(), prompt]

    def sessions(self):
        # A sub-agent's file is younger than its session's.
        return [file.stem[-36:] for file in sorted(self.home.glob(".codex/sessions/**/rollout-*.jsonl"))]

    def resume_command(self):
        return f"codex resume {self.session()}"
