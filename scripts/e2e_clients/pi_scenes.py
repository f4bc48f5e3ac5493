"""pi without a terminal, and together with Claude Code as a plugin."""
import json

from .agents import SETTINGS
from .checks import (ACTIVITY, CANARY, CHECK, COMPACT, FIFTH, FIRST, FIX_LINE, FOURTH, KETTLE, LIGHTHOUSE, OURS, BAROMETER, ORCHARD, EIGHTH, REFERENCES,
                     SECOND, SEVENTH, SEXTANT, SIXTH, THIRD, TOOLS, WELCOME, CONTEXT, calling, count, fixes_received, hold, injected, last_result, later,
                     running, show, since, step)


def run_pi(claude, pi, rethread):
    pi_installed(pi, rethread)
    pi_first_session(pi)
    pi_second_session(pi)
    pi_something_new(pi)
    plugin_installed(claude, rethread)
    pi_and_claude(claude, pi)
    pi_same_file(pi)
    pi_fixed(pi)
    pi_compacted(pi, rethread)
    pi_referred(pi, rethread)
    pi_not_read_back(rethread)
    pi_archived(rethread)
    pi_switched_off(pi)
    plugin_uninstalled(claude, rethread)
    pi_uninstalled(pi, rethread)


def pi_installed(pi, rethread):
    step("installing the extension and the skill for pi")
    rethread.run("install", "pi")
    hold("both files exist", all(file.exists() for file in pi_files(pi)))
    hold("installing again changes nothing", rethread.run("install", "pi") == "")


def pi_files(pi):
    return pi.folder / "extensions" / "rethread.ts", pi.folder / "skills" / "rethread" / "SKILL.md"


def pi_write(file, text):
    # The instruction is at the end, so that it is not quoted in other sessions: the fake model would follow it again.
    return f"{'write it down, and then once more, ' * 4}please. [[tool write {json.dumps({'path': file, 'content': text})}]]"


def pi_first_session(pi):
    step("a first pi session writes a file; there are no other sessions")
    texts = pi.say(FIRST, [SEXTANT, pi_write("log.txt", "low tide")])
    hold("no injected text reached the model", all(count(turn, OURS) == 0 for turn in texts))
    hold("the file was written", (pi.project / "log.txt").read_text() == "low tide")
    asked = pi.model.bodies()[-1]
    hold("the model sees the skill", "<name>rethread</name>" in json.dumps(asked["system"]))


def pi_second_session(pi):
    step("a second pi session gets the activity of the first, once")
    first, second = pi.say(SECOND, [KETTLE, "and the lid"])
    added = since(first, KETTLE)
    hold("one message with one activity block was added to the prompt", len(added) == 1 and count(added, ACTIVITY) == 1 and count(added, OURS) == 1)
    hold("it contains the first session's prompt once, and the written file", injected(added, SEXTANT) == 1 and "updated log.txt" in added[0])
    hold("the next prompt adds nothing", since(second, "and the lid") == [] and count(second, ACTIVITY) == 1)
    step("resumed in another process; there is no new activity")
    [texts] = pi.say(SECOND, ["and the handle"])
    hold("it has only the earlier block", since(texts, "and the handle") == [] and count(texts, ACTIVITY) == 1)


def pi_something_new(pi):
    step("the first pi session continues")
    [texts] = pi.say(FIRST, [BAROMETER])
    hold("it gets the activity of the second, once", count(texts, ACTIVITY) == 1 and injected(texts, KETTLE) == 1)
    step("the second gets the new activity, once")
    [texts] = pi.say(SECOND, ["and the spout"])
    hold("one more block, with the new prompt once", count(since(texts, "and the spout"), ACTIVITY) == 1 and injected(texts, BAROMETER) == 1)
    hold("the old prompt is not repeated", injected(texts, SEXTANT) == 1)


def plugin_installed(claude, rethread):
    step("installing the Claude Code plugin")
    market = str(claude.home / "market")
    rethread.run("install", "claude-code", "--plugin", market)
    hold("the settings are unchanged", claude.settings.read_text() == SETTINGS)
    hold("the marketplace is valid", "Validation passed" in claude.manage("plugin", "validate", market))
    hold("the plugin is valid", "Validation passed" in claude.manage("plugin", "validate", f"{market}/plugins/rethread"))
    claude.manage("plugin", "marketplace", "add", market)
    claude.manage("plugin", "install", "rethread@rethread")
    hold("doctor reports it", f"the Claude Code hooks in {market}/plugins" in rethread.run("doctor", fine=(0, 1)))


def pi_and_claude(claude, pi):
    step("a Claude Code session gets the activity of pi sessions through the plugin")
    [texts] = claude.say([ORCHARD], "--session-id", THIRD)
    blocks = [text for text in texts if OURS in text]
    hold("one activity block", len(blocks) == 1 and count(blocks, ACTIVITY) == 1)
    hold("the model sees the skill", any("rethread:rethread" in text for text in texts))
    hold("it contains both pi sessions", injected(texts, SEXTANT) == 1 and injected(texts, KETTLE) == 1)
    listed = [tool["name"] for tool in claude.model.bodies()[-1]["tools"]]
    hold("the model sees the plugin's tools", all(f"mcp__plugin_rethread_rethread__{tool}" in listed for tool in TOOLS))
    step("a pi session gets the activity of the Claude Code session")
    first, second = pi.say(SECOND, ["and the whistle", "and the cord"])
    hold("it contains its prompt once", count(since(first, "and the whistle"), ACTIVITY) == 1 and injected(first, ORCHARD) == 1)
    hold("it is not repeated", since(second, "and the cord") == [])


