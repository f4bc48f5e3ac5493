"""Sessions that share a project: collisions, branches, worktrees, sub-agents, and scripts that resume a session."""
import json, subprocess

from .checks import (ACTIVITY, BAROMETER, FIFTH, FIRST, FOURTH, KETTLE, OURS, SECOND, SEXTANT, SIXTH, THIRD, WELCOME, calling, count, hold, injected, later, running,
                     step)


def run(claude, pi, rethread):
    rethread.run("install", "claude-code")
    rethread.run("install", "pi")
    git(claude, "commit", "-q", "--allow-empty", "-m", "first")
    same_file(claude, pi)
    switched_branch(claude, pi)
    worktree(claude)
    resumed_by_script(claude, pi, rethread)
    sub_agent(claude)


def git(claude, *words):
    identity = ["-c", "user.name=e2e", "-c", "user.email=e2e@example.org"]
    subprocess.run(["git", "-C", claude.project, *identity, *words], check=True, stdout=subprocess.DEVNULL)


def write(claude, name, text):
    return calling("Write", file_path=str(claude.project / name), content=text)


def read(claude, name):
    return calling("Read", file_path=str(claude.project / name))


def notices(client, words):
    """How often the last request has a notice."""
    return json.dumps(client.model.bodies()[-1]["messages"], ensure_ascii=False).count(words)


def same_file(claude, pi):
    step("an edit of a file that another session changed gets a notice, once; a file that was read since gets none")
    allowed = ("--allowedTools", "Read", "Write")
    notice = "before this edit, and this session has not read it since"
    claude.say([write(claude, "notes.txt", "low tide")], "--session-id", FIRST, *allowed)
    pi.say("pi-edits", [calling("write", path="notes.txt", content="high tide"), calling("write", path="notes.txt", content="ebb"), "and on"])
    hold(f"pi: one notice, with the first edit: {notices(pi, notice)}", notices(pi, notice) == 1)
    # Claude Code itself refuses to overwrite a file that was not read.
    claude.say([read(claude, "notes.txt"), write(claude, "notes.txt", "slack")], "--session-id", SECOND, *allowed)
    hold("a session that read it since gets no notice", notices(claude, notice) == 0)
    hold("the file was written", (claude.project / "notes.txt").read_text() == "slack")


def switched_branch(claude, pi):
    step("a commit on a branch that another session chose gets a notice that names the branch")
    notice, switched = "before this commit, which goes to", "switched the branch of this working tree"
    allowed = ("--allowedTools", "Bash(git *)")
    claude.say(["where are we"], "--session-id", FOURTH, *allowed)
    claude.say([running("Bash", "git switch -c tide")], "--session-id", FIFTH, *allowed)
    commit = "git -c user.name=e2e -c user.email=e2e@example.org commit -q --allow-empty -m wet"
    claude.say([running("Bash", commit), running("Bash", commit)], "--resume", FOURTH, *allowed)
    hold("one notice with the branch", notices(claude, notice) == 1 and notices(claude, 'which goes to \\"tide') + notices(claude, "tide") > 0)
    claude.say([running("Bash", commit)], "--resume", FIFTH, *allowed)
    hold("the session that chose it gets none", notices(claude, switched) == 0)
    step("pi: the same")
    pi.say("pi-commits", ["where are we"])
    claude.say([running("Bash", "git switch -c ebb")], "--resume", FIFTH, *allowed)
    pi.say("pi-commits", [running("bash", commit), "and on"])
    hold("one notice with the branch", notices(pi, notice) == 1)


def worktree(claude):
    step("a session in another worktree of the project gets the activity of the first, and no notice for its own copy of a file")
    side = claude.home / "side"
    git(claude, "worktree", "add", "-q", "-b", "side", str(side))
    [texts] = claude.say([SEXTANT], "--session-id", SIXTH, where=side)
    hold("one activity block", count(texts, ACTIVITY) == 1)
    call = calling("Write", file_path=str(side / "notes.txt"), content="elsewhere")
    claude.say([call], "--resume", SIXTH, "--allowedTools", "Write", where=side)
    hold("no notice", notices(claude, "before this edit") == 0)
    [texts] = claude.say(["and the tide"], "--resume", FIRST)
    hold("the first gets the activity of the worktree", injected(texts, SEXTANT) == 1)


def sub_agent(claude):
    step("a sub-agent gets nothing that its session got, and its edit counts as the session's")
    inner = {"file_path": str(claude.project / "deep.txt"), "content": "deep"}
    call = {"description": "write it", "prompt": f"write the deep file [[tool Write {json.dumps(inner)}]]", "subagent_type": "general-purpose",
            "run_in_background": False}
    before = len(claude.model.bodies())
    # The instruction inside is escaped: only the sub-agent's model may follow it.
    prompt = calling("Agent", **call)
    outer, start, inside = prompt.partition('"prompt": ')
    inside, end, rest = inside.partition('", "subagent_type"')
    escaped = inside.replace("[", "\\u005b").replace("]", "\\u005d")
    claude.say([outer + start + escaped + end + rest], "--resume", FIRST, "--allowedTools", "Agent", "Write")
    asked = claude.model.asked()[before:]
    inside = [texts for texts in asked if any(text.startswith("write the deep file") for text in texts)]
    hold(f"the sub-agent ran: {len(inside)} requests", bool(inside) and (claude.project / "deep.txt").exists())
    hold("no activity reached it", all(count(texts, ACTIVITY) == 0 for texts in inside))
    [texts] = claude.say([KETTLE], "--session-id", "99999999-9999-4999-8999-999999999999")
    hold("another session learns of its edit", any("deep.txt" in text or "edited 2 files" in text for text in texts if OURS in text))


def resumed_by_script(claude, pi, rethread):
    step("claude -p --resume and pi -p three times: one period each, archived once it is over")
    folder = rethread.home / ".rethread" / "archive"

    def archives(session):
        return sum(json.loads(file.read_text())["externalId"] == session for file in folder.glob("*.json"))

    sessions = (SECOND, "pi-script")
    before = [archives(session) for session in sessions]
    for prompt in (BAROMETER, "and the needle", "and the dial"):
        [texts] = claude.say([prompt], "--resume", SECOND)
        hold("no greeting", count(texts, WELCOME) == 0)
        pi.print_answer("pi-script", prompt)
    now = [archives(session) for session in sessions]
    hold(f"no archive yet: {now}", now == before)
    rethread.run("sync", RETHREAD_NOW=later(hours=3))
    now = [archives(session) for session in sessions]
    hold(f"one archive each: {now}", now == [count + 1 for count in before])
