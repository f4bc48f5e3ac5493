"""Claude Code and pi are informed what Codex and OpenCode do in the same project at that moment. Nothing is synced by hand."""
import contextlib, json, subprocess, time

from .checks import ACTIVITY, BAROMETER, FIRST, KETTLE, ORCHARD, SEXTANT, count, hold, injected, show, since, step
from .clients.base import PATIENCE

# How long the other agent's command runs, in seconds: longer than a prompt of Claude Code or pi takes.
BUSY = 45


def run(claude, pi, codex, opencode, rethread):
    rethread.run("install", "claude-code")
    rethread.run("install", "pi")
    try:
        claude_and_codex(claude, codex)
        pi_and_both(pi, codex, opencode)
        claude_and_opencode(claude, opencode)
    finally:
        codex.close(), opencode.close()


def long(prompt, *steps):
    """A prompt whose instructions are at the end: quoted in another session, the fake model would follow them again."""
    return f"{prompt}, {'and look at it again, ' * 8}please. " + " ".join(f"[[tool {tool} {json.dumps(arguments)}]]" for tool, arguments in steps)


@contextlib.contextmanager
def working(client, prompt, file):
    """Runs a client that has written a file and is in the middle of a command."""
    print(f"  $ {client.label}, in the background: {prompt[:60]}", flush=True)
    process = subprocess.Popen(["timeout", str(PATIENCE), *client.words(client.start(prompt))], cwd=client.project, env=client.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        is_busy = lambda: (client.project / file).exists() and (client.project / f"{file}.busy").exists()
        wait_until(lambda: is_busy() or process.poll() is not None)
        if not is_busy():
            process.kill()
            show(process.communicate()[0][-2000:])
        hold(f"{client.label} wrote {file}", is_busy())
        yield
        hold(f"{client.label} is still working", process.poll() is None)
    finally:
        (client.project / f"{file}.done").touch()
        output = process.communicate()[0] if process.poll() is None else ""
    if process.returncode:
        show(output[-2000:])
    hold(f"{client.label} exited cleanly", process.returncode == 0)


def wait_until(holds):
    until = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < until:
        time.sleep(0.1)


def busy(file):
    """A command that runs until the scene is over."""
    return f"touch {file}.busy; for i in $(seq {BUSY}); do test -e {file}.done && break; sleep 1; done"


def codex_steps(file):
    patch = f"apply_patch <<'PATCH'\n*** Begin Patch\n*** Add File: {file}\n+low tide\n*** End Patch\nPATCH"
    return ("exec_command", {"cmd": patch}), ("exec_command", {"cmd": busy(file), "yield_time_ms": BUSY * 1000})


def opencode_steps(client, file):
    write = ("write", {"filePath": client.file(file), "content": "low tide\n"})
    return write, ("bash", {"command": busy(file), "description": "Wait", "timeout": BUSY * 1000})


def informed(texts, prompt, label, file):
    """Whether the texts report a session: its prompt, its agent and the file it wrote."""
    blocks = [text for text in texts if ACTIVITY in text]
    hold(f"the model is informed of the {label} session, once", injected(texts, prompt) == 1)
    hold(f"with the agent's name and the file: {file}", any(label.lower() in text.lower() and file in text for text in blocks))


def claude_and_codex(claude, codex):
    step("a Claude Code session is informed what a Codex session is doing")
    with working(codex, long(SEXTANT, *codex_steps("sextant.txt")), "sextant.txt"):
        [texts] = claude.say([KETTLE], "--session-id", FIRST)
        informed(texts, SEXTANT, "Codex", "sextant.txt")
    [texts] = claude.say(["and the lid"], "--resume", FIRST)
    hold("it is not repeated", injected(texts, SEXTANT) == 1)


def pi_and_both(pi, codex, opencode):
    step("a pi session is informed what a Codex session did and what an OpenCode session is doing")
    with working(opencode, long(BAROMETER, *opencode_steps(opencode, "barometer.txt")), "barometer.txt"):
        [texts] = pi.say("pi-live", ["and the kettle's handle"])
        informed(texts, SEXTANT, "Codex", "sextant.txt")
        informed(texts, BAROMETER, "OpenCode", "barometer.txt")
    [texts] = pi.say("pi-live", ["and the spout"])
    hold("it is not repeated", count(since(texts, "and the spout"), BAROMETER) == 0)
    with working(codex, long(ORCHARD, *codex_steps("orchard.txt")), "orchard.txt"):
        [texts] = pi.say("pi-live", ["and the cord"])
        informed(since(texts, "and the cord"), ORCHARD, "Codex", "orchard.txt")


def claude_and_opencode(claude, opencode):
    step("the Claude Code session is informed of the OpenCode session with its next prompt")
    [texts] = claude.say(["and the whistle"], "--resume", FIRST)
    informed(texts, BAROMETER, "OpenCode", "barometer.txt")
