"""A dump taken while writers append, restored into a new database."""

from .writers import Acknowledgements, Writers, check_logs, records_of

MESSAGES = 150


def run(team):
    with team.cluster() as cluster, team.nodes(cluster, 2) as nodes:
        acknowledged = Acknowledgements(team.folder / "acknowledged.jsonl")
        with Writers(nodes, acknowledged) as writers:
            writers.wait_for(MESSAGES, seconds=60)
            before = list(acknowledged.rows)
            cluster.dump("rethread", team.folder / "dump")
            writers.wait_for(MESSAGES, seconds=60)
        team.require(not writers.errors, f"writers: {writers.errors[:3]}")
        cluster.restore(team.folder / "dump", "restored")
        url = cluster.url("acme", database="restored")
        problems, threads, stored = check_logs(nodes[0], before, url=url)
        team.require(problems == {"lost": 0, "duplicates": 0, "gaps": 0}, str(problems))
        restored = team.program(url, "restored")
        # A thread in the dump may be ahead of what was made searchable of it.
        restored("sync")
        restored("debug", "verify")
        compare_exports(team, nodes[0], restored, {row["thread"] for row in before})
        found = sum(row["word"] in restored.run("search", row["word"], "--all-projects", "--json").stdout for row in before[-20:])
        team.require(found == 20, f"only {found} of 20 messages are found after the restore")
        return (f"{len(before)} acknowledged before the dump in {threads} threads, {stored} restored, {problems}, exports are "
                f"byte-exact, verify clean, 20 of 20 searched are found")


def compare_exports(team, node, restored, threads):
    """The restored log of a thread is the beginning of the log that went on, byte for byte."""
    for thread in sorted(threads):
        whole, part = node.export(thread), restored.export(thread)
        team.require(whole.startswith(part) and part.endswith(b"\n"), f"the restored log of {thread} differs")
        records_of(part)