def pi_same_file(pi):
    step("a pi session that edits a file another one just changed is warned, once")
    pi.say(FIRST, [pi_write("notes.txt", "low tide")])
    absolute = str(pi.project / "notes.txt")
    texts = pi.say(SECOND, [pi_write("notes.txt", "high tide"), pi_write(absolute, "ebb")])
    hold("no tool was blocked", (pi.project / "notes.txt").read_text() == "ebb")
    warned = [count(turn, "changed notes.txt just before this edit") for turn in texts]
    hold(f"only with the result of its first change: {warned}", warned == [1, 1])


def pi_fixed(pi):
    step("pi: a failure gets the known fix")
    (pi.project / "check.sh").write_text(CHECK)
    check = running("bash", "sh check.sh")
    pi.say(FIRST, [check, running("bash", "mkdir greased"), check])
    (pi.project / "greased").rmdir()
    pi.say(SECOND, [check, check])
    hold("only at the first failure", fixes_received(pi) == 1)


def pi_compacted(pi, rethread):
    step("after a compaction, the next prompt gets the session context, once")
    pi.say(FOURTH, ["oil the lock", "and the key"])
    rethread.run("note", FOURTH, "the key is under the mat")
    before, first, second = pi.say(FOURTH, ["and the door", COMPACT, "where were we", "and on"])
    hold("a note is injected with the next prompt", count(since(before, "and the door"), "Note: the key is under the mat") == 1)
    added = since(first, "where were we")
    hold("one session context", count(added, "[SESSION CONTEXT]") == 1 and count(added, "the key is under the mat") == 1)
    hold("it is not repeated", since(second, "and on") == [])


def pi_referred(pi, rethread):
    step("pi: a reference adds the summary, and the tool answers questions")
    rethread.run("alias", FIRST, "sextant")
    [texts] = pi.say(FIFTH, ["as in @@sextant and @@nowhere"])
    hold("one reference block, without the unknown reference", count(texts, REFERENCES) == 1 and not any("@@nowhere" in text for text in texts if OURS in text))
    call = {"session": FIRST, "question": "what was calibrated?"}
    pi.say(FIFTH, [f"{'ask it about that, and then once more, ' * 4}please. [[tool query_session {json.dumps(call)}]]"])
    injected = last_result(pi.model.bodies()[-1])
    show(injected)
    hold("the tool's result reached the model", "Best matching passages" in injected)
    pi.say(FIFTH, [f"{'ask no session about that, and then once more, ' * 4}please. [[tool query_session {json.dumps({**call, 'session': 'atlantis'})}]]"])
    injected = last_result(pi.model.bodies()[-1])
    show(injected)
    hold("an unknown session is a tool error", "SESSION_NOT_FOUND" in injected)


def pi_not_read_back(rethread):
    step("pi: injected text is not stored as session content")
    rethread.run("sync")
    shown = rethread.run("show", SECOND, "--full", "--profile", "full")
    hold("the second session has its own prompts", KETTLE in shown and "and the spout" in shown)
    hold("it contains no injected text", not any(words in shown for words in (ACTIVITY, OURS, SEXTANT, BAROMETER, ORCHARD, "before this edit")))
    found = rethread.run("search", "--all-projects", "--json", f'"{ACTIVITY.strip("[]")}"', fine=(0, 1))
    hold("injected text is not found by search", not any(words in found for words in (ACTIVITY, OURS, REFERENCES)))


def pi_archived(rethread):
    step("sessions are archived when they end, and runs with one prompt once they are over")
    rethread.run("sync", RETHREAD_NOW=later(hours=3))
    kept = [json.loads(file.read_text()) for file in sorted((rethread.home / ".rethread" / "archive").glob("*.json"))]
    hold("all sessions are archived", {FIRST, SECOND, THIRD, FOURTH} <= {one["externalId"] for one in kept})
    last = max((one for one in kept if one["externalId"] == FIRST), key=lambda one: one["endedAt"])
    hold(f"with their hot memory: {last['hotMemory']}", any("check.sh" in entry["text"] for entry in last["hotMemory"]))


def pi_switched_off(pi):
    step("nothing is injected if disabled, if the binary is missing, or if it hangs")
    [texts] = pi.say("pi-off", ["sweep the stairs"], RETHREAD_DISABLE="1")
    hold("no injected text reached the model", count(texts, OURS) == 0)
    extension, _ = pi_files(pi)
    kept = extension.read_text()
    hangs = pi.home / "hangs"
    hangs.write_text("#!/bin/sh\nsleep 60\n")
    hangs.chmod(0o700)
    for session, program in (("pi-gone", pi.home / "nowhere"), ("pi-hangs", hangs)):
        lines = [f'const PROGRAM = "{program}";' if line.startswith("const PROGRAM") else line for line in kept.splitlines()]
        extension.write_text("\n".join(lines))
        [texts] = pi.say(session, ["sweep the cellar"])
        hold("no injected text reached the model", count(texts, OURS) == 0)
    extension.write_text(kept)
    [texts] = pi.say("pi-on", ["sweep the yard"])
    hold("enabled: activity is injected", count(texts, ACTIVITY) == 1)


def plugin_uninstalled(claude, rethread):
    step("uninstalling the plugin")
    claude.manage("plugin", "uninstall", "rethread@rethread")
    claude.manage("plugin", "marketplace", "remove", "rethread")
    rethread.run("uninstall", "claude-code", "--plugin", str(claude.home / "market"))
    hold("the folder is removed", not (claude.home / "market").exists())


def pi_uninstalled(pi, rethread):
    step("uninstalling removes everything from pi's folder")
    rethread.run("uninstall", "pi")
    hold("no files or folders remain", not any((pi.folder / name).exists() for name in ("extensions", "skills")))
    [texts] = pi.say("pi-alone", ["sweep the roof"])
    hold("no injected text reaches the model", count(texts, OURS) == 0)
