"""One scene for each client: it has a conversation with the fake model, and Rethread reads the same from its transcript.

Expected values come from what the fake model logged and was asked to do, never from Rethread."""
import json, math

from .checks import REPLY, Failed, step
from .clients.base import FORK, TASK
from .conversation import Conversation


class Comparison:
    """Compares values and reports all differences at the end, because one scene often shows several."""

    def __init__(self):
        self.differences = []

    def equal(self, what, expected, found):
        self.holds(f"{what}: {found!r}" + ("" if expected == found else f", expected {expected!r}"), expected == found)

    def holds(self, what, holds):
        print(f"  {'ok  ' if holds else 'FAIL'} {what}", flush=True)
        if not holds:
            self.differences.append(what)

    def finish(self):
        if self.differences:
            raise Failed("; ".join(self.differences))


def run(client, rethread):
    try:
        step(f"{client.label}: one conversation in two runs; Rethread reads in between")
        if client.is_private:
            rethread.run("config", "set", "intake.agents", json.dumps([client.agent]))
        client.begin()
        rethread.run("sync")
        client.go_on()
    finally:
        client.close()
    conversation, compare = Conversation(client), Comparison()
    # A client may add defaults to the arguments.
    as_told = [one.tool == name and one.arguments.items() <= arguments.items() for one, (name, arguments) in zip(client.steps(), conversation.calls)]
    compare.holds(f"the model made the {len(conversation.calls)} calls that the prompt names", len(as_told) == len(conversation.calls) and all(as_told))
    step(f"{client.label}: Rethread reads the same")
    rethread.run("sync")
    sessions = json.loads(rethread.run("sessions", "--all-projects", "--children", "--json"))["sessions"]
    mains = sorted((one for one in sessions if not one["parent"]), key=lambda one: one["startedAt"])
    children = [one for one in sessions if one["parent"]]
    compare.equal("sessions", client.session_count, len(mains))
    if mains:
        compare_session(compare, client, conversation, merge(mains))
        compare_entries(compare, client, [entry for one in mains for entry in entries_of(rethread, one)])
        compare_sub_agent(compare, client, conversation, rethread, mains[0], children)
        compare_use(compare, client, rethread, mains)
        compare_compaction(compare, client, rethread, mains[0])
        compare_fork(compare, client, rethread)
    compare.finish()


def merge(sessions):
    """One session of several: the first, with the counts of all."""
    counts = ("prompts", "messages", "toolCalls", "toolErrors", "filesEdited")
    return {**sessions[0], **{name: sum(one[name] for one in sessions) for name in counts}}


def entries_of(rethread, session):
    return json.loads(rethread.run("show", session["id"], "--full", "--profile", "full", "--json", quiet=True))["entries"]


def compare_session(compare, client, conversation, session):
    answers = conversation.answers()
    compare.equal("agent", client.agent, session["agent"])
    if client.session():
        compare.equal("session ID", client.session(), session["externalId"])
    compare.equal("directory", str(client.project), session["cwd"])
    compare.equal("model", client.model_name, session["model"])
    if client.branch:
        compare.equal("branch", client.branch, session["branch"])
    compare.equal("prompts", 2, session["prompts"])
    compare.equal("messages", 2 + answers, session["messages"])
    compare.equal("tool calls", client.call_count(), session["toolCalls"])
    compare.equal("tool errors", sum(one.fails or bool(one.exit_code) for one in client.steps()), session["toolErrors"])
    compare.equal("files edited", client.edited_files, session["filesEdited"])
    if client.usage:
        compare.equal(f"tokens of {answers} answers", client.tokens(answers), session["tokens"])
    cost = client.cost(answers)
    if cost is not None:
        compare.holds(f"cost: {session['costUsd']}, expected {cost}", math.isclose(session["costUsd"] or 0, cost, rel_tol=1e-6))


def compare_entries(compare, client, entries):
    entries = [entry for entry in entries if not entry["abandoned"]]
    prompts = [entry["text"] for entry in entries if entry["role"] == "user"]
    compare.equal("the user's texts", client.prompts(), prompts)
    replies = [entry["text"].strip() for entry in entries if entry["kind"] == "assistant"]
    compare.equal("the model's texts", client.replies(), replies)
    calls = [entry["tool"] for entry in entries if entry["kind"] == "call"]
    compare.equal("the names of the calls", [client.call_name(one) for one in client.steps()], [call["name"] for call in calls[:len(client.steps())]])
    for expected, call in zip(client.steps(), calls):
        described = json.dumps([call["target"], call["arguments"], call["paths"]], ensure_ascii=False)
        compare.holds(f"{expected.tool} is about {expected.main!r}: {described[:200]}", json.dumps(expected.main, ensure_ascii=False)[1:-1] in described)
        outcome = "error" if expected.fails or expected.exit_code else "ok"
        if not expected.is_sub_agent:
            compare.equal(f"{expected.tool} {expected.main!r}", (outcome, expected.exit_code), (call["outcome"], call["exitCode"]))


