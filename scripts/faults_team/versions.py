"""A schema that is newer or older than the program."""

import time

from .nodes import Failed, Node
from .writers import create_thread, Client
import threading

# A node trusts the version for a second.
NOTICED_WITHIN = 5


def run(team):
    with team.cluster() as cluster, team.nodes(cluster, 2) as nodes:
        version = int(cluster.sql("SELECT version FROM schema_version"))
        thread = create_thread(Client(nodes, threading.Event()), "versions")
        results = []
        for name, found in (("newer", version + 1), ("two versions older", version - 2)):
            cluster.sql(f"UPDATE schema_version SET version = {found}")
            results.append(f"{name}: {refused(team, cluster, nodes, thread, found)}")
            cluster.sql(f"UPDATE schema_version SET version = {version}")
            wait_for(201, nodes[0], thread)
            wait_for(201, nodes[1], thread)
        return "; ".join([*results, "running nodes go on once the version fits", migrated(team, cluster)])


def append(node, thread):
    return node.request("POST", f"/api/sessions/{thread}/messages", {"role": "user", "content": "hello"})


def refused(team, cluster, nodes, thread, found):
    """Running nodes refuse reads and writes, and say only that. Commands and new nodes refuse too, and name both versions."""
    begun = time.monotonic()
    for node in nodes:
        wait_for(503, node, thread)
    noticed = time.monotonic() - begun
    requests = {"write": append(nodes[0], thread), "search": nodes[0].request("GET", "/api/search?query=hello"),
                "list": nodes[0].request("GET", "/api/sessions"), "create": nodes[0].request("POST", "/api/sessions", {}),
                "thread": nodes[0].request("GET", f"/api/sessions/{thread}/records"),
                "status": nodes[0].request("GET", "/api/status")}
    for name, (status, body) in requests.items():
        code = (body or {}).get("error", {}).get("code")
        team.require(status == 503 and code in ("store-newer", "store-outdated"), f"{name} with schema {found}: {status} {body}")
    program = team.program(cluster.url("acme"), "command")
    for command in (["sessions", "--all-projects"], ["search", "hello"], ["thread", "append", thread, "--role", "user"]):
        done = program.run(*command, text="hello", codes=None)
        team.require(done.returncode == 3 and f"schema {found}" in done.stderr,
                     f"{command} with schema {found}: exit {done.returncode}, {done.stderr}")
    node = Node(team.binary, team.folder / "late", cluster.url("acme"))
    node.begin()
    code = node.process.wait(30)
    message = node.log.read_text().strip().splitlines()
    team.require(code == 3 and f"schema {found}" in message[-2] + message[-1], f"a new node: exit {code}, {message}")
    return f"503 within {noticed:.1f} s for {len(requests)} kinds of requests, exit 3 for commands and for a new node"


def migrated(team, cluster):
    """A database without a schema is refused until a node migrates it."""
    cluster.sql("CREATE DATABASE fresh", database="postgres")
    url = cluster.url("acme", database="fresh")
    node = Node(team.binary, team.folder / "fresh", url)
    node.begin()
    team.require(node.process.wait(30) == 3, "a node started on a database without a schema")
    try:
        node.start("--migrate")
        team.require(node.request("POST", "/api/sessions", {})[0] == 201, "no thread after --migrate")
    finally:
        node.stop()
    return "an empty database is refused until serve --migrate"


def wait_for(status, node, thread):
    """Waits until a node answers an append with this status."""
    end = time.monotonic() + NOTICED_WITHIN
    while (answer := append(node, thread))[0] != status:
        if time.monotonic() > end:
            raise Failed(f"a running node did not notice within {NOTICED_WITHIN} s: {answer}")
        time.sleep(0.05)
