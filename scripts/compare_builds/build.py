"""One build in a home of its own: runs commands with a frozen clock and keeps what they answered."""
import contextlib
import datetime
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

PATIENCE = 120
# What differs between two runs of the same build. Everything else is compared as it is.
VARYING = [
    (re.compile(r'"(seconds|milliseconds|durationMs)":[0-9.e-]+'), r'"\1":"TIME"'),
    (re.compile(r'"runId":"[0-9A-Z]{26}"'), '"runId":"RUN"'),
    (re.compile(r"(?m)( ·|in) [0-9.,]+ (s|ms)\b"), r"\1 TIME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r'("pid":|pid )\d+'), r"\1PID"),
    (re.compile(r'"(databaseBytes|indexBytes)":\d+'), r'"\1":"SIZE"'),
    (re.compile(r"(?m)^(store|index)(  +)[0-9.,]+ (B|kB|MB)"), r"\1\2SIZE"),
    (re.compile(r"(<dt>(?:Store|Search index)</dt><dd>)[0-9.,]+ (B|kB|MB)"), r"\1SIZE"),
    (re.compile(r"code=[0-9a-f]{64}"), "code=CODE"),
]
# Files whose bytes depend on the order of writes, or that only say who runs.
UNCOMPARED = re.compile(r"\.rethread/(memory\.db.*|index/.*|.*\.lock|serve\.sock)")
# Verbs that may start another process and end before it does.
LEAVES_PROCESSES = {"hook", "debug", "thread", "session", "sync", "enrich"}
VERB = re.compile(r"^  ([a-z][a-z-]*)  +\S")


def template(corpus, folder):
    """Lays the transcripts out as their agents do, with modification times that do not depend on this run."""
    layout = [sys.executable, corpus / "as-home.py", folder]
    subprocess.run(layout, capture_output=True, check=True)
    for path in folder.rglob("*"):
        os.utime(path, (1_790_000_000, 1_790_000_000))


def chosen(build):
    """What the cases are about: the sessions of the corpus, and a sample of them that has every agent."""
    build.run("sync")
    listed = build.json("sessions", "--all-projects", "--children", "--include-empty")["sessions"]
    newest = max(one["lastActivityAt"] for one in listed if one["lastActivityAt"])
    sample = []
    for agent in dict.fromkeys(one["agent"] for one in listed):
        own = sorted((one for one in listed if one["agent"] == agent), key=lambda one: -one["messages"])
        sample += own[:4] + own[4 :: max(1, len(own) // 4)]
    projects = [one["project"] for one in sample if one["project"]]
    return {"sessions": listed, "sample": sample, "newest": newest, "project": max(projects, key=projects.count)}


class Build:
    """A copy of the binary and of the template, at paths that all builds share."""

    def __init__(self, binary, work):
        self.home, self.binary = work / "home", work / "bin" / "rethread"
        self.threads = self.home / ".rethread" / "threads"
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(work / "template", self.home)
        self.binary.parent.mkdir(exist_ok=True)
        shutil.copy(binary, self.binary)
        self.answers, self.seen, self.varying = {}, set(), dict()
        self.clock = datetime.datetime(2026, 11, 16, tzinfo=datetime.timezone.utc)
        self.known = {path: path.stat().st_mtime_ns for path in self.home.rglob("*")}
        self.helps = {}
        self.verbs = set(self.leaves([]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.settle()

    def leaves(self, path):
        """The verbs that run something, as the help lists them."""
        text = self.execute([*path, "--help"])[1].decode()
        self.helps[" ".join(path)] = text
        listed = [VERB.match(line) for line in text.partition("\nOptions:")[0].splitlines()]
        below = [found[1] for found in listed if found and found[1] != "help"]
        return [leaf for verb in below for leaf in self.leaves([*path, verb])] if below else [" ".join(path)]

    def environment(self):
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "TZ": "UTC", "RETHREAD_NOW": self.clock.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def execute(self, words, said=b"", more=None):
        """Runs a command to its end: exit code, stdout, stderr."""
        done = subprocess.run([self.binary, *words], input=said, env={**self.environment(), **(more or {})}, capture_output=True,
                              cwd=self.home, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr

    def run(self, *words, said="", more=None, hides=None):
        """Runs a command, keeps its answer, and returns its stdout. Each run is a second later than the last.
        With `hides`, the output is random: answers show that word instead."""
        self.clock += datetime.timedelta(seconds=1)
        self.see(words)
        words = [str(word) for word in words]
        label = shlex.join([f"{name}={value}" for name, value in (more or {}).items()] + words) + (f" < {said[-160:]!r}" if said else "")
        code, stdout, stderr = self.execute(words, said.encode(), more)
        stdout = stdout.decode(errors="backslashreplace")
        if hides:
            self.varying[stdout.strip()] = hides
        if words and words[0] in LEAVES_PROCESSES:
            self.settle()
        self.keep(label or "rethread", f"exit {code}\n{stdout}--- stderr\n{stderr.decode(errors='backslashreplace')}")
        return stdout

    def both(self, *words, said=""):
        """Runs a command as people and as programs do."""
        self.run(*words, said=said)
        if "--json" in self.helps[self.verb_of(words)]:
            self.run(*words[:1], "--json", *words[1:], said=said) if "--" in words else self.run(*words, "--json", said=said)

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def verb_of(self, words):
        """The verb that the words run, with the verb above it."""
        return next((verb for verb in (" ".join(words[:2]), words[0] if words else "") if verb in self.helps), "")

    def see(self, words):
        """Remembers that a verb ran. Asking for help is not running it."""
        if not {"--help", "-h", "help"} & set(words):
            self.seen.add(self.verb_of(words))

    def keep(self, label, text):
        """Keeps an answer under a label that is the same for all builds."""
        label, text = self.settled(label), self.settled(text)
        number = 2
        unique = label
        while unique in self.answers:
            unique, number = f"{label} ({number})", number + 1
        self.answers[unique] = text

    def settled(self, text):
        for thread in sorted(os.listdir(self.threads)) if self.threads.exists() else []:
            self.varying.setdefault(thread, f"THREAD{len(self.varying)}")
        for value, placeholder in self.varying.items():
            text = text.replace(value, placeholder).replace(value[-8:], f"{placeholder}-end")
        for pattern, replacement in VARYING:
            text = pattern.sub(replacement, text)
        return text

    def at(self, moment):
        """Sets the clock."""
        self.clock = datetime.datetime.fromisoformat(moment).replace(microsecond=0)

    def settle(self):
        """Waits for processes that a command left behind, because they write too."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and any(self.is_ours(process) for process in Path("/proc").glob("[0-9]*")):
            time.sleep(0.01)

    def is_ours(self, process):
        try:
            return os.readlink(process / "exe") == str(self.binary)
        except OSError:
            return False

    def files(self, moment):
        """Keeps every file that was written since the last call: its permissions and its text."""
        self.settle()
        for path in sorted(self.home.rglob("*")):
            if path.is_symlink() or not path.exists():
                continue
            changed, short = path.stat().st_mtime_ns, str(path.relative_to(self.home))
            if self.known.get(path) == changed and path.is_file() or UNCOMPARED.fullmatch(short):
                continue
            text = path.read_text(errors="backslashreplace") if path.is_file() else "folder"
            if path.is_file() or path not in self.known:
                self.keep(f"file {short} {moment}", f"{path.stat().st_mode:o}\n{text}")
            self.known[path] = changed

    @contextlib.contextmanager
    def started(self, *words, ready="stdout", stop=signal.SIGTERM):
        """Runs a command that only ends when it is stopped: by a signal, or by the end of its input. Gives its first line."""
        self.see(words)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen([self.binary, *words], env=self.environment(), cwd=self.home, **pipes)
        first = getattr(process, ready).readline() if ready else ""
        try:
            yield process, first
        finally:
            if stop:
                process.send_signal(stop)
            stdout, stderr = process.communicate(timeout=PATIENCE)
            self.keep(shlex.join(words), f"exit {process.returncode}\n{first}{stdout}--- stderr\n{stderr}")

    def ask(self, url, method, path, token, body=None):
        """Sends an HTTP request and keeps its answer with its headers. Returns the body."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url + path, data=data, method=method, headers=headers)
        try:
            answer = urllib.request.urlopen(request, timeout=PATIENCE)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            text = answer.read().decode(errors="backslashreplace")
            headers = sorted(f"{name.lower()}: {value}" for name, value in answer.headers.items())
        headers = [line for line in headers if not line.startswith(("date:", "content-length:"))]
        label = f"{method} {path}" + (f" {json.dumps(body)[:160]}" if body is not None else "")
        self.keep(label, "\n".join([f"status {answer.status}", *headers, text]))
        return text
