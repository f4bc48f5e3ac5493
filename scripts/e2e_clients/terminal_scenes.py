"""Claude Code and pi in their terminal interfaces: commands that replace a session, and what is on the screen."""
import json, time

from .checks import (ACTIVITY, BAROMETER, CONTEXT, KETTLE, OURS, REPLY, SEXTANT, WELCOME, FIRST, SECOND, count, hold, injected, later, show, since, step,
                     texts_of)
from .terminal import Terminal, is_available

# How long pi shows the result of a card command. Scenes wait longer than that after a session was replaced.
STATUS_MS = 1000


def skipped():
    if not is_available():
        step("skipped: the terminal scenes need tmux")
    return not is_available()


class Chat:
    """A conversation in a terminal."""

    def __init__(self, terminal, model):
        self.terminal, self.model = terminal, model

    def say(self, prompt):
        """Sends a prompt and waits for its request to the model. Returns the texts of that request."""
        before = len(self.model.bodies())
        self.terminal.type(prompt)
        asked = lambda: [texts for texts in self.model.asked()[before:] if any(text.rstrip().endswith(prompt) for text in texts)]
        self.terminal.wait_for("the prompt reached the model", lambda: bool(asked()))
        # The answer has to be on the screen before the next prompt is typed.
        time.sleep(1.5)
        self.terminal.is_clean()
        texts = asked()[-1]
        show("\n".join(text for text in texts if OURS in text) or "(nothing injected)")
        return texts

    def command(self, command, seconds=3):
        self.terminal.type(command)
        time.sleep(seconds)
        self.terminal.is_clean()


def claude_in_terminal(claude, *words):
    return Terminal("claude", [claude.program, "--model", "claude-sonnet-4-5", *words], claude.project, claude.environment)


def prepare_claude(claude):
    """Answers the questions that Claude Code asks in its first terminal session."""
    file = claude.home / ".claude.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    projects = {**known.get("projects", {}), str(claude.project): {"hasTrustDialogAccepted": True}}
    file.write_text(json.dumps({**known, "hasCompletedOnboarding": True, "theme": "dark", "projects": projects,
                                "customApiKeyResponses": {"approved": ["sk-ant-fake"]}}))


def run_claude(claude, rethread):
    if skipped():
        return
    step("installing the hooks")
    rethread.run("install", "claude-code")
    prepare_claude(claude)
    with claude_in_terminal(claude, "--session-id", FIRST) as first, claude_in_terminal(claude, "--session-id", SECOND, "--allowedTools", "Write") as second:
        ready(first), ready(second)
        anna, ben = Chat(first, claude.model), Chat(second, claude.model)
        step("two sessions in two terminals: each gets the activity of the other, once")
        hold("the first gets nothing", count(anna.say(SEXTANT), OURS) == 0)
        hold("the second gets the first", injected(ben.say(KETTLE), SEXTANT) == 1)
        hold("nothing is added to the next prompt", count(ben.say("and the lid"), OURS) == 1)
        hold("the first gets the second", injected(anna.say(BAROMETER), KETTLE) == 1)
        step("/compact: the session context is injected once, and the model does not see our command line")
        call = {"file_path": str(claude.project / "notes.txt"), "content": "low tide"}
        ben.say(f"write it down, please. [[tool Write {json.dumps(call)}]]")
        ben.command("/compact", 6)
        before = len(claude.model.bodies())
        texts = ben.say("where were we")
        hold("one session context", count(texts, CONTEXT) == 1 and any("notes.txt" in text for text in texts if CONTEXT in text))
        hold("no command line of ours", not any("rethread hook" in json.dumps(body) or "hook claude-code" in json.dumps(body) for body in claude.model.bodies()[before:]))
        hold("it is not repeated", count(ben.say("and on"), CONTEXT) == 1)
        step("/clear: what the cleared session did is injected once, and not as another session's activity")
        ben.command("/clear")
        texts = ben.say("what next")
        hold("one session context", count(texts, CONTEXT) == 1 and any("notes.txt" in text for text in texts if CONTEXT in text))
        hold("the cleared session is not reported as another one", injected(texts, KETTLE) == 0)
        hold("it is not repeated", count(ben.say("and then"), CONTEXT) == 1)
        quit_claude(first), quit_claude(second)
    step("--resume in a terminal: nothing that the context has is repeated")
    with claude_in_terminal(claude, "--resume", FIRST) as first:
        ready(first)
        texts = Chat(first, claude.model).say("and the case")
        hold("no greeting after a short break", count(texts, WELCOME) == 0)
        hold("the earlier activity is not repeated", injected(texts, KETTLE) == 1)
        quit_claude(first)
    step("--resume after a long break: one line, and nothing that the context has")
    claude.environment["RETHREAD_NOW"] = later(days=3)
    with claude_in_terminal(claude, "--resume", FIRST) as first:
        ready(first)
        texts = Chat(first, claude.model).say("and the lens")
        hold("one greeting in days", count(texts, WELCOME) == 1 and any("idle for 3 days" in text or "idle for 2 days" in text for text in texts))
        hold("without the session's own prompts", not any(SEXTANT in text for text in texts if WELCOME in text))
        quit_claude(first)


