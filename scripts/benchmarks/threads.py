"""Appending to threads and reading them, held against a bare file on the same disk in the same run."""
import argparse, json, statistics, subprocess, time

from .common import (MB, Failed, begin, build, columns, floor, goal_rows, headline, judged, run, save, say, standard_options,
                     surroundings, workspace)

GOAL_APPEND, GOAL_LONG, GOAL_TOGETHER = 1.3, 1.3, 2


def main(arguments):
    """Append against a bare write and flush, in one process; then `rethread thread append` as a whole process."""
    options = threads_options(arguments)
    tools = build(options.skip_build, ["thread-log"], options.binary)
    with workspace(options.keep) as work:
        report = begin("threads", tools)
        report["options"] = {key: getattr(options, key) for key in ("records", "appends", "rounds", "runs")}
        report.update(measure(tools, work, options))
    report["ratios"] = ratios(report)
    report["goals"] = goals(report)
    print(table(report))
    if options.save:
        save(report)
    return 0


def threads_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench threads")
    number = dict(type=int, metavar="N")
    parser.add_argument("--records", default=100_000, help="records of the long thread (default %(default)s)", **number)
    parser.add_argument("--appends", default=400, help="appends of each kind (default %(default)s)", **number)
    parser.add_argument("--rounds", default=5, help="rounds of reading, and of eight writers against one (default %(default)s)", **number)
    parser.add_argument("--runs", default=40, help="whole processes (default %(default)s)", **number)
    standard_options(parser, "threads")
    options = parser.parse_args(arguments)
    for name, least in (("records", 1), ("appends", 8), ("rounds", 1), ("runs", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}")
    return options


def measure(tools, work, options):
    say("appending and reading in one process")
    (work / "bare").mkdir()
    command = [tools["thread-log"], work / "bare", "--records", options.records, "--appends", options.appends,
               "--rounds", options.rounds]
    report = {"inProcess": json.loads(run(command, work)["output"])}
    report["floor"] = floor(options.runs)
    report["process"] = whole_process(tools, work, options.runs)
    return report


def whole_process(tools, work, runs):
    """`rethread thread append` from start to exit: what was said is on disk and in memory."""
    say("whole processes")
    home, memory = work / "home", work / "memory"
    home.mkdir()
    environment = surroundings(home, memory)
    thread = run([tools["rethread"], "thread", "new"], home, environment)["output"].strip()
    walls = []
    for number in range(1, runs + 2):
        command = [str(tools["rethread"]), "thread", "append", thread, "--role", "user"]
        start = time.perf_counter()
        done = subprocess.run(command, cwd=home, env=environment, input=b"why is the build red since this morning?", capture_output=True)
        walls.append((time.perf_counter() - start) * 1000)
        if done.returncode or done.stdout.decode().strip() != str(number):
            raise Failed(f"append {number} ended with {done.returncode} and said {done.stdout!r}\n{done.stderr.decode()}")
    walls = sorted(walls[1:])  # the first one makes the store
    return {"runs": runs, "ms": {"p50": statistics.median(walls), "p90": walls[len(walls) * 9 // 10], "max": walls[-1]}}


def ratios(report):
    inside = report["inProcess"]
    append, read, together = inside["append"], inside["read"], inside["together"]
    return {"appendPerBare": append["emptyUs"]["p50"] / append["bareUs"]["p50"],
            "longPerEmpty": append["longUs"]["p50"] / append["emptyUs"]["p50"],
            "readPerWc": read["readMs"] / read["wcMs"],
            "togetherPerAlone": together["togetherPerSecond"] / together["alonePerSecond"]}


def goals(report):
    """Each goal with the number it is held against."""
    found = report["ratios"]
    return judged([("append / bare write and flush, p50", found["appendPerBare"], "<=", GOAL_APPEND),
                   (f"append at {report['inProcess']['records']} records / at none, p50", found["longPerEmpty"], "<=", GOAL_LONG),
                   ("eight writers on one log / one, records a second", found["togetherPerAlone"], ">=", GOAL_TOGETHER)])


def table(report):
    inside, process = report["inProcess"], report["process"]["ms"]
    append, opened, read, together = (inside[key] for key in ("append", "open", "read", "together"))
    rows = goal_rows(report["goals"]) + [("", "", "", ""), ("also measured", "", "", "")]
    rows[1:4] = [(what, f"{goal['value']:.2f}", wanted, met) for goal, (what, _, wanted, met) in zip(report["goals"], rows[1:4])]
    for what, key in (("a bare write and flush", "bareUs"), ("an append to a short thread", "emptyUs"), ("an append to the long thread", "longUs")):
        rows.append((f"{what}, p50 in µs", f"{append[key]['p50']:.0f}", "", f"p90 {append[key]['p90']:.0f}, p99 {append[key]['p99']:.0f}, max {append[key]['max']:.0f}"))
    rows += [("the first append to the long thread, ms", f"{opened['firstAppendMs']:.1f}", "", "with nothing but its log; counts all of it"),
             ("the first append after that by another, ms", f"{opened['laterMs']:.2f}", "", "with metadata.json"),
             ("reading the long thread, ms", f"{read['readMs']:.1f}", "",
              f"{inside['logBytes'] / MB:.1f} MB; {report['ratios']['readPerWc']:.1f} times `wc -l`, which takes {read['wcMs']:.1f}"),
             ("one writer, records a second", f"{together['alonePerSecond']:.0f}", "", ""),
             ("eight writers, records a second", f"{together['togetherPerSecond']:.0f}", "", "in one process, each waits for the disk"),
             ("`rethread thread append`, p50 in ms", f"{process['p50']:.1f}", "", f"p90 {process['p90']:.1f}, max {process['max']:.1f}; memory included"),
             ("a process that does nothing, ms", f"{report['floor']['processMs']:.1f}", "", "true")]
    head = [headline(report), f"{inside['records']} records of {inside['recordBytes']} bytes in the long thread", ""]
    return "\n".join([""] + head + columns(rows))
