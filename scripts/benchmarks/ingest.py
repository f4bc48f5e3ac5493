"""Measures the first sync, a sync without changes, and the cost of one more megabyte, on synthetic homes."""
import argparse, json, os, shutil, statistics, subprocess, time

from .common import (MB, Failed, build, columns, floor, goal_rows, headline, judged, run, run_benchmark, say, spread,
                     sync)

GOAL_RATE, GOAL_RSS, GOAL_NOTHING_NEW, GOAL_REREAD, GOAL_FACTS = 200, 300, 30, 1.5, 0.25


def main(arguments):
    """Runs all ingest measurements."""
    options = ingest_options(arguments)
    tools = build(options.skip_build, ["generate-home", "line-scan"])
    recorded = ("megabytes", "files", "rounds", "small_megabytes", "small_files", "huge_megabytes")
    return run_benchmark("ingest", tools, options, recorded, measure, goals, table)


def ingest_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench ingest")
    number = dict(type=int, metavar="N")
    parser.add_argument("--megabytes", default=1000, help="size of the large home (default %(default)s)", **number)
    parser.add_argument("--files", default=1200, help="transcripts in it (default %(default)s)", **number)
    parser.add_argument("--rounds", default=3, help="line scans and first syncs, alternating (default %(default)s)", **number)
    parser.add_argument("--small-megabytes", default=50, help="size of the home for the sync without changes (default %(default)s)", **number)
    parser.add_argument("--small-files", default=5000, help="transcripts in it (default %(default)s)", **number)
    parser.add_argument("--huge-megabytes", default=200, help="size of the one huge session (default %(default)s)", **number)
    parser.add_argument("--runs", default=15, help="runs of a sync without changes (default %(default)s)", **number)
    parser.add_argument("--keep", action="store_true", help="keep the generated homes")
    parser.add_argument("--save", action="store_true", help="write benches/results/ingest-DATE.json")
    parser.add_argument("--skip-build", action="store_true", help="use the existing binaries")
    options = parser.parse_args(arguments)
    for name in ("megabytes", "files", "rounds", "small_megabytes", "small_files", "huge_megabytes", "runs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    return options


def measure(tools, work, options):
    big, small, huge = work / "big", work / "small", work / "huge"
    generated = generate(tools, big, options.megabytes, options.files)
    generate(tools, small, options.small_megabytes, options.small_files)
    generate(tools, huge, options.huge_megabytes, 1)
    os.sync()  # so that writing the homes to disk does not disturb the measurement
    report = {"generatedMbPerSecond": rate(generated)}
    report["floor"] = floor(options.runs)
    report.update(first_sync(tools, work, big, options.rounds))
    report["nothingNew"] = nothing_new(tools, work, small, options.runs)
    say("one more megabyte")
    report["append"] = {"bigHome": append(tools, big, work / "memory-big", largest(big), options),
                        "hugeSession": append(tools, huge, work / "memory-huge", largest(huge), options)}
    return report


def first_sync(tools, work, home, rounds):
    """Alternates line scan and first sync, so that both run under the same conditions."""
    memory = work / "memory-big"
    scan(tools, home)  # fills the page cache; not counted
    scans, syncs, without = [], [], []
    for number in range(1, rounds + 1):
        say(f"first sync, round {number} of {rounds}")
        scans.append(scan(tools, home))
        shutil.rmtree(memory, ignore_errors=True)
        syncs.append(sync(tools, home, memory))
        shutil.rmtree(memory, ignore_errors=True)
        without.append(sync(tools, home, memory, {"RETHREAD_FACTS_ENABLED": "false"}))
    shutil.rmtree(memory, ignore_errors=True)
    sync(tools, home, memory)
    size = scans[0]["bytes"]
    scan_rates = [rate(run) for run in scans]
    sync_rates = [size / MB / run["wall"] for run in syncs]
    read = syncs[-1]["bytesRead"]
    if read < 0.99 * size:
        say(f"warning: sync read only {read / MB:.1f} MB of {size / MB:.1f} MB, so its rate is too high")
    return {"lineScan": {"files": scans[0]["files"], "bytes": size, "lines": scans[0]["lines"],
                         "mbPerSecond": statistics.median(scan_rates), "all": scan_rates},
            "firstSync": {"mbPerSecond": statistics.median(sync_rates), "all": sync_rates,
                          "timesSlowerThanLineScan": statistics.median(scan_rates) / statistics.median(sync_rates),
                          "peakRssMb": max(run["rss"] for run in syncs) / MB,
                          "seconds": statistics.median(run["wall"] for run in syncs),
                          "bytesRead": read, "sessions": syncs[-1]["sessions"],
                          "entries": syncs[-1]["entries"], "episodes": syncs[-1]["episodes"]},
            "facts": {"facts": syncs[-1]["facts"],
                      "shareOfFirstSync": 1 - statistics.median(run["wall"] for run in without)
                      / statistics.median(run["wall"] for run in syncs)}}


def nothing_new(tools, work, home, runs):
    """A whole sync process, from start to exit, when no file changed."""
    say("no changes")
    memory = work / "memory-small"
    files = sync(tools, home, memory)["files"]
    sync(tools, home, memory)
    walls, finds = [], []
    for _ in range(runs):
        walls.append(sync(tools, home, memory)["wall"] * 1000)
        began = time.perf_counter()
        # For comparison: the cost of only listing the files and reading their sizes.
        subprocess.run(["find", str(home), "-name", "*.jsonl", "-size", "+1000000k"], check=True, capture_output=True)
        finds.append((time.perf_counter() - began) * 1000)
    return {"files": files, "medianMs": statistics.median(walls), "minMs": min(walls), "maxMs": max(walls), "runs": runs,
            "findMs": statistics.median(finds)}


def append(tools, home, memory, target, options, rounds=5):
    """Appends a megabyte of new lines to one session, five times, and syncs after each."""
    if not memory.exists():
        sync(tools, home, memory)
    sync(tools, home, memory)
    idle = statistics.median(sync(tools, home, memory)["wall"] * 1000 for _ in range(5))
    runs = []
    for number in range(rounds):
        added = new_lines(tools, home.parent / f"donor-{home.name}-{number}", target, seed=1000 + number)
        with open(target, "ab") as file:
            file.write(added)
        runs.append((sync(tools, home, memory), len(added)))
    return {"fileMb": target.stat().st_size / MB, "appendedMb": statistics.median(added for _, added in runs) / MB,
            "medianMs": statistics.median(run["wall"] * 1000 for run, _ in runs), "nothingNewMs": idle,
            "readPerAppended": statistics.median(run["bytesRead"] / added for run, added in runs),
            "peakRssMb": max(run["rss"] for run, _ in runs) / MB}


def new_lines(tools, folder, target, seed):
    """A megabyte of new entries that continue the session in `target`."""
    generate(tools, folder, 1, 1, seed)
    donor = largest(folder)
    theirs, ours = first_entry(donor), first_entry(target)
    added = donor.read_bytes()
    for key in ("sessionId", "cwd"):
        added = added.replace(theirs[key].encode(), ours[key].encode())
    shutil.rmtree(folder)
    return added


def first_entry(path):
    with open(path, "rb") as file:
        for line in file:
            entry = json.loads(line)
            if "cwd" in entry and "sessionId" in entry:
                return entry
    raise Failed(f"{path} has no entry with cwd and sessionId")


def largest(home):
    """The largest main Claude Code session in a home."""
    return max((home / ".claude/projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)


def goals(report):
    """Compares the results with the goals."""
    append_read = max(case["readPerAppended"] for case in report["append"].values())
    rows = [("first sync, MB/s", report["firstSync"]["mbPerSecond"], ">=", GOAL_RATE),
            ("first sync, peak RSS in MB", report["firstSync"]["peakRssMb"], "<=", GOAL_RSS),
            (f"no changes in {report['nothingNew']['files']} files, ms", report["nothingNew"]["medianMs"], "<=", GOAL_NOTHING_NEW),
            ("bytes read per byte appended", append_read, "<=", GOAL_REREAD),
            ("facts, share of the first sync's time", report["facts"]["shareOfFirstSync"], "<=", GOAL_FACTS)]
    return judged(rows)


def table(report):
    scan_, first, idle, floor_ = (report[key] for key in ("lineScan", "firstSync", "nothingNew", "floor"))
    rows = goal_rows(report["goals"])
    rows += [("", "", "", ""), ("also measured", "", "", ""),
             ("line scan, MB/s", f"{scan_['mbPerSecond']:.0f}", "", spread(scan_["all"])),
             ("first sync, MB/s", f"{first['mbPerSecond']:.1f}", "", spread(first["all"])),
             ("first sync / line scan, time", f"{first['timesSlowerThanLineScan']:.1f}", "", ""),
             ("first sync, seconds", f"{first['seconds']:.2f}", "", f"{first['entries']} entries, {first['episodes']} episodes"),
             ("facts extracted", f"{report['facts']['facts']}", "", "rounds with and without them alternate"),
             ("no changes, ms", f"{idle['medianMs']:.1f}", "", spread([idle["minMs"], idle["maxMs"]])),
             ("`find` with a size test over the same files, ms", f"{idle['findMs']:.1f}", "",
              f"a sync without changes takes {idle['medianMs'] / idle['findMs']:.2f} x that")]
    for name, case in report["append"].items():
        words = {"bigHome": "1 MB appended in the large home, ms", "hugeSession": "1 MB appended to one huge session, ms"}[name]
        detail = f"{case['fileMb']:.0f} MB file; {case['nothingNewMs']:.1f} ms without changes; read {case['readPerAppended']:.2f} x"
        rows.append((words, f"{case['medianMs']:.1f}", "", detail))
    rows.append(("empty process, ms", f"{floor_['processMs']:.1f}", "", f"RSS {floor_['rssMb']:.0f} MB (includes the benchmark's own memory)"))
    head = [headline(report),
            f"{scan_['bytes'] / MB:.0f} MB in {scan_['files']} files, {scan_['lines']} lines, page cache warm; medians", ""]
    return "\n".join([""] + head + columns(rows))


def generate(tools, home, megabytes, files, seed=1):
    if megabytes > 1:
        say(f"generating {megabytes} MB in {files} files")
    command = [tools["generate-home"], home, "--megabytes", str(megabytes), "--files", str(files), "--seed", str(seed)]
    return json.loads(run(command, home.parent)["output"])


def scan(tools, home):
    return json.loads(run([tools["line-scan"], home], home)["output"])


def rate(run_):
    return run_["bytes"] / MB / run_["seconds"]