def ready(terminal):
    terminal.wait_for("Claude Code is ready", lambda: "shortcuts" in terminal.screen() or "manual mode" in terminal.screen())


def quit_claude(terminal):
    terminal.type("/exit")
    hold("Claude Code exited cleanly", terminal.exit_code(30) == 0)


def run_pi(pi, rethread):
    if skipped():
        return
    step("installing the extension")
    rethread.run("config", "set", "cards.notification_auto_clear_ms", str(STATUS_MS))
    rethread.run("install", "pi")
    with pi_in_terminal(pi) as first:
        anna = Chat(first, pi.model)
        for command, keys in (("/new", ()), ("/reload", ()), ("/handoff", ("C-c",)), ("/fork", ("Enter",)), ("/resume", ("Enter",))):
            step(f"pi keeps running when a status timer ends after {command}")
            anna.say(SEXTANT if command == "/new" else f"and again before {command[1:]}")
            first.type("/index-session")
            first.wait_for("the result is shown", lambda: "no new card" in first.screen(0))
            first.type(command)
            time.sleep(1)
            for key in keys:
                first.press(key)
            time.sleep(2 * STATUS_MS / 1000)
            first.is_clean()
            hold("the status line was cleared", "no new card" not in first.screen(0).rstrip().splitlines()[-1])
            # A handoff note or a forked prompt may be in the editor.
            first.press("C-c")
            time.sleep(0.5)
        hold("prompts still work, with at most one new block", count(since(anna.say("and the mirror"), "and the mirror"), OURS) <= 1)
        step("two sessions in two terminals")
        with pi_in_terminal(pi, "--session-id", "pi-ben") as second:
            ben = Chat(second, pi.model)
            hold("the second gets one block with activity", count(since(ben.say(KETTLE), KETTLE), ACTIVITY) == 1)
            hold("nothing is added to the next prompt", since(ben.say("and the lid"), "and the lid") == [])
            step("completion of @@ lists sessions")
            second.tmux("send-keys", "-t", "main", "-l", "as in @@sext")
            second.wait_for("the session is offered", lambda: SEXTANT in second.screen(0).split("as in @@sext")[-1].lower(), 20)
            second.press("Escape"), second.press("C-c")
            time.sleep(0.5)
            step("/compact: the next prompt gets the session context, once")
            rethread.run("note", "pi-ben", "the key is under the mat")
            hold("a note is injected once", count(since(ben.say("and the door"), "and the door"), "the key is under the mat") == 1)
            ben.command("/compact", 4)
            texts = ben.say("where were we")
            added = since(texts, "where were we")
            hold("one session context", count(added, CONTEXT) == 1 and count(added, "the key is under the mat") == 1)
            hold("it is not repeated", since(ben.say("and on"), "and on") == [])
            second.type("/quit")
            hold("pi exited cleanly", second.exit_code(30) == 0)


def pi_in_terminal(pi, *words):
    terminal = Terminal("pi", [pi.program, "--provider", "fake", "--model", "fake-1", *words], pi.project, pi.environment)
    terminal.wait_for("pi is ready", lambda: "fake-1" in terminal.screen())
    return terminal
