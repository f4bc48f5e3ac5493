"""Options, and one home per group of scenes."""
import argparse, contextlib, json, shutil, subprocess, tempfile
from pathlib import Path

from . import claude_scenes, codex_scenes, fault_scenes, pi_scenes, project_scenes, terminal_scenes
from .agents import Claude, Codex, Pi, Rethread
from .checks import Failed
from .kit import ROOT, find_clients, find_kit
from .model import Model

GROUPS = {
    "claude-code": lambda all: claude_scenes.run_claude(all.claude(), None, all.rethread),
    "pi": lambda all: pi_scenes.run_pi(all.claude(), all.pi(), all.rethread),
    "codex": lambda all: codex_scenes.run_codex(None, all.codex(), all.rethread),
    "project": lambda all: project_scenes.run(all.claude(), all.pi(), all.rethread),
    "terminal-claude-code": lambda all: terminal_scenes.run_claude(all.claude(), all.rethread),
    "terminal-pi": lambda all: terminal_scenes.run_pi(all.pi(), all.rethread),
    "faults": lambda all: fault_scenes.run(all.claude(), all.pi(), all.rethread),
}


class Home:
    """A temporary home with the binary, and the agents as they are asked for."""

    def __init__(self, programs, home, model, binary):
        self.programs, self.home, self.model = programs, home, model
        self.rethread = Rethread(binary, home)
        subprocess.run(["git", "init", "-q", "-b", "main", self.rethread.project], check=True)

    def claude(self):
        return Claude(self.programs, self.home, self.model)

    def pi(self):
        return Pi(self.programs, self.home, self.model)

    def codex(self):
        return Codex(self.programs, self.home, self.model, self.rethread)


def main(usage):
    options = parse(usage)
    kit = find_kit(options.kit)
    clients = find_clients(options.clients, kit, options.install)
    binary = options.binary.absolute() if options.binary else build()
    failures = []
    for group, scenes in GROUPS.items():
        if options.only in (None, group):
            with folder(options.keep) as home, Model(kit, home / "requests.jsonl") as model:
                try:
                    scenes(Home(clients, home, model, binary))
                except Failed as failed:
                    print(f"\nFAILED: {group}: {failed}", flush=True)
                    failures.append(f"{group}: {failed}")
    print("\n" + ("\n".join(f"FAILED: {failure}" for failure in failures) or "all checks passed"), flush=True)
    return 1 if failures else 0


def parse(usage):
    parser = argparse.ArgumentParser(prog="scripts/e2e-clients", description=usage.partition("\n")[0])
    parser.add_argument("--clients", type=Path, metavar="DIR", help="folder with the agents; they are installed there if missing")
    parser.add_argument("--install", action="store_true", help="install the agents into the cache directory if none are found")
    parser.add_argument("--kit", type=Path, metavar="DIR", help="folder with the installer and the fake model (default: shared/clients beside the project)")
    parser.add_argument("--binary", type=Path, metavar="PATH", help="the rethread binary to test (default: build it)")
    parser.add_argument("--only", choices=list(GROUPS), metavar="GROUP", help=f"run only this group of scenes: {', '.join(GROUPS)}")
    parser.add_argument("--keep", action="store_true", help="keep the temporary homes")
    return parser.parse_args()


@contextlib.contextmanager
def folder(keep):
    """Creates a temporary folder, and removes it afterwards unless `keep` is set."""
    made = Path(tempfile.mkdtemp(prefix="rethread-e2e-"))
    try:
        yield made
    finally:
        if keep:
            print(f"kept: {made}")
        else:
            shutil.rmtree(made, ignore_errors=True)


def build():
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "rethread"], cwd=ROOT, check=True)
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    return Path(metadata["target_directory"]) / "release" / "rethread"
