"""Claude Code without a terminal: hooks, MCP tools, references and faults."""
import json

from .agents import SETTINGS, serving
from .checks import (ACTIVITY, CANARY, CHECK, COMPACT, FIFTH, FIRST, FIX_LINE, FOURTH, KETTLE, LIGHTHOUSE, OURS, BAROMETER, ORCHARD, EIGHTH, REFERENCES,
                     SECOND, SEVENTH, SEXTANT, SIXTH, THIRD, TOOLS, WELCOME, CONTEXT, calling, count, fixes_received, hold, injected, last_result, later,
                     running, show, since, step)


def run_claude(claude, _, rethread):
    installed(claude, rethread)
    first_session(claude)
    second_session(claude)
    nothing_new(claude)
    something_new(claude)
    not_read_back(rethread)
    archived(rethread)
    two_turns(claude)
    fixed(claude, rethread)
    welcomed(claude)
    remembered(claude, rethread)
    referred(claude, rethread)
    tools_by_stdio(claude, rethread)
    tools_by_http(claude, rethread)
    tools_not_read_back(rethread)
    switched_off(claude)
    broken(claude, rethread)
    uninstalled(claude, rethread)


def installed(claude, rethread):
    step("installing the hooks keeps existing settings")
    rethread.run("install", "claude-code")
    now = json.loads(claude.settings.read_text())
    hold("the existing setting and hook are kept", now["includeCoAuthoredBy"] is False and now["hooks"]["Stop"][0]["hooks"][0]["command"] == "true")
    hold("installing again changes nothing", rethread.run("install", "claude-code") == "")


def uninstalled(claude, rethread):
    step("uninstalling restores the settings exactly")
    rethread.run("uninstall", "claude-code")
    hold("byte-identical", claude.settings.read_text() == SETTINGS)


def first_session(claude):
    step("a first session runs a command; there are no other sessions")
    # The instruction is at the end: quoted in another session's block, the fake model would follow it again.
    prompt = f'{SEXTANT}, {"and look at it again, " * 5}please. [[tool Bash {{"command":"echo hello"}}]]'
    [texts] = claude.say([prompt], "--session-id", FIRST, "--allowedTools", "Bash(echo *)")
    hold("no activity is injected", count(texts, ACTIVITY) == 0)


def second_session(claude):
    step("a second session gets the activity of the first, once")
    [texts] = claude.say([KETTLE], "--session-id", SECOND)
    hold("one activity block", count(texts, ACTIVITY) == 1 and count(texts, OURS) == 1)
    hold("it contains the first session's prompt once", injected(texts, SEXTANT) == 1)
    hold("it contains the command that ran", any("echo hello" in text for text in texts if ACTIVITY in text))


def nothing_new(claude):
    step("the second session continues; there is no new activity")
    [texts] = claude.say(["and the lid"], "--resume", SECOND)
    hold("it has only the earlier block", count(texts, ACTIVITY) == 1)
    hold("it contains the first session's prompt once", injected(texts, SEXTANT) == 1)


def something_new(claude):
    step("the first session continues")
    [texts] = claude.say([BAROMETER], "--resume", FIRST)
    hold("it gets the activity of the second, once", count(texts, ACTIVITY) == 1 and injected(texts, KETTLE) == 1)
    step("the second session gets the new activity, once")
    [texts] = claude.say(["and the spout"], "--resume", SECOND)
    hold("one more block", count(texts, ACTIVITY) == 2)
    hold("it contains the new prompt once", injected(texts, BAROMETER) == 1)
    hold("the old prompt is not repeated", injected(texts, SEXTANT) == 1)


def not_read_back(rethread):
    step("injected text is not stored as session content")
    rethread.run("sync")
    shown = rethread.run("show", SECOND, "--full", "--profile", "full")
    hold("the second session has its own prompts", KETTLE in shown and "and the spout" in shown)
    hold("it contains no injected text", not any(words in shown for words in (ACTIVITY, OURS, SEXTANT, BAROMETER)))
    rethread.run("search", "--all-projects", f'"{ACTIVITY.strip("[]")}"', fine=(1,))
    found = json.loads(rethread.run("search", "--all-projects", "--json", "sextant"))
    hold("the first session's text is found only in the first session", FIRST in json.dumps(found) and SECOND not in json.dumps(found))


