"""Appending to and reading threads, compared with a plain file on the same disk in the same run."""
import argparse, json, statistics, subprocess, time

from .common import (MB, Failed, build, columns, floor, goal_rows, headline, judged, run, run_benchmark, say,
                     standard_options, surroundings)

GOAL_APPEND, GOAL_LONG, GOAL_TOGETHER = 1.3, 1.3, 2


def main(arguments):
    """Compares an append with a plain write and fsync in one process; then runs `rethread thread append` as a process."""
    options = threads_options(arguments)
    tools = build(options.skip_build, ["thread-log"], options.binary)
    return run_benchmark("threads", tools, options, ("records", "appends", "rounds", "runs"), measure, goals, table)


def threads_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench threads")
    number = dict(type=int, metavar="N")
    parser.add_argument("--records", default=100_000, help="records of the long thread (default %(default)s)", **number)
    parser.add_argument("--appends", default=400, help="appends of each kind (default %(default)s)", **number)
    parser.add_argument("--rounds", default=5, help="rounds of reading, and of eight writers compared with one (default %(default)s)", **number)
    parser.add_argument("--runs", default=40, help="processes of `rethread thread append` (default %(default)s)", **number)
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
    report["ratios"] = ratios(report)
    return report


def whole_process(tools, work, runs):
    """`rethread thread append` from start to exit: the message is in the log and in the store."""
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
            raise Failed(f"append {number} exited with {done.returncode} and printed {done.stdout!r}\n{done.stderr.decode()}")
    walls = sorted(walls[1:])  # the first one creates the store
    return {"runs": runs, "ms": {"p50": statistics.median(walls), "p90": walls[len(walls) * 9 // 10], "max": walls[-1]}}


def ratios(report):
    inside = report["inProcess"]
    append, read, together = inside["append"], inside["read"], inside["together"]
    return {"appendPerBare": append["emptyUs"]["p50"] / append["bareUs"]["p50"],
            "longPerEmpty": append["longUs"]["p50"] / append["emptyUs"]["p50"],
            "readPerWc": read["readMs"] / read["wcMs"],
            "togetherPerAlone": together["togetherPerSecond"] / together["alonePerSecond"]}


def goals(report):
    """Compares the results with the goals."""
    found = report["ratios"]
    return judged([("append / plain write and fsync, p50", found["appendPerBare"], "<=", GOAL_APPEND),
                   (f"append at {report['inProcess']['records']} records / in a new thread, p50", found["longPerEmpty"], "<=", GOAL_LONG),
                   ("eight writers on one log / one writer, records per second", found["togetherPerAlone"], ">=", GOAL_TOGETHER)])


def table(report):
    inside, process = report["inProcess"], report["process"]["ms"]
    append, opened, read, together = (inside[key] for key in ("append", "open", "read", "together"))
    rows = goal_rows(report["goals"]) + [("", "", "", ""), ("also measured", "", "", "")]
    rows[1:4] = [(what, f"{goal['value']:.2f}", wanted, met) for goal, (what, _, wanted, met) in zip(report["goals"], rows[1:4])]
    for what, key in (("plain write and fsync", "bareUs"), ("append to a short thread", "emptyUs"), ("append to the long thread", "longUs")):
        rows.append((f"{what}, p50 in µs", f"{append[key]['p50']:.0f}", "", f"p90 {append[key]['p90']:.0f}, p99 {append[key]['p99']:.0f}, max {append[key]['max']:.0f}"))
    rows += [("first append to the long thread, ms", f"{opened['firstAppendMs']:.1f}", "", "without metadata.json; scans the whole log"),
             ("first append after reopening, ms", f"{opened['laterMs']:.2f}", "", "with metadata.json"),
             ("reading the long thread, ms", f"{read['readMs']:.1f}", "",
              f"{inside['logBytes'] / MB:.1f} MB; {report['ratios']['readPerWc']:.1f} x `wc -l`, which takes {read['wcMs']:.1f} ms"),
             ("one writer, records per second", f"{together['alonePerSecond']:.0f}", "", ""),
             ("eight writers, records per second", f"{together['togetherPerSecond']:.0f}", "", "in one process, each waits for fsync"),
             ("`rethread thread append`, p50 in ms", f"{process['p50']:.1f}", "", f"p90 {process['p90']:.1f}, max {process['max']:.1f}; includes the store"),
             ("empty process, ms", f"{report['floor']['processMs']:.1f}", "", "true")]
    head = [headline(report), f"{inside['records']} records of {inside['recordBytes']} bytes in the long thread", ""]
    return "\n".join([""] + head + columns(rows))
