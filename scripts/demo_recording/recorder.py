"""Runs the demo on a terminal of its own and returns what it prints, scene by scene."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

WIDTH, HEIGHT = 105, 36
# The clock of the demo. Ages and dates depend on it.
NOW = "2026-02-20T12:00:00Z"
TITLE = re.compile(r"^(?:\x1b\[[\d;]*m)*\d/\d ")


def record(binary):
    """The lines of each scene, with their colors. The first one has the title."""
    lines = run(binary).replace("\r\n", "\n").split("\n")
    starts = [at for at, line in enumerate(lines) if TITLE.match(line)]
    if not starts:
        sys.exit("the demo has no scenes: is the binary up to date?")
    scenes = [lines[start:end] for start, end in zip(starts, starts[1:] + [len(lines)])]
    return [trim(scene) for scene in scenes]


def run(binary):
    """What the demo prints. Without a terminal for errors it does not pause."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"], "TZ": "UTC", "TERM": "xterm-256color", "RETHREAD_NOW": NOW}
        demo = subprocess.Popen([binary, "demo"], env=environment, cwd=home, stdin=subprocess.DEVNULL, stdout=follower,
                                stderr=subprocess.DEVNULL)
        os.close(follower)
        printed = read_all(leader)
        if demo.wait() != 0:
            sys.exit(f"rethread demo exited with {demo.returncode}")
    return printed


def read_all(leader):
    chunks = []
    while True:
        try:
            chunk = os.read(leader, 1 << 16)
        except OSError:  # Linux reports a closed terminal as an error.
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(leader)
    return b"".join(chunks).decode()


def trim(lines):
    """Without the blank lines at the end."""
    while lines and not re.sub(r"\x1b\[[\d;]*m", "", lines[-1]).strip():
        lines = lines[:-1]
    return lines