def archived(rethread):
    step("sessions whose runs had one prompt each are archived once they are over")
    rethread.run("sync", RETHREAD_NOW=later(hours=3))
    files = sorted((rethread.home / ".rethread" / "archive").glob("*.json"))
    for file in files:
        show(file.name)
    kept = [json.loads(file.read_text()) for file in files]
    hold("both sessions are archived once", sorted(one["externalId"] for one in kept) == [FIRST, SECOND])


def two_turns(claude):
    step("two turns in one process: the second adds nothing")
    first, second = claude.say([ORCHARD, "and the hedge"], "--session-id", THIRD)
    hold("the first turn contains the activity of the others", count(first, ACTIVITY) == 1)
    hold("the second turn adds no block", count(second, ACTIVITY) == 1 and count(second, OURS) == 1)


def fixed(claude, rethread):
    step("a command that fails like another session's gets the known fix, once")
    (claude.project / "check.sh").write_text(CHECK)
    check, fix = running("Bash", "sh check.sh"), running("Bash", "mkdir greased")
    allowed = ("--allowedTools", "Bash(sh check.sh)", "Bash(mkdir *)")
    claude.say([check, fix, check], "--resume", FIRST, *allowed)
    hold("the session that found the fix does not get it", fixes_received(claude) == 0)
    hold("the fix is known", FIX_LINE in rethread.run("fix", "error: the sluice gate squeaks", "--all-projects"))
    (claude.project / "greased").rmdir()
    claude.say([check, check], "--resume", SECOND, *allowed)
    hold("the other session gets it only at its first failure", fixes_received(claude) == 1)


def welcomed(claude):
    step("a session that resumes after a break is welcomed back, once, without what its context has")
    [texts] = claude.say(["and the lens"], "--resume", THIRD, RETHREAD_NOW=later(hours=3))
    hold("one welcome message", count(texts, WELCOME) == 1 and any("was idle for 3h" in text or "was idle for 2h 59m" in text for text in texts))
    hold("without the session's own prompts", not any(ORCHARD in text or "Recent files" in text for text in texts if WELCOME in text))
    [texts] = claude.say(["and the case"], "--resume", THIRD, RETHREAD_NOW=later(hours=3, minutes=1))
    hold("no second welcome message", count(texts, "Welcome back.") == 1)


def remembered(claude, rethread):
    step("a prompt similar to one from days ago gets it as memory")
    claude.say([f"{LIGHTHOUSE} is the foghorn louder than the lamp is bright?"], "--session-id", FIFTH)
    rethread.run("sync")
    [texts] = claude.say([f"{LIGHTHOUSE} and the foghorn: which lamp is bright?"], "--session-id", SIXTH, RETHREAD_NOW=later(days=2))
    hold("one memory block", count(texts, "[MEMORY CONTEXT]") == 1)
    hold("it contains the earlier prompt", any("louder than the lamp" in text for text in texts if "[MEMORY CONTEXT]" in text))


def referred(claude, rethread):
    step("a reference to a session adds its summary, once; an unknown reference does no harm")
    rethread.run("alias", FIFTH, "lighthouse")
    [texts] = claude.say(["paint it as in @@lighthouse, not as in @@nowhere"], "--session-id", SEVENTH)
    hold("one reference block", count(texts, REFERENCES) == 1)
    hold("it contains the session's summary", any("@@lighthouse = session" in text and "Summary:" in text for text in texts))
    hold("it does not mention the unknown reference", not any("@@nowhere" in text for text in texts if OURS in text))
    hold("the prompt is unchanged", any(text.endswith("@@lighthouse, not as in @@nowhere") for text in texts))
    [texts] = claude.say(["and the door as in @@lighthouse, not as in @@nowhere"], "--resume", SEVENTH)
    hold("the summary is not repeated", count(texts, "Summary:") == 1 and count(texts, "given earlier in this session") == 1)
    step("a question about a session gets an answer")
    [texts] = claude.say(["@@lighthouse: is the foghorn louder than the lamp?"], "--resume", SEVENTH)
    hold("one answer, with the passage", count(texts, "\nAnswer:\n") == 1 and any("the agent: \"" in text or "the user: \"" in text for text in texts))


