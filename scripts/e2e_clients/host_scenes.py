"""One host beside another: what it learns, when, how often, and what is left of it."""
import json, re, shutil

from .checks import (ACTIVITY, BAROMETER, CHECK, FIX_LINE, KETTLE, ORCHARD, OURS, REFERENCES, SEXTANT, Failed, step)
from .clients.base import TASK, Step
from .existing_files import write_existing
from .file_copies import FileCopies, left_over
from .host_chat import chat_with
from .host_faults import faults
from .hosts import HOSTS, NEXT_PROMPT, NEXT_TOOL
from .injections import injections, offers, pieces, repeated
from .reading_scenes import Comparison, entries_of

NOTICE = "before this edit"


class Scene:
    """Two clients in one project: `a` works, `b` is the host under test."""

    def __init__(self, all, name):
        self.host, self.rethread, self.home = HOSTS[name], all.rethread, all.home
        # A copy that can be taken away.
        copy = self.home / "bin" / "rethread"
        copy.parent.mkdir()
        self.rethread.binary = str(shutil.copy2(self.rethread.binary, copy))
        supported(self.rethread, name)
        self.other = "pi" if name == "claude-code" else "claude-code"
        self.b_client, self.a_client = all.client(self.host.client), all.client(HOSTS[self.other].client)
        self.a, self.b = chat_with(self.a_client), chat_with(self.b_client)
        self.compare, self.label, self.project = Comparison(), self.b_client.label, self.rethread.project
        (self.project / "check.sh").write_text(CHECK)
        (self.project / "harbour.txt").write_text("low tide\n")

    def said(self, words, turns=None):
        """In how many places our texts said something, in all requests of some turns."""
        return len({(one.anchor, one.role) for turn in turns or self.b.turns for one in self.b.found_in(turn) if words in one.text})

    def last(self, words):
        """How often the last request has it in our texts. Names of sessions begin with a capital."""
        ours = injections(self.b.turns[-1].requests[-1], self.b.prompts())
        return sum(one.text.lower().count(words.lower()) for one in ours)


def supported(rethread, name):
    """Fails if the binary cannot be installed into a host."""
    listed = rethread.run("install", "--help", quiet=True)
    if not re.search(rf"- {name}:", listed):
        raise Failed(f"this binary cannot be installed into {name}; `rethread install --help` does not list it")


def run(all, name):
    scene = Scene(all, name)
    try:
        installed(scene)
        learns(scene)
        gets_fix(scene)
        gets_notice(scene)
        gets_reference(scene)
        sub_agent(scene)
        calls_tool(scene)
        not_twice(scene)
        scene.b.close()
        not_read_back(scene)
        faults(scene)
        uninstalled(scene)
    finally:
        scene.b.close()
        scene.b_client.close()
    scene.compare.finish()


def installed(scene):
    step(f"{scene.label}: runs without us, then the hooks and tools are installed")
    write_existing(scene.home, scene.host.name)
    chat = chat_with(scene.b_client)
    turn = chat.say("open the shutters")
    chat.close()
    scene.plain_output, scene.before = turn.output, FileCopies(scene.home)
    scene.compare.equal("texts of ours before the installation", 0, len(chat.found_in(turn)))
    if scene.b_client.is_private:
        scene.rethread.run("config", "set", "intake.agents", json.dumps([scene.a_client.agent, scene.b_client.agent]))
    install(scene, scene.host)
    scene.installed = FileCopies(scene.home)
    scene.compare.holds(f"files changed: {scene.installed.changed_since(scene.before)}", bool(scene.installed.changed_since(scene.before)))
    scene.compare.equal("installing again changes nothing", [], FileCopies(scene.home).changed_since(install(scene, scene.host)))
    scene.rethread.run("install", scene.other)


def install(scene, host):
    has_mcp = host.tool and "--mcp" in scene.rethread.run("install", "--help", quiet=True)
    scene.rethread.run("install", host.name, *(["--mcp"] if has_mcp else []))
    return FileCopies(scene.home)


