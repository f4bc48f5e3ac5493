"""SIGKILL of nodes and of PostgreSQL in random order while writers append."""

import random
import time

from .writers import Acknowledgements, Writers, check_logs, not_found, sample_of

NODES = 3
# Of ten kills, so many hit PostgreSQL.
POSTGRES_OF_TEN = 3
# Messages that must be acknowledged between two kills, so that each hits running work.
MESSAGES_PER_ROUND = 12
SEARCHED = 150


def run(team):
    with team.cluster() as cluster, team.nodes(cluster, NODES) as nodes:
        acknowledged = Acknowledgements(team.folder / "acknowledged.jsonl")
        chosen, kills, slowest = random.Random(team.seed), {"node": 0, "postgres": 0}, 0
        with Writers(nodes, acknowledged) as writers:
            for _ in range(team.rounds):
                begun = time.monotonic()
                writers.wait_for(MESSAGES_PER_ROUND, seconds=60)
                time.sleep(chosen.random() * 0.1)
                if chosen.randrange(10) < POSTGRES_OF_TEN:
                    cluster.kill()
                    cluster.start()
                    kills["postgres"] += 1
                else:
                    node = chosen.choice(nodes)
                    node.kill()
                    node.begin()
                    node.wait()
                    kills["node"] += 1
                slowest = max(slowest, time.monotonic() - begun)
            writers.wait_for(MESSAGES_PER_ROUND, seconds=60)
        team.require(not writers.errors, f"writers: {writers.errors[:3]}")
        return report(team, nodes, acknowledged, writers, kills, slowest)


def report(team, nodes, acknowledged, writers, kills, slowest):
    rows = acknowledged.rows
    problems, threads, stored = check_logs(nodes[0], rows)
    verified = nodes[0].run("debug", "verify", codes=None)
    missing = [len(not_found(node, sample_of(rows, SEARCHED))) for node in nodes]
    slow = max(row["seconds"] for row in rows)
    team.say(f"answers: {dict(sorted(writers.client.statistics.items(), key=lambda item: -item[1]))}")
    team.require(problems == {"lost": 0, "duplicates": 0, "gaps": 0}, str(problems))
    team.require(verified.returncode == 0, f"debug verify: {verified.stdout}{verified.stderr}")
    team.require(not any(missing), f"not found by nodes: {missing} of {len(sample_of(rows, SEARCHED))}")
    return (f"{kills['node']} nodes and {kills['postgres']} servers killed, {len(rows)} acknowledged in {threads} threads, "
            f"{stored} stored, {problems}, verify clean, {len(sample_of(rows, SEARCHED))} searched on {NODES} nodes, "
            f"slowest append {slow:.1f} s, slowest round {slowest:.1f} s")
