"""Nodes of a team: processes of `rethread serve`, and a client that asks the next one when a node fails."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from .cluster import CannotRun, free_port

# Longer than a node waits for a server that restarts.
REQUEST_TIMEOUT = 40
SPACE = "acme"


class Failed(Exception):
    """A check failed."""


class Skipped(Exception):
    """A scenario needs something that is not installed."""


class Program:
    """The binary with a home of its own and a store on a server."""

    def __init__(self, binary, home, url, **environment):
        self.binary, self.home, self.url = str(binary), pathlib.Path(home), url
        self.home.mkdir(parents=True, exist_ok=True)
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TZ": "UTC", **environment}

    def command(self, *arguments, url=None):
        return [self.binary, "--store", url or self.url, *arguments]

    def run(self, *arguments, url=None, text=None, codes=(0,), timeout=300):
        """Runs a command and returns the finished process. Fails on an unexpected exit code."""
        command = self.command(*arguments, url=url)
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=self.environment, cwd=self.home,
                              timeout=timeout)
        if codes and done.returncode not in codes:
            raise Failed(f"{' '.join(arguments)} exited with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
        return done

    def __call__(self, *arguments, **options):
        return self.run(*arguments, **options).stdout.strip()

    def export(self, thread, url=None):
        """The log of a thread, byte by byte."""
        done = subprocess.run(self.command("thread", "export", thread, url=url), capture_output=True, env=self.environment)
        if done.returncode:
            raise Failed(f"cannot export {thread}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout


class Node(Program):
    """One `rethread serve`. It keeps its port when it starts again."""

    def __init__(self, binary, home, url, **environment):
        super().__init__(binary, home, url, **environment)
        self.port, self.process, self.log = free_port(), None, self.home / "serve.log"
        self.token, self.options = None, []

    def start(self, *arguments, token=None):
        self.begin(*arguments)
        self.wait()
        self.token = token or new_token(self)
        return self

    def begin(self, *arguments):
        command = self.command("serve", "--no-watch", "--listen", f"127.0.0.1:{self.port}", *self.options, *arguments)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                                            cwd=self.home)

    def wait(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/api/health")
                connection.getresponse().read()
                return
            except OSError:
                time.sleep(0.02)
        raise CannotRun(f"a node did not start: {self.log.read_text()[-500:]}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def request(self, method, path, body=None, timeout=REQUEST_TIMEOUT, token=None):
        """Status and decoded body. Raises OSError or HTTPException if the node does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(content) if content else None

    def get(self, path, **options):
        status, body = self.request("GET", path, **options)
        if status != 200:
            raise Failed(f"GET {path}: {status} {body}")
        return body


def new_token(program, space=SPACE, name="writer"):
    """Adds a member to a space, which is created if needed, and returns the member's token."""
    program.run("admin", "space", "new", space, codes=None)
    added = program("admin", "member", "add", name, "--role", "admin", "--space", space, "--json",
                    "--requests-per-minute", "1000000")
    return json.loads(added)["token"]


class Client:
    """Repeats a request on the next node until one has answered it."""

    def __init__(self, nodes, stopping, patience=90):
        self.nodes, self.stopping, self.patience = nodes, stopping, patience
        self.statistics, self.lock = {}, threading.Lock()

    def count(self, what):
        with self.lock:
            self.statistics[what] = self.statistics.get(what, 0) + 1

    def post(self, path, body, first=0):
        """Status and body of the first answer that is not about a node or a server that is away."""
        begun, attempt = time.monotonic(), first
        while True:
            node = self.nodes[attempt % len(self.nodes)]
            try:
                status, answer = node.request("POST", path, body)
                if status < 500 and status != 429:
                    return status, answer
                reason = f"{status} {(answer or {}).get('error', {}).get('message', '')}"
            except (OSError, http.client.HTTPException, ValueError) as error:
                reason = type(error).__name__
            self.count(reason)
            if self.stopping.is_set() or time.monotonic() > begun + self.patience:
                raise Failed(f"no node answered for {time.monotonic() - begun:.0f} s: {reason}")
            attempt += 1
            time.sleep(0.05)