def work(scene, prompt, *steps):
    """The other client works."""
    scene.a.say(prompt, *steps)


def learns(scene):
    client = scene.a_client
    step(f"{client.label} edits a file, a command fails, it fixes it; {scene.label} learns it once")
    check = client.running("sh check.sh")
    work(scene, SEXTANT, client.reading("notes.txt"), client.editing("notes.txt", "hello world", "hello there"), check, client.running("mkdir greased"), check)
    (scene.project / "greased").rmdir()
    scene.sound_output = scene.b.say(KETTLE).output
    scene.compare.equal("activity with the first prompt", 1, scene.last(ACTIVITY))
    scene.compare.equal("it names the other session once", 1, scene.last(SEXTANT))
    scene.compare.equal("and the file", True, scene.last("notes.txt") > 0)
    turn = scene.b.say("and the lid")
    scene.compare.equal("the second prompt adds nothing", [], scene.b.new_items())
    prompt_is_there = [prompt for prompt in scene.b.prompts() if any(prompt in text for role, text in pieces(turn.requests[-1]) if role == "user")]
    scene.compare.equal("the model has both prompts", scene.b.prompts(), prompt_is_there)


def gets_fix(scene):
    step(f"{scene.label}: a command that fails as the other's did brings the fix, {scene.host.fix}, once")
    client = scene.b_client
    check, fine = client.running("sh check.sh"), client.running("echo fine")
    turn = scene.b.say("try the gate", check, *([fine] if scene.host.fix == NEXT_TOOL else []), check, *([fine] if scene.host.fix == NEXT_TOOL else []))
    results = [text for role, text in pieces(turn.requests[-1]) if role == "result" and "sluice gate squeaks" in text]
    scene.compare.holds(f"the command failed {len(results)} times", len(results) >= 2)
    if scene.host.fix == NEXT_PROMPT:
        scene.compare.equal("not before the next prompt", 0, scene.last(FIX_LINE))
        scene.b.say("and the hinge")
    scene.compare.equal("the fix", 1, scene.last(FIX_LINE))
    scene.b.say("and the bolt")
    scene.compare.equal("in one place of the conversation", 1, scene.said(FIX_LINE))


def gets_notice(scene):
    if not scene.host.collision:
        return
    step(f"{scene.label}: an edit of a file that the other changed a moment ago brings a notice, {scene.host.collision}, once")
    other, client = scene.a_client, scene.b_client
    work(scene, BAROMETER, other.reading("harbour.txt"), other.editing("harbour.txt", "low tide", "high tide"))
    scene.b.say("raise the water", client.editing("harbour.txt", "high tide", "spring tide"))
    if scene.host.collision == NEXT_PROMPT:
        scene.compare.equal("not before the next prompt", 0, scene.last(NOTICE))
        scene.b.say("and the ebb")
    scene.compare.equal("the notice", 1, scene.last(NOTICE))
    if scene.host.has_prompts:
        scene.compare.equal("the other's new prompt is in the activity", 1, scene.said(BAROMETER))


def gets_reference(scene):
    if not scene.host.has_prompts:
        return
    step(f"{scene.label}: @@name brings the summary, once")
    scene.rethread.run("alias", scene.a.session, "sextant-log")
    scene.b.say("paint it as in @@sextant-log and not as in @@nowhere")
    scene.compare.equal("the summary", 1, scene.last(REFERENCES))
    scene.compare.equal("the unknown reference is not mentioned", 0, scene.last("@@nowhere"))


def sub_agent(scene):
    delegating = scene.b_client.delegating(TASK)
    if not delegating:
        return
    step(f"{scene.label}: a sub-agent's prompt brings nothing")
    work(scene, ORCHARD)
    waiting = [scene.b_client.running("sleep 8")] if scene.host.delegates_in_background else []
    turn = scene.b.say("send a helper", delegating, *waiting)
    inside = [body for body in turn.others if TASK in json.dumps(body) and "send a helper" not in json.dumps(body)]
    scene.compare.holds(f"requests of the sub-agent: {len(inside)}", bool(inside))
    scene.compare.equal("texts of ours in them", [], [one.text for body in inside for one in injections(body, scene.b.prompts())])
    scene.compare.equal("the session itself learned what is new", 1, scene.said(ORCHARD))


