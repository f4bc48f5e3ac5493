"""What can go wrong around the agents: no binary, a full disk, a damaged store. The agents answer, and show no error."""
import contextlib, shutil, subprocess, time

from .checks import OURS, SEXTANT, KETTLE, FIRST, SECOND, count, hold, since, step
from .terminal import is_available
from .terminal_scenes import Chat, claude_in_terminal, pi_in_terminal, prepare_claude, ready

# The notice that the store was set aside.
SET_ASIDE = "It was set aside"


def run(claude, pi, rethread):
    # A copy that can be taken away.
    copy = rethread.home / "bin" / "rethread"
    copy.parent.mkdir()
    shutil.copy2(rethread.binary, copy)
    rethread.binary = str(copy)
    rethread.run("install", "claude-code")
    rethread.run("install", "pi")
    prepare_claude(claude)
    missing_binary(claude, pi, copy)
    full_disk(claude, pi, rethread)
    damaged_store(claude, pi, rethread)


def in_terminals(claude, pi, prompt):
    """Says the same in both terminals. Fails if one of them shows an error."""
    if not is_available():
        return
    with claude_in_terminal(claude) as terminal:
        ready(terminal)
        Chat(terminal, claude.model).say(prompt)
    with pi_in_terminal(pi) as terminal:
        Chat(terminal, pi.model).say(prompt)


def missing_binary(claude, pi, copy):
    step("the binary is gone: the agents answer and show no error")
    away = copy.with_name("away")
    copy.rename(away)
    [texts] = claude.say(["water the fern"])
    hold("nothing injected", count(texts, OURS) == 0)
    [texts] = pi.say("pi-gone", ["water the fern"])
    hold("nothing injected", count(texts, OURS) == 0)
    in_terminals(claude, pi, "water the fern again")
    away.rename(copy)


@contextlib.contextmanager
def small_disk(path, kilobytes):
    """A file system of its own; yields False if this machine does not allow it."""
    path.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", path], capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", path], check=True)


def full_disk(claude, pi, rethread):
    step("the disk of our home is full: the agents answer and show no error, and doctor reports it")
    home = rethread.home / "small"
    with small_disk(home, 1024) as mounted:
        if not mounted:
            step("skipped: cannot mount a small file system")
            return
        for environment in (claude.environment, pi.environment, rethread.environment):
            environment["RETHREAD_HOME"] = str(home)
        claude.say([SEXTANT], "--session-id", FIRST)
        with contextlib.suppress(OSError):
            (home / "filler").write_bytes(b"x" * (2 << 20))
        claude.say(["water the moss"], "--resume", FIRST)
        pi.say("pi-full", ["water the moss"])
        in_terminals(claude, pi, "water the moss again")
        reported = rethread.run("doctor", fine=(0, 1, 2, 3))
        hold("doctor reports the full disk", any(words in reported.lower() for words in ("no space", "full", "free")))
    for environment in (claude.environment, pi.environment, rethread.environment):
        del environment["RETHREAD_HOME"]


def damage(rethread):
    store = rethread.home / ".rethread" / "memory.db"
    for name in ("memory.db-wal", "memory.db-shm"):
        store.with_name(name).unlink(missing_ok=True)
    store.write_bytes(b"\xde\xad\xbe\xef" * 100_000)


def damaged_store(claude, pi, rethread):
    step("the store is damaged: the agents answer, the user learns it once, and memory works again")
    claude.say([KETTLE], "--session-id", SECOND)
    damage(rethread)
    # Claude Code shows the notice to the user, not to the model.
    shown = [terminal_after(claude, prompt) for prompt in ("water the ivy", "water the vine")] if is_available() else [1, 0]
    hold(f"Claude Code shows it once: {shown}", shown == [1, 0])
    # The hooks of the closed terminal, and the sync that reads the transcripts again, may still run.
    time.sleep(5)
    damage(rethread)
    [first], [second] = pi.say("pi-damaged", ["water the palm"]), pi.say("pi-damaged", ["water the oak"])
    shown_by_pi = [count(since(first, "water the palm"), SET_ASIDE), count(since(second, "water the oak"), SET_ASIDE)]
    hold(f"pi shows it once: {shown_by_pi}", shown_by_pi == [1, 0])
    rethread.run("sync")
    hold("sessions are listed again", "kettle" in rethread.run("sessions", "--all-projects"))


def terminal_after(claude, prompt):
    """How often the notice is on the screen of a new session after a prompt."""
    with claude_in_terminal(claude) as terminal:
        ready(terminal)
        Chat(terminal, claude.model).say(prompt)
        screen = "".join(terminal.screen().split())
        return screen.count("".join(SET_ASIDE.split()))
