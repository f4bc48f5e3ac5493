"""The fake model on loopback."""
import contextlib, json, socket, subprocess, sys, time

from .checks import REPLY, texts_of


class Model:
    """The fake model on loopback. It logs every request."""

    def __init__(self, kit, log, program="fake_llm.py"):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.program, self.log = kit / program, log

    def __enter__(self):
        command = [sys.executable, self.program, str(self.port), self.log, REPLY]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return self
            time.sleep(0.1)
        self.__exit__()
        sys.exit("FAILED: the fake model did not start")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def bodies(self, path="/messages"):
        """All requests so far, oldest first, without requests that only count tokens."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        asked = [json.loads(line) for line in lines]
        return [one["body"] for one in asked if one["m"] == "POST" and one["path"].split("?")[0].endswith(path)]

    def asked(self):
        """The texts of each request."""
        return [texts_of(body) for body in self.bodies()]
