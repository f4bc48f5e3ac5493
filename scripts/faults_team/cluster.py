"""A PostgreSQL cluster in a temporary folder: started, killed, copied and promoted. Its files are flushed for real."""

import glob
import os
import pathlib
import signal
import socket
import subprocess
import time

USER = "rethread"
# An account without rights: PostgreSQL refuses to run as root.
OWNER = 65534
DATABASE = "rethread"
# Before any other: a server in a test must not wait for a checkpoint when it starts again.
OPTIONS = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "64MB", "max_connections": "120",
           "checkpoint_timeout": "30min", "max_wal_senders": "8", "wal_level": "replica", "log_min_messages": "warning"}


class CannotRun(Exception):
    """Something that the scenarios need is missing."""


def program(name):
    """The newest installed program of PostgreSQL with this name."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    beside = [str(pathlib.Path(folder) / name) for folder in os.environ.get("PATH", "").split(":")]
    for path in [*reversed(found), *beside]:
        if os.access(path, os.X_OK):
            return path
    raise CannotRun(f"PostgreSQL's {name} is missing")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def as_owner():
    """How to start a program of PostgreSQL."""
    return {"user": OWNER, "group": OWNER, "extra_groups": []} if os.geteuid() == 0 else {}


class Cluster:
    """A server on loopback and on a Unix socket in its folder."""

    def __init__(self, folder, name="primary", port=None, **options):
        self.folder, self.port, self.options = pathlib.Path(folder) / name, port or free_port(), {**OPTIONS, **options}
        self.data, self.log, self.process = self.folder / "data", pathlib.Path(folder) / f"{name}.log", None
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            os.chown(self.folder, OWNER, OWNER)

    def create(self):
        """Makes the cluster, with one database, and starts it."""
        self._run(program("initdb"), "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        self.start()
        self.sql(f"CREATE DATABASE {DATABASE}", database="postgres")
        return self

    def copy(self, primary, **settings):
        """Makes this one a standby of another cluster and starts it."""
        self._run(program("pg_basebackup"), "-D", self.data, "-h", "127.0.0.1", "-p", primary.port, "-U", USER,
                  "-c", "fast", "-X", "stream", "-N")
        (self.data / "standby.signal").touch()
        source = f"host=127.0.0.1 port={primary.port} user={USER} application_name={settings['name']}"
        self.options["primary_conninfo"] = source
        self.start(until="SELECT pg_is_in_recovery()")
        return self

    def start(self, until="SELECT 1"):
        settings = [part for name, value in self.options.items() for part in ("-c", f"{name}={value}")]
        command = [program("postgres"), "-D", str(self.data), "-p", str(self.port), "-k", str(self.folder),
                   "-c", "listen_addresses=127.0.0.1", *settings]
        self._launch(command)
        end = time.monotonic() + 60
        while True:
            try:
                return self.sql(until, database="postgres")
            except subprocess.CalledProcessError:
                if time.monotonic() > end:
                    raise CannotRun(f"PostgreSQL did not start, see {self.log}") from None
                time.sleep(0.03)
            if self.process.poll() is not None:
                # Killed backends hold the shared memory until the kernel has removed them.
                self._launch(command)

    def _launch(self, command):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", **as_owner())

    def kill(self):
        """Kills the postmaster and all its backends at once, as a power cut of the machine would."""
        # Stopped first: a backend that it starts meanwhile would keep the shared memory in use.
        self.process.send_signal(signal.SIGSTOP)
        for pid in [*children(self.process.pid), self.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def promote(self):
        self.sql("SELECT pg_promote(true, 60)", database="postgres")

    def url(self, space, database=DATABASE, host=None, **parameters):
        query = "&".join(f"{key}={value}" for key, value in {**parameters, "space": space}.items())
        return f"postgres://{USER}@{host or f'127.0.0.1:{self.port}'}/{database}?{query}"

    def sql(self, text, database=DATABASE):
        """Runs SQL and returns the output: a line per row, columns separated by |."""
        command = [program("psql"), "-h", str(self.folder), "-p", str(self.port), "-U", USER, "-d", database, "-qAtX",
                   "-v", "ON_ERROR_STOP=1", "-c", text]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def begin_sql(self, text):
        """Starts a psql that runs SQL from a pipe."""
        command = [program("psql"), "-h", str(self.folder), "-p", str(self.port), "-U", USER, "-d", DATABASE, "-qAtX"]
        pipe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        pipe.stdin.write(text)
        pipe.stdin.flush()
        return pipe

    def dump(self, database, path):
        with open(path, "wb") as out:
            command = [program("pg_dump"), "-h", str(self.folder), "-p", str(self.port), "-U", USER, "-Fc", database]
            subprocess.run(command, check=True, stdout=out)

    def restore(self, path, database):
        self.sql(f"CREATE DATABASE {database}", database="postgres")
        command = [program("pg_restore"), "-h", str(self.folder), "-p", str(self.port), "-U", USER, "-d", database,
                   "--exit-on-error", str(path)]
        subprocess.run(command, check=True)

    def _run(self, *command):
        command = [str(part) for part in command]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", **as_owner())
        if done.returncode:
            raise CannotRun(f"{command[0]}: {done.stderr.strip()}")


def children(pid):
    """The processes that a process has started."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as stat:
                # The name of the program in parentheses may contain spaces.
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == pid:
            found.append(int(entry))
    return found
