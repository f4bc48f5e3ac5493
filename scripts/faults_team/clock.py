"""Nodes with wrong clocks: one an hour late, one ten years ahead."""

import glob
import json
import threading

from .fake_model import FakeModel
from .nodes import Client, Node, Skipped
from .turn import in_parallel, send
from .writers import create_thread, records_of, text_of

MESSAGES = 30
DAY = 24 * 60 * 60


def run(team):
    library = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
    if not library:
        raise Skipped("libfaketime is missing: install the package faketime")
    offsets = {"late": "-1h", "right": None, "ahead": "+3650d"}
    with team.cluster() as cluster, FakeModel(words=5, pause=0.05) as model:
        nodes = {}
        try:
            for name, offset in offsets.items():
                fake = {"LD_PRELOAD": library, "FAKETIME": offset} if offset else {}
                node = Node(team.binary, team.folder / name, cluster.url("acme"), **fake)
                node.options = model.settings()
                first = next(iter(nodes.values()), None)
                nodes[name] = node.start(*(() if first else ("--migrate",)), token=first.token if first else None)
            return "; ".join([order(team, nodes), turns(team, model, nodes), tokens(team, cluster, nodes)])
        finally:
            for node in nodes.values():
                node.stop()


def order(team, nodes):
    """Messages are in the order in which they were appended, whatever the clocks say."""
    everyone = list(nodes.values())
    thread = create_thread(Client(everyone, threading.Event()), "clocks")
    for number in range(MESSAGES):
        status, answer = everyone[number % 3].request(
            "POST", f"/api/sessions/{thread}/messages", {"role": "user", "content": f"message {number}"})
        team.require(status == 201 and answer["record"]["seq"] == number + 1, f"append {number}: {status} {answer}")
    records = [record for record in records_of(everyone[0].export(thread)) if record["recordType"] == "message"]
    team.require([text_of(record) for record in records] == [f"message {number}" for number in range(MESSAGES)], "wrong order")
    years = {record["timestamp"][:4] for record in records}
    for name, node in nodes.items():
        page = node.get(f"/api/sessions/{thread}/records?limit=1000")
        shown = [record["seq"] for record in page["records"] if record.get("recordType") == "message"]
        team.require(shown == list(range(1, MESSAGES + 1)), f"{name} shows {shown}")
    return f"{MESSAGES} messages of three nodes in order of seq, with timestamps of the years {', '.join(sorted(years))}"


def turns(team, model, nodes):
    """Leases use the clock of the database: no node takes over the turn of one that is alive."""
    thread, answers = create_thread(Client(list(nodes.values()), threading.Event()), "turns"), []
    in_parallel([(send, node, thread, f"question of {name}", answers) for name, node in nodes.items()])
    team.require([status for status, _ in answers] == [200] * 3, f"turns: {answers}")
    team.require(model.most == 1, f"{model.most} answers at the same time")
    return "3 turns one at a time"


def tokens(team, cluster, nodes):
    """Which clock decides when a token expires."""
    program = team.program(cluster.url("acme"), "admin")
    token = json.loads(program("admin", "member", "add", "short", "--role", "member", "--expires", "1", "--space", "acme",
                               "--json"))["token"]
    accepted = {name: node.request("GET", "/api/sessions", token=token)[0] for name, node in nodes.items()}
    team.require(accepted["right"] == 200 and accepted["late"] == 200, f"a token that is valid for a day: {accepted}")
    clock = "the node's clock" if accepted["ahead"] == 401 else "the database's clock"
    return f"a token for one day expires by {clock}: {accepted}"
