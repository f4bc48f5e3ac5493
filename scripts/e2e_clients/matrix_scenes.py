"""Every pair of hosts in a project of its own: each learns once what the other did, and gets its fix."""
import itertools, json, subprocess, time

from .checks import ACTIVITY, KETTLE, SEXTANT, Failed, step
from .host_chat import chat_with
from .host_scenes import supported
from .hosts import HOSTS, MATRIX, NEXT_PROMPT, NEXT_TOOL
from .injections import repeated
from .reading_scenes import Comparison

# Two commands that fail until a folder exists, one for each direction.
GATE = ("gate.sh", "greased", "the sluice gate squeaks")
WINCH = ("winch.sh", "oiled", "the winch is stuck")


class Side:
    """One of two hosts in a project."""

    def __init__(self, host, client):
        self.host, self.client, self.chat = host, client, chat_with(client)

    def said(self, words):
        """In how many places of the conversation our texts said something."""
        return len({(one.anchor, one.role) for turn in self.chat.turns for one in self.chat.found_in(turn) if words in one.text})


def run(all, names):
    names = names or MATRIX
    for name in names:
        supported(all.rethread, name)
    clients = {name: all.client(HOSTS[name].client) for name in names}
    for name in names:
        all.rethread.run("install", name)
    if private := [client.agent for client in clients.values() if client.is_private]:
        all.rethread.run("config", "set", "intake.agents", json.dumps([client.agent for client in clients.values() if client.agent not in private] + private))
    results, began = {}, time.monotonic()
    try:
        for first, second in itertools.combinations(names, 2):
            pair(all, clients, results, first, second)
    finally:
        for client in clients.values():
            client.close()
    table(names, results)
    print(f"\n{len(results)} directions in {time.monotonic() - began:.0f} s", flush=True)
    if failed := [f"{a} -> {b}: {'; '.join(problems)}" for (a, b), problems in results.items() if problems]:
        raise Failed("\n  ".join(["the matrix has failures", *failed]))


def pair(all, clients, results, first, second):
    step(f"{first} and {second}")
    project = all.home / f"{first}-{second}"
    new_project(project)
    a, b = [Side(HOSTS[name], clients[name]) for name in (first, second)]
    forward, backward = Comparison(), Comparison()
    try:
        for side in (a, b):
            side.client.project = project
        talk(a, b, forward, backward, project)
    except (Failed, OSError, KeyError, IndexError, StopIteration) as failed:
        forward.differences.append(f"ended early: {failed}")
        backward.differences.append(f"ended early: {failed}")
    finally:
        for side in (a, b):
            side.chat.close()
    results[first, second], results[second, first] = forward.differences, backward.differences


def new_project(project):
    subprocess.run(["git", "init", "-q", "-b", "main", project], check=True)
    (project / "notes.txt").write_text("hello world\n")
    (project / "harbour.txt").write_text("low tide\n")
    for script, folder, error in (GATE, WINCH):
        (project / script).write_text(f'if test -d {folder}; then echo fine; else echo "error: {error}" >&2; exit 1; fi\n')
    git = ["git", "-C", project, "-c", "user.name=e2e", "-c", "user.email=e2e@example.org"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "notes"], check=True)


def talk(a, b, forward, backward, project):
    """Four prompts, two of each: A works; B learns it, fails alike and works; A learns that and fails alike; B learns nothing again."""
    a.chat.say(SEXTANT, *working(a, "notes.txt", "hello world", "hello there", GATE))
    (project / GATE[1]).rmdir()
    b.chat.say(KETTLE, *failing(b, GATE), *working(b, "harbour.txt", "low tide", "high tide", WINCH))
    (project / WINCH[1]).rmdir()
    learned(forward, b, SEXTANT, "notes.txt")
    a.chat.say("and the mirror", *failing(a, WINCH))
    learned(backward, a, KETTLE, "harbour.txt")
    b.chat.say("and the lid")
    if a.host.fix == NEXT_PROMPT:
        a.chat.say("and the frame")
    for compare, side, (_, folder, _), other in ((forward, b, GATE, SEXTANT), (backward, a, WINCH, KETTLE)):
        compare.equal(f"{side.client.label} got the fix", 1, side.said(f"ran `mkdir {folder}`"))
        compare.equal(f"{side.client.label} learned it once", 1, side.said(f'"{other}'))
        compare.equal(f"{side.client.label}: repeated", [], repeated(side.chat.requests(), side.chat.prompts()))


def working(side, file, old, new, check):
    """Calls that edit a file, fail, fix it and succeed."""
    client, (script, folder, _) = side.client, check
    return [client.reading(file), client.editing(file, old, new), client.running(f"sh {script}"), client.running(f"mkdir {folder}"), client.running(f"sh {script}")]


def failing(side, check):
    after = [side.client.running("echo fine")] if side.host.fix == NEXT_TOOL else []
    return [side.client.running(f"sh {check[0]}"), *after]


def learned(compare, side, prompt, file):
    """The last prompt brought the other's session."""
    new = "\n".join(side.chat.new_items())
    compare.holds(f"{side.client.label} learned of {prompt!r} and {file} with its prompt", f'"{prompt}' in new and file in new)
    texts = [one.text for one in side.chat.found_in(side.chat.turns[-1])]
    compare.holds("as activity", any(ACTIVITY in text for text in texts))


def table(names, results):
    step("rows work first, columns learn it")
    width = max(map(len, names)) + 2
    print(" " * width + "".join(f"{name:<{width}}" for name in names))
    for a in names:
        cells = ["–" if (a, b) not in results else "failed" if results[a, b] else "ok" for b in names]
        print(f"{a:<{width}}" + "".join(f"{cell:<{width}}" for cell in cells), flush=True)
