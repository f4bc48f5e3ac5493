"""`resume` starts each client in its terminal interface: in the directory of the session, with its conversation or with a handoff note."""
import json, re, subprocess, time
from pathlib import Path

from .agents import write_session
from .checks import BAROMETER, FIRST, KETTLE, ORCHARD, SEXTANT, hold, step
from .terminal import Terminal, is_available

OTHER = "count the stars over the observatory"
NOTE = "Continue with the next steps of this handoff note."


def run(client, rethread):
    if not is_available():
        return step("skipped: the resume scenes need tmux")
    elsewhere = client.home / "elsewhere"
    below = client.project / "below"
    elsewhere.mkdir(), below.mkdir()
    client.prepare_terminal()
    if client.is_private:
        rethread.run("config", "set", "intake.agents", json.dumps(["claude-code", client.agent]))
    try:
        step(f"{client.label}: a session to resume, and one of another agent")
        client.greet(f"{SEXTANT}, please.")
        write_session(rethread, FIRST, OTHER)
        rethread.run("sync")
        resume(client, rethread, elsewhere)
        pick(client, rethread, below)
        resume_in_tui(client, rethread, below)
        if client.takes_first_prompt:
            hand_over(client, rethread, elsewhere)
    finally:
        client.close()


def resume(client, rethread, cwd):
    step(f"{client.label}: resume from another directory")
    with started(client, rethread, cwd, "resume", client.session(), "--exec") as terminal:
        continues(client, terminal, KETTLE)


def pick(client, rethread, cwd):
    step(f"{client.label}: resume with the picker, from a directory of the project")
    with started(client, rethread, cwd, "resume") as terminal:
        shown(terminal, "Session: number")
        # The newest is the first.
        terminal.type("1")
        shown(terminal, "Start it?")
        terminal.press("Enter")
        continues(client, terminal, BAROMETER)


def resume_in_tui(client, rethread, cwd):
    step(f"{client.label}: resume from the terminal UI")
    with started(client, rethread, cwd, "tui") as terminal:
        shown(terminal, "Decisions")
        terminal.tmux("send-keys", "-t", "main", "-l", SEXTANT)
        shown(terminal, "1 of 1 matching")
        terminal.press("Enter")
        # The command may be wrapped.
        shown(terminal, client.session()[:8])
        terminal.press("Enter")
        continues(client, terminal, ORCHARD)


def hand_over(client, rethread, cwd):
    step(f"{client.label}: it takes over a session of another agent")
    before = len(client.model.bodies(client.api))
    with started(client, rethread, cwd, "resume", FIRST, "--in", client.agent, "--exec") as terminal:
        asked = lambda: not asks(client, terminal) and [body for body in client.model.bodies(client.api)[before:] if NOTE in json.dumps(body) and OTHER in json.dumps(body)]
        terminal.wait_for("the handoff note reached the model", lambda: bool(asked()))
        is_in_project(client, terminal)
        terminal.is_clean()


def started(client, rethread, cwd, *words):
    return Terminal(client.name, [rethread.binary, *words], cwd, client.environment)


def shown(terminal, *texts):
    """Waits until one of the texts is on the screen. Returns the screen."""
    terminal.wait_for(f"the screen shows {' or '.join(map(repr, texts))}", lambda: any(text in terminal.screen() for text in texts), 30)
    return terminal.screen()


def continues(client, terminal, prompt):
    """Says something in the client that was started. The model gets it with the earlier conversation."""
    terminal.wait_for(f"{client.label} is ready", lambda: not asks(client, terminal) and re.search(client.prompt_sign, terminal.screen(0)))
    is_in_project(client, terminal)
    terminal.type_slowly(prompt)
    with_both = lambda: [body for body in map(json.dumps, client.model.bodies(client.api)) if prompt in body and SEXTANT in body]
    terminal.wait_for("the model got the prompt with the earlier conversation", lambda: bool(with_both()))
    # The answer is stored before the client is closed.
    time.sleep(2)
    terminal.is_clean()


def asks(client, terminal):
    """Whether the client asks something first. Answers it."""
    if not client.question or client.question[0] not in terminal.screen(0):
        return False
    terminal.press(client.question[1])
    return True


def is_in_project(client, terminal):
    """The client runs in the directory of the session, whatever the terminal's is."""
    folders = [folder for process in descendants(terminal.process_id()) if (folder := folder_of(process))]
    hold(f"it runs in the directory of the session: {sorted(set(folders))}", str(client.project.resolve()) in folders)


def descendants(process):
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split()
    return [*found, *(below for child in found for below in descendants(child))]


def folder_of(process):
    try:
        return str(Path(f"/proc/{process}/cwd").readlink())
    except OSError:
        return None
