"""Runs the binary in a home directory of its own, as the scripts that check real transcripts need it."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(os.path.dirname(ROOT), "shared", "corpus")


class Home:
    """A temporary home for the binary. All agents are read, also those that a user must name."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.environment = {"HOME": folder, "PATH": os.environ["PATH"], "TZ": "UTC", "RETHREAD_NOW": "2026-11-18T00:00:00Z"}
        self.environment["RETHREAD_INTAKE_AGENTS"] = ",".join(self.agents())

    def agents(self):
        """The names of the agents that the binary reads: it lists them when it does not know one."""
        done = subprocess.run([self.binary, "sync", "--agent", "?"], env=self.environment, capture_output=True, text=True)
        names = re.search(r"possible values: ([\w, -]+)", done.stderr) or re.search(r"use one of:? ([\w, -]+)", done.stderr)
        known = names.group(1).replace(" ", "").split(",") if names else ["claude-code", "pi"]
        return [name for name in known if name != "native"]

    def run(self, *words, folder=None):
        done = subprocess.run([self.binary, *words], env=self.environment, capture_output=True, cwd=folder or self.folder)
        if done.returncode not in (0, 1):
            sys.exit(f"rethread {' '.join(words)} exited with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def json(self, *words, folder=None):
        return json.loads(self.run(*words, "--json", folder=folder))

    def sessions(self):
        listed = self.json("sessions", "--all-projects", "--children", "--include-empty", "--limit", "100000")
        return listed["sessions"]

    def everything(self):
        """All output that must not change after a rebuild."""
        listed = self.run("sessions", "--all-projects", "--children", "--include-empty", "--limit", "100000", "--json")
        ids = [session["id"] for session in json.loads(listed)["sessions"]]
        return [listed] + [self.run("show", one, "--full", "--json") for one in ids]


class Report:
    """Prints one row per check and remembers what failed."""

    def __init__(self):
        self.failures = []

    def row(self, what, value="", good=True):
        print(f"  {'ok  ' if good else 'FAIL'}  {what:<58} {value}", flush=True)
        if not good:
            self.failures.append(what)

    def finish(self):
        print(f"\n{len(self.failures)} checks failed" if self.failures else "\nall checks passed")
        return 1 if self.failures else 0


def add_options(parser):
    parser.add_argument("--corpus", default=CORPUS)
    parser.add_argument("--binary", help="use this binary instead of building one")


def find_binary(options):
    """The binary to check, built if none is given."""
    if options.binary:
        return os.path.abspath(options.binary)
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "rethread"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    return os.path.join(target, "release", "rethread")
