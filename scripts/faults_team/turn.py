"""Two nodes that run turns of one thread, and a node that is killed in the middle of an answer."""

import threading
import time

from .fake_model import FakeModel
from .nodes import Client, Failed
from .writers import create_thread, records_of, text_of

TURNS = 6
# A lease lasts 20 seconds.
TAKEN_OVER_WITHIN = 40


def run(team):
    with team.cluster() as cluster, FakeModel(words=8, pause=0.05) as model:
        with team.nodes(cluster, 2, options=model.settings()) as nodes:
            contended = contend(team, model, nodes)
            twice = sent_to_both(team, model, nodes)
            model.words, model.pause = 400, 0.1
            return f"{contended}; {twice}; {killed(team, model, nodes)}"


def send(node, thread, text, answers, **more):
    try:
        answers.append(node.request("POST", f"/api/sessions/{thread}/messages", {"text": text, **more}, timeout=90))
    except OSError as error:
        answers.append((0, str(error)))


def in_parallel(calls):
    workers = [threading.Thread(target=call[0], args=call[1:]) for call in calls]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def contend(team, model, nodes):
    """Turns sent to both nodes at once run one after the other."""
    thread, answers = create_thread(Client(nodes, threading.Event()), "contended"), []
    in_parallel([(send, nodes[number % 2], thread, f"question {number}", answers) for number in range(TURNS)])
    team.require([status for status, _ in answers] == [200] * TURNS, f"turns: {answers}")
    team.require(model.most == 1, f"{model.most} answers at the same time")
    roles = [record["role"] for record in records_of(nodes[0].export(thread)) if record["recordType"] == "message"]
    team.require(roles == ["user", "assistant"] * TURNS, f"order of the log: {roles}")
    return f"{TURNS} turns of one thread on two nodes: never two at a time"


def sent_to_both(team, model, nodes):
    """One turn with a client id, sent to both nodes at once, runs once."""
    thread, answers, before = create_thread(Client(nodes, threading.Event()), "twice"), [], model.answers
    in_parallel([(lambda node: send(node, thread, "once", answers, clientId="once"), node) for node in nodes])
    team.require([status for status, _ in answers] == [200, 200], f"a turn sent to both nodes: {answers}")
    runs = {answer["runId"] for _, answer in answers}
    team.require(model.answers == before + 1 and len(runs) == 1, f"a turn ran {model.answers - before} times: {answers}")
    return "one sent to both nodes ran once"


def killed(team, model, nodes):
    """The node that runs a turn is killed. The next turn on another node stores the partial answer, once."""
    thread, answers = create_thread(Client(nodes, threading.Event()), "killed"), []
    first = threading.Thread(target=send, args=(nodes[0], thread, "write a long story", answers))
    first.start()
    wait_for(lambda: model.running == 1, 10)
    time.sleep(3)
    nodes[0].kill()
    begun = time.monotonic()
    model.words, second = 5, []
    send(nodes[1], thread, "and then?", second)
    waited = time.monotonic() - begun
    first.join()
    team.require(second[0][0] == 200, f"the turn after it: {second}")
    team.require(waited < TAKEN_OVER_WITHIN, f"taken over only after {waited:.0f} s")
    messages = [record for record in records_of(nodes[1].export(thread)) if record["recordType"] == "message"]
    shape = [(message["role"], message.get("stopReason")) for message in messages]
    team.require(shape == [("user", None), ("assistant", "aborted"), ("user", None), ("assistant", "end")], f"log: {shape}")
    partial = text_of(messages[1]).split()
    team.require(len(partial) > 10 and partial == [f"{partial[0][:-2]}w{number}" for number in range(len(partial))],
                 f"partial answer: {partial}")
    nodes[0].begin()
    nodes[0].wait()
    again = records_of(nodes[0].export(thread))
    team.require(sum(text_of(record).startswith(partial[0]) for record in again if record["recordType"] == "message") == 1,
                 "the partial answer is stored more than once")
    return f"killed in mid-answer: taken over after {waited:.1f} s, {len(partial)} words of the partial answer stored once"


def wait_for(holds, seconds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Failed("the model was not asked")
        time.sleep(0.05)
