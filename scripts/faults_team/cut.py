"""Connections cut in the middle of transactions while writers append and a sync runs."""

import threading

from . import transcripts
from .nodes import Failed
from .writers import Acknowledgements, Writers, check_logs

# Every so often one connection of a node or a command is cut, whatever it does.
CUT = """SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
    WHERE application_name = 'rethread' ORDER BY random() LIMIT 1) AS chosen \\watch 0.3
"""
# One writer of several is cut while it holds locks.
CUT_TRANSACTION = """SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
    WHERE application_name = 'rethread' AND backend_xid IS NOT NULL ORDER BY random() LIMIT 1) AS chosen \\watch 0.2
"""
NOW = "2026-04-01T00:00:00Z"
SYNCS = 30
MESSAGES = 400


def run(team):
    with team.cluster() as cluster, team.nodes(cluster, 2) as nodes:
        calm = team.program(cluster.url("calm"), "calm", RETHREAD_NOW=NOW)
        disturbed = team.program(cluster.url("disturbed"), "disturbed", RETHREAD_NOW=NOW)
        for program in (calm, disturbed):
            transcripts.write(program.home)
        calm("sync")
        acknowledged = Acknowledgements(team.folder / "acknowledged.jsonl")
        before = int(cluster.sql("SELECT sessions_killed FROM pg_stat_database WHERE datname = 'rethread'"))
        pipes = [cluster.begin_sql(CUT), cluster.begin_sql(CUT_TRANSACTION)]
        try:
            with Writers(nodes, acknowledged) as writers:
                failed = sync_until_done(disturbed)
                writers.wait_for(MESSAGES, seconds=120)
        finally:
            for pipe in pipes:
                pipe.kill()
                pipe.wait()
        cuts = wait_for_count(cluster, before)
        team.require(not writers.errors, f"writers: {writers.errors[:3]}")
        problems, threads, stored = check_logs(nodes[0], acknowledged.rows)
        team.say(f"answers: {dict(sorted(writers.client.statistics.items(), key=lambda item: -item[1]))}")
        team.say(f"syncs that failed: {failed}")
        team.require(problems == {"lost": 0, "duplicates": 0, "gaps": 0}, str(problems))
        differences = compare(calm, disturbed)
        team.require(not differences, f"the synced stores differ in {differences}")
        disturbed("debug", "verify")
        return (f"{cuts} connections cut, {len(acknowledged)} acknowledged in {threads} threads, {stored} stored, {problems}, "
                f"sync done after {len(failed)} failed runs, 0 differences to an undisturbed one")


def sync_until_done(program):
    """Runs a sync until it succeeds. Returns the messages of those that failed."""
    failed = []
    for _ in range(SYNCS):
        done = program.run("sync", codes=None)
        if done.returncode == 0:
            return failed
        failed.append(done.stderr.strip().splitlines()[:2])
    raise Failed(f"no sync succeeded: {failed}")


def wait_for_count(cluster, before):
    threading.Event().wait(1.5)
    return int(cluster.sql("SELECT sessions_killed FROM pg_stat_database WHERE datname = 'rethread'")) - before


def compare(left, right):
    """The commands whose answers differ."""
    commands = [("sessions", "--all-projects", "--json"), ("usage", "--json"), ("timeline", "--all-projects", "--json"),
                ("decisions", "--all-projects", "--json"), ("facts", "--all-projects", "--json"),
                ("workflows", "--all-projects", "--json"),
                ("search", "parser", "--all-projects", "--json", "--limit", "100")]
    return [" ".join(command) for command in commands if answer(left, command) != answer(right, command)]


def answer(program, command):
    text = program.run(*command, codes=(0, 1)).stdout
    return "\n".join(line.replace(str(program.home), "") for line in text.splitlines() if "seconds" not in line)