def compare_sub_agent(compare, client, conversation, rethread, session, children):
    expected = sum(one.is_sub_agent for one in client.steps())
    compare.equal("sub-agents", expected, len(children))
    for child in children:
        compare.equal("the sub-agent's parent", session["id"], child["parent"])
        # A client may wrap the task in instructions of its own.
        instructions = [entry["text"] for entry in entries_of(rethread, child) if entry["role"] == "user"]
        compare.holds(f"the sub-agent's task: {instructions}", bool(instructions) and TASK in instructions[0])
        compare.equal("the sub-agent's prompts", 0, child["prompts"])
        compare.equal("the sub-agent's tokens", client.tokens(len(conversation.sub_agent)), child["tokens"])


def compare_use(compare, client, rethread, sessions):
    session = sessions[0]
    resumed = rethread.run("resume", session["id"], with_hints=True)
    command = client.resume_command()
    compare.holds(f"the command that resumes it: {command}", command in resumed if command else "hint: cd" not in resumed)
    found = json.loads(rethread.run("search", "--all-projects", "--json", "greeting", fine=(0, 1)))
    compare.holds("search finds the prompt", any(hit["session"]["id"] == session["id"] for hit in found["hits"]))
    again = json.loads(rethread.run("sync", "--json"))["agents"]
    compare.equal("a second sync reads nothing", 0, sum(agent["entries"] + agent["filesChanged"] for agent in again))
    compare.equal("warnings", [], [warning for agent in again for warning in agent["warnings"]])
    other = ["--home", str(rethread.home / "at-once")]
    if client.is_private:
        other += ["-c", f"intake.agents={json.dumps([client.agent])}"]
    rethread.run(*other, "sync")
    sessions = json.loads(rethread.run(*other, "sessions", "--all-projects", "--children", "--json"))["sessions"]
    whole = [one for one in sessions if one["externalId"] == session["externalId"]]
    counts = ("prompts", "messages", "toolCalls", "toolErrors", "filesEdited", "tokens", "costUsd", "name", "model", "startedAt")
    counts += ("lastActivityAt",) if client.stores_times else ()
    compare.equal("the same if it is read at once", [{name: session[name] for name in counts}], [{name: one[name] for name in counts} for one in whole])


def compare_compaction(compare, client, rethread, session):
    """A compaction writes a summary and repeats what was said. Neither is a prompt."""
    command = client.compact()
    if not command:
        return
    step(f"{client.label}: after a compaction")
    client.run(command, answers=False)
    rethread.run("sync")
    entries = entries_of(rethread, session)
    compare.equal("the user's prompts", client.prompts(), [entry["text"] for entry in entries if entry["kind"] == "prompt"])
    compare.equal("summaries", 1, sum(entry["kind"] == "summary" for entry in entries))
    compare.equal("calls", client.call_count(), sum(entry["kind"] == "call" for entry in entries))


def compare_fork(compare, client, rethread):
    """A copy of a session repeats its entries. They count once."""
    command = client.fork(FORK)
    if not command:
        return
    step(f"{client.label}: a copy of the session counts only what is new in it")
    try:
        client.run(command)
    finally:
        client.close()
    rethread.run("sync")
    sessions = json.loads(rethread.run("sessions", "--all-projects", "--json"))["sessions"]
    compare.equal("sessions", 2, len(sessions))
    compare.equal("prompts of both", 3, sum(one["prompts"] for one in sessions))
    compare.equal("tool calls of both", client.call_count(), sum(one["toolCalls"] for one in sessions))
    answers = Conversation(client).answers()
    found = {kind: sum(one["tokens"][kind] for one in sessions) for kind in client.usage}
    compare.equal(f"tokens of {answers} answers", client.tokens(answers), found)
    compare.holds("search finds the new prompt", "whisper" in rethread.run("search", "--all-projects", "whisper", fine=(0, 1)))