def calls_tool(scene):
    if not scene.host.tool:
        return
    step(f"{scene.label}: the MCP server's tool is offered as {scene.host.tool}, and a call works")
    call = Step(scene.host.tool, {"query": "sextant"}, "sextant")
    first = [scene.host.finding] if scene.host.finding else [scene.b_client.running("sleep 3")] if scene.host.tool_may_be_late else []
    chat = chat_with(scene.b_client)
    turn = chat.say("search the attic", *first, call)
    chat.close()
    name = scene.host.tool.rpartition("::")[2]
    results = [text for role, text in pieces(turn.requests[-1]) if role == "result"]
    is_offered = name in offers(turn.requests[-1])
    if scene.host.finding:
        scene.compare.holds("the client's search finds the tool", any(name.rpartition("_")[0] in text or "search_memory" in text for text in results))
    else:
        scene.compare.holds("the tool is offered", is_offered)
    # The fake model can only call what a request lists.
    if is_offered:
        scene.compare.holds("the call found the other session", any("sextant" in text and "rethread-context" in text for text in results))


def not_twice(scene):
    step(f"{scene.label}: nothing was injected twice")
    scene.compare.equal("repeated", [], repeated(scene.b.requests(), scene.b.prompts()))


def not_read_back(scene):
    step(f"{scene.label}: the session is read once, with its own prompts and nothing of ours")
    scene.rethread.run("sync")
    sessions = json.loads(scene.rethread.run("sessions", "--all-projects", "--json", quiet=True))["sessions"]
    ours = [one for one in sessions if one["externalId"] == scene.b.session]
    scene.compare.equal("sessions with its ID", 1, len(ours))
    agents = sorted(one["agent"] for one in sessions)
    scene.compare.holds(f"sessions: {agents}", agents.count(scene.a_client.agent) == 1 and agents.count(scene.b_client.agent) == 2 + bool(scene.host.tool))
    for one in ours:
        entries = entries_of(scene.rethread, one)
        prompts = [entry["text"] for entry in entries if entry["kind"] == "prompt"]
        scene.compare.equal("prompts", [prompt[:30] for prompt in scene.b.prompts()], [prompt[:30].partition(",")[0] for prompt in prompts])
        scene.compare.equal("prompts as counted", len(scene.b.turns), one["prompts"])
    for one in (one for one in sessions if one["agent"] == scene.b_client.agent):
        entries = json.dumps(entries_of(scene.rethread, one))
        found = [words for words in (OURS, ACTIVITY, REFERENCES, NOTICE, FIX_LINE, "Records of what happened") if words in entries]
        scene.compare.equal(f"our texts in the entries of {one['name']!r}", [], found)
    for words in ("Session Activity", NOTICE):
        found = json.loads(scene.rethread.run("search", "--all-projects", "--json", f'"{words}"', fine=(0, 1), quiet=True))
        scene.compare.equal(f'hits with "{words}"', [], [hit for hit in found["hits"] if words in json.dumps(hit)])


def uninstalled(scene):
    step(f"{scene.label}: uninstalling restores the files")
    last = FileCopies(scene.home)
    scene.rethread.run("uninstall", scene.host.name)
    rewritten = [name for name in scene.installed.changed_since(scene.before) if last.files.get(name) != scene.installed.files[name]]
    print(f"  written by the client since: {rewritten}", flush=True)
    scene.compare.equal("differences", [], left_over(scene.home, scene.before, scene.installed, last))
    chat = chat_with(scene.b_client)
    turn = chat.say("close the shutters")
    chat.close()
    scene.compare.equal("texts of ours", 0, len(chat.found_in(turn)))
