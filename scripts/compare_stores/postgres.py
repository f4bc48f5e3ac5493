"""A PostgreSQL server for a script: the one that RETHREAD_TEST_PG names, or one of its own on a unix socket."""
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

# An account without rights, for a server that refuses to run as root.
UNPRIVILEGED = 65_534


def programs():
    """The folder with initdb and postgres, of the newest version that is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


class Postgres:
    """A server with an empty database, or one of an earlier run. `address` is None if there is none."""

    def __init__(self):
        self.address, self.folder, self.process = os.environ.get("RETHREAD_TEST_PG"), None, None

    def __enter__(self):
        if not self.address and programs():
            self.start(programs())
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, programs):
        self.folder = tempfile.mkdtemp(prefix="rethread-pg-")
        options = {"cwd": self.folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, "stdout": subprocess.DEVNULL}
        if os.geteuid() == 0:
            os.chown(self.folder, UNPRIVILEGED, UNPRIVILEGED)
            options |= {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []}
        data = f"{self.folder}/data"
        subprocess.run([programs / "initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--username=rethread", "-D", data],
                       check=True, stderr=subprocess.DEVNULL, **options)
        server = [programs / "postgres", "-D", data, "-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        self.process = subprocess.Popen(server, stderr=subprocess.DEVNULL, **options)
        deadline = time.monotonic() + 60
        while not any(Path(self.folder).glob(".s.PGSQL.*[0-9]")) and time.monotonic() < deadline and self.process.poll() is None:
            time.sleep(0.05)
        self.address = f"postgres:///postgres?host={self.folder}&user=rethread"

    def store(self, space):
        """The address of a space."""
        return f"{self.address}{'&' if '?' in self.address else '?'}space={space}"
