"""Options, and one home per group of scenes."""
import argparse, contextlib, fnmatch, json, shutil, subprocess, tempfile
from pathlib import Path

from . import claude_scenes, codex_scenes, fault_scenes, host_scenes, live_scenes, matrix_scenes, pi_scenes, project_scenes, reading_scenes, resume_scenes, terminal_scenes, visibility_scenes
from .agents import Claude, Codex, Pi, Rethread
from .checks import Failed, step
from .clients import ALL, CodexClient, OpenCodeClient
from .hosts import HOSTS, MATRIX
from .kit import ROOT, SKIPPED, Missing, find_clients, find_kit, require
from .model import Model

# Groups with hooks and tools.
HOOKS = {
    "claude-code": lambda all: claude_scenes.run_claude(all.claude(), None, all.rethread),
    "pi": lambda all: pi_scenes.run_pi(all.claude(), all.pi(), all.rethread),
    "codex": lambda all: codex_scenes.run_codex(None, all.codex(), all.rethread),
    "project": lambda all: project_scenes.run(all.claude(), all.pi(), all.rethread),
    "terminal-claude-code": lambda all: terminal_scenes.run_claude(all.claude(), all.rethread),
    "terminal-pi": lambda all: terminal_scenes.run_pi(all.pi(), all.rethread),
    "faults": lambda all: fault_scenes.run(all.claude(), all.pi(), all.rethread),
}
# Groups that read what clients write. They use the second edition of the fake model, which calls several tools for one prompt.
READING = {
    **{f"read-{client.name}": lambda all, client=client: reading_scenes.run(all.client(client), all.rethread) for client in ALL},
    **{f"resume-{client.name}": lambda all, client=client: resume_scenes.run(all.client(client), all.rethread) for client in ALL if client.prompt_sign},
    "live": lambda all: live_scenes.run(all.claude(), all.pi(), all.client(CodexClient), all.client(OpenCodeClient), all.rethread),
    "visibility": lambda all: visibility_scenes.run(all.installed_clients(), all.rethread),
}
# Groups with one host each, beside another one. They use the second edition too.
HOST_GROUPS = {f"host-{name}": lambda all, name=name: host_scenes.run(all, name) for name in HOSTS}
GROUPS = {**HOOKS, **READING, **HOST_GROUPS, "matrix": lambda all: matrix_scenes.run(all, all.hosts)}


class Home:
    """A temporary home with the binary, and the agents as they are asked for."""

    def __init__(self, programs, home, model, binary, installer, hosts):
        self.programs, self.home, self.model, self.installer, self.hosts = programs, home, model, installer, hosts
        self.rethread = Rethread(binary, home)
        subprocess.run(["git", "init", "-q", "-b", "main", self.rethread.project], check=True)

    def claude(self):
        return Claude(self.programs, self.home, self.model)

    def pi(self):
        return Pi(self.programs, self.home, self.model)

    def codex(self):
        return Codex(self.programs, self.home, self.model, self.rethread)

    def client(self, kind):
        require(kind, self.programs, self.installer)
        write_notes(self.rethread.project)
        return kind(self.programs, self.home, self.model)

    def installed_clients(self):
        missing = [kind.label for kind in ALL if not kind.is_installed(self.programs)]
        if missing:
            step(f"not installed: {', '.join(missing)}")
        return [self.client(kind) for kind in ALL if kind.is_installed(self.programs)]


def write_notes(project):
    """Commits the file that the clients edit."""
    if not (project / "notes.txt").exists():
        (project / "notes.txt").write_text("hello world\n")
        git = ["git", "-C", project, "-c", "user.name=e2e", "-c", "user.email=e2e@example.org"]
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "notes"], check=True)


def main(usage):
    options = parse(usage)
    kit = find_kit(options.kit)
    clients = find_clients(options.clients, kit, options.install)
    installer = kit if options.install else None
    binary = options.binary.absolute() if options.binary else build()
    groups = {group: scenes for group, scenes in GROUPS.items() if not options.only or any(fnmatch.fnmatch(group, only) for only in options.only)}
    failures, missing = [], []
    for group, scenes in groups.items():
        program = "fake_llm2.py" if group not in HOOKS else "fake_llm.py"
        with folder(options.keep) as home, Model(kit, home / "requests.jsonl", program) as model:
            try:
                scenes(Home(clients, home, model, binary, installer, options.hosts))
            except Failed as failed:
                print(f"\nFAILED: {group}: {failed}", flush=True)
                failures.append(f"FAILED: {group}: {failed}")
            except Missing as client:
                print(f"\nskipped: {group}: {client}", flush=True)
                missing.append(f"skipped: {group}: {client}")
    print("\n" + "\n".join([*missing, *failures] or ["all checks passed"]), flush=True)
    return 1 if failures else SKIPPED if len(missing) == len(groups) else 0


def parse(usage):
    parser = argparse.ArgumentParser(prog="scripts/e2e-clients", description=usage.partition("\n")[0])
    parser.add_argument("--clients", type=Path, metavar="DIR", help="folder with the agents; they are installed there if missing")
    parser.add_argument("--install", action="store_true", help="install the agents that are missing")
    parser.add_argument("--kit", type=Path, metavar="DIR", help="folder with the installer and the fake model (default: shared/clients beside the project)")
    parser.add_argument("--binary", type=Path, metavar="PATH", help="the rethread binary to test (default: build it)")
    parser.add_argument("--only", action="append", metavar="GROUP", help=f"run only these groups of scenes, such as read-*; can be repeated: {', '.join(GROUPS)}")
    parser.add_argument("--hosts", metavar="A,B,C", help=f"the hosts of the group matrix (default: {','.join(MATRIX)})")
    parser.add_argument("--keep", action="store_true", help="keep the temporary homes")
    options = parser.parse_args()
    for only in options.only or []:
        if not fnmatch.filter(GROUPS, only):
            parser.error(f"no group {only!r}; use {', '.join(GROUPS)}")
    options.hosts = options.hosts.split(",") if options.hosts else None
    if unknown := set(options.hosts or []) - set(HOSTS):
        parser.error(f"no host {', '.join(sorted(unknown))}; use {', '.join(HOSTS)}")
    return options


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