def tools_by_stdio(claude, rethread):
    step("Claude Code lists and calls the tools of the MCP server over stdio")
    claude.manage("mcp", "add", "--scope", "user", "rethread", "--", rethread.binary, "mcp")
    hold("the server is connected", "Connected" in claude.manage("mcp", "list"))
    called = {"search_memory": {"query": "which lamp is bright?"}, "get_memory": {"ids": [f"{FIRST}:1"]}, "session_activity": {},
              "read_session": {"session": FIFTH, "lines": 4}, "query_session": {"session": FIFTH, "question": "is the foghorn loud?"},
              "find_fix": {"error": "error: the sluice gate squeaks"}, "remember": {"text": f"{CANARY} sings at noon"}}
    expected = {"search_memory": "foghorn", "get_memory": SEXTANT, "session_activity": ACTIVITY, "read_session": "foghorn",
                "query_session": "Best matching passages of the session", "find_fix": FIX_LINE, "remember": "Saved as"}
    allowed = ("--allowedTools", *(f"mcp__rethread__{tool}" for tool in TOOLS))
    for tool in TOOLS:
        claude.say([calling(f"mcp__rethread__{tool}", **called[tool])], "--session-id" if tool == TOOLS[0] else "--resume", EIGHTH, *allowed)
        body = claude.model.bodies()[-1]
        injected = last_result(body)
        show(injected)
        hold(f"the result of {tool} reached the model with our tag", injected.startswith(OURS) and expected[tool] in injected)
    listed = {tool["name"]: tool for tool in body["tools"]}
    show(", ".join(f"{name} ({len(tool.get('description', ''))})" for name, tool in listed.items() if "rethread" in name))
    hold("the model sees all tools with descriptions", all(listed.get(f"mcp__rethread__{tool}", {}).get("description") for tool in TOOLS))
    hold("the instructions say when to use them", "search_memory before you redo" in json.dumps(body))
    claude.say([calling("mcp__rethread__query_session", session="atlantis", question="where?")], "--resume", EIGHTH, *allowed)
    injected = last_result(claude.model.bodies()[-1])
    show(injected)
    hold("a tool error reaches the model", "SESSION_NOT_FOUND" in injected)
    claude.manage("mcp", "remove", "--scope", "user", "rethread")


def tools_by_http(claude, rethread):
    step("Claude Code calls the same tools over HTTP, with the token")
    with serving(rethread) as (url, token):
        claude.manage("mcp", "add", "--scope", "user", "--transport", "http", "rethread", url, "--header", f"Authorization: Bearer {token}")
        hold("the server is connected", "Connected" in claude.manage("mcp", "list"))
        claude.say([calling("mcp__rethread__search_memory", query=CANARY)], "--resume", EIGHTH, "--allowedTools", "mcp__rethread__search_memory")
        injected = last_result(claude.model.bodies()[-1])
        show(injected)
        hold("the note stored over stdio is found", injected.startswith(OURS) and f"{CANARY} sings at noon" in injected and "noted by claude-code" in injected)
        claude.manage("mcp", "remove", "--scope", "user", "rethread")


def tools_not_read_back(rethread):
    step("arguments and results of our tools are not stored as session content")
    rethread.run("sync")
    shown = rethread.run("show", EIGHTH, "--full", "--profile", "full")
    hold("the calls are listed", all(f"[mcp__rethread__{tool}]" in shown for tool in TOOLS))
    hold("their results are not", not any(words in shown for words in (OURS, "SESSION_NOT_FOUND", "Saved as")))
    found = json.loads(rethread.run("search", "--all-projects", "--json", CANARY))
    # The prompt that makes the fake model call the tool contains the phrase; a real prompt would not.
    roles = {hit["entry"]["role"] for hit in found["hits"] if hit["session"]["externalId"] == EIGHTH}
    hold(f"calls are not found by their arguments: {roles}", roles <= {"user"})


def switched_off(claude):
    step("disabled: nothing is injected")
    [texts] = claude.say(["sweep the stairs"], "--session-id", FOURTH, RETHREAD_DISABLE="1")
    hold("no injected text reached the model", count(texts, OURS) == 0)
    step("enabled again: activity is injected")
    [texts] = claude.say(["sweep the yard"], "--resume", FOURTH)
    hold("one activity block", count(texts, ACTIVITY) == 1)


def broken(claude, rethread):
    step("Claude Code still answers if our folder cannot be created")
    file = claude.home / "file"
    file.write_text("no directory")
    claude.say(["water the fern"], RETHREAD_HOME=str(file / "below"))
    step("Claude Code still answers if the store is damaged")
    store = rethread.home / ".rethread" / "memory.db"
    hold("the store exists", store.stat().st_size > 0)
    store.write_bytes(b"\xde\xad\xbe\xef" * 100_000)
    claude.say(["water the moss"])
