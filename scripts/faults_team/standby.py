"""The primary is killed and its standby promoted while writers append: with a synchronous standby and without."""

import contextlib
import time

from .cluster import Cluster
from .nodes import Failed
from .writers import Acknowledgements, Writers, check_logs, not_found, sample_of

ROUNDS = 3
MESSAGES = 60
NAME = "standby"


def run_synchronous(team):
    slowest, acknowledged = 0, 0
    for number in range(ROUNDS):
        result = fail_over(team, number, is_synchronous=True)
        team.require(result["problems"] == {"lost": 0, "duplicates": 0, "gaps": 0}, str(result["problems"]))
        team.require(not result["missing"], f"not found by nodes: {result['missing']}")
        slowest, acknowledged = max(slowest, result["slowest"]), acknowledged + result["acknowledged"]
    return f"{ROUNDS} fail-overs, {acknowledged} acknowledged, 0 lost, all found on both nodes, longest wait {slowest:.1f} s"


def run_asynchronous(team):
    result = fail_over(team, 0, is_synchronous=False)
    # What PostgreSQL lost is the price of an asynchronous standby, but nothing else may be wrong.
    problems = {key: value for key, value in result["problems"].items() if key != "lost"}
    team.require(not any(problems.values()), str(result["problems"]))
    team.require(not result["missing"], f"written after the fail-over, not found by nodes: {result['missing']}")
    return (f"1 fail-over with a standby that was {result['behind']} messages behind, {result['acknowledged']} acknowledged, "
            f"{result['problems']['lost']} lost with the primary, {result['after']} written after it are stored and found, "
            f"longest wait {result['slowest']:.1f} s")


def fail_over(team, number, is_synchronous):
    kind = "sync" if is_synchronous else "async"
    settings = {"synchronous_standby_names": NAME} if is_synchronous else {}
    primary = Cluster(team.folder, f"primary-{kind}-{number}")
    standby = Cluster(team.folder, f"standby-{kind}-{number}")
    with contextlib.ExitStack() as stack:
        stack.callback(standby.stop)
        stack.callback(primary.stop)
        primary.create()
        standby.copy(primary, name=NAME)
        set_options(primary, settings)
        both = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        url = primary.url("acme", host=both, target_session_attrs="read-write")
        nodes = stack.enter_context(team.nodes(primary, 2, url=url))
        acknowledged = Acknowledgements(team.folder / f"acknowledged-{kind}-{number}.jsonl")
        with Writers(nodes, acknowledged) as writers:
            writers.wait_for(MESSAGES, seconds=60)
            behind = 0 if is_synchronous else fall_behind(standby, writers)
            primary.kill()
            if behind:
                standby.start(until="SELECT pg_is_in_recovery()")
            standby.promote()
            at = len(acknowledged)
            writers.wait_for(MESSAGES, seconds=90)
        team.require(not writers.errors, f"writers: {writers.errors[:3]}")
        problems, _, _ = check_logs(nodes[0], acknowledged.rows)
        # A message under way during the fail-over may belong to either side.
        searched = sample_of(acknowledged.rows if is_synchronous else acknowledged.rows[at + 8:], 60)
        missing = [len(not_found(node, searched)) for node in nodes]
        return {"problems": problems, "acknowledged": len(acknowledged), "behind": behind, "after": len(acknowledged) - at,
                "missing": missing if any(missing) else None, "slowest": max(row["seconds"] for row in acknowledged.rows)}


def set_options(primary, settings):
    for name, value in settings.items():
        primary.sql(f"ALTER SYSTEM SET {name} = '{value}'", database="postgres")
    if settings:
        primary.sql("SELECT pg_reload_conf()", database="postgres")
        end = time.monotonic() + 20
        while primary.sql("SELECT sync_state FROM pg_stat_replication", database="postgres") != "sync":
            if time.monotonic() > end:
                raise Failed("the standby did not become synchronous")
            time.sleep(0.05)


def fall_behind(standby, writers):
    """Stops the standby, so that it misses some messages. It starts again once the primary is gone."""
    standby.stop()
    before = len(writers.acknowledged)
    writers.wait_for(MESSAGES // 2, seconds=60)
    return len(writers.acknowledged) - before
