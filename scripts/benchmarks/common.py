"""Shared code of the benchmarks: building, running, timing, reporting. Standard library only."""
import contextlib, datetime, json, os, platform, shutil, statistics, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
MB = 1_000_000
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Failed(Exception):
    """A required step failed; the message says which."""


class Missing(Exception):
    """A required tool or data set is missing; the message says which, and where to get it."""


def standard_options(parser, name):
    """Adds the options that all benchmarks except `ingest` share."""
    parser.add_argument("--binary", type=Path, metavar="PATH", help="the rethread binary to measure (default: build it)")
    parser.add_argument("--keep", action="store_true", help="keep the generated homes")
    parser.add_argument("--save", action="store_true", help=f"write benches/results/{name}-DATE.json")
    parser.add_argument("--skip-build", action="store_true", help="use the existing binaries")


def build(skip, helpers, binary=None):
    """Builds the binaries. Returns the paths of `rethread` and the helpers, and the arguments for `sync`."""
    if not skip:
        say("building")
        packages = ["-p", "rethread-bench"] + ([] if binary else ["-p", "rethread"])
        command = ["cargo", "build", "--release", "--locked", *packages]
        if subprocess.run(command, cwd=ROOT).returncode:
            raise Failed("the build failed")
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    folder = Path(metadata["target_directory"]) / "release"
    tools = {name: folder / name for name in helpers}
    tools["rethread"] = binary.absolute() if binary else folder / "rethread"
    for path in tools.values():
        if not path.exists():
            raise Failed(f"{path} does not exist" + ("" if path == binary else "; run without --skip-build"))
    tools["sync"] = ["sync", "--json"] + (["--all-projects"] if "--all-projects" in help_of(tools, "sync") else [])
    return tools


def help_of(tools, verb):
    """Output of `rethread VERB --help`; empty if there is no such command."""
    return subprocess.run([tools["rethread"], verb, "--help"], capture_output=True, text=True).stdout


def surroundings(home, memory):
    """A minimal environment: PATH, HOME and RETHREAD_HOME."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(home), "RETHREAD_HOME": str(memory)}


def sync(tools, home, memory, more=None):
    """Runs `rethread sync` in a minimal environment, plus the variables in `more`."""
    environment = {**surroundings(home, memory), **(more or {})}
    done = run([tools["rethread"], *tools["sync"]], home, environment, fine=(0, 1))
    try:
        agents = json.loads(done["output"])["agents"]
    except (ValueError, KeyError) as error:
        raise Failed(f"sync --json printed no agents: {error}: {done['output'][:300]!r}") from error
    for key in ("files", "filesChanged", "sessions", "entries", "episodes", "facts", "bytesRead"):
        done[key] = sum(agent.get(key, 0) for agent in agents)
    return done


def run(command, folder, environment=None, fine=(0,)):
    """Runs a command. Returns output, wall time in seconds and peak memory in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], cwd=folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode not in fine:
            text = err.read().decode(errors="replace").strip()
            raise Failed(f"{' '.join(map(str, command))} exited with {child.returncode}\n{text}")
        return {"output": out.read().decode(), "wall": wall, "rss": usage.ru_maxrss * RSS_UNIT}


def floor(runs):
    """Measuring overhead: an empty process. The kernel includes our own memory in its peak."""
    idle = [run(["true"], ROOT) for _ in range(runs)]
    return {"processMs": statistics.median(done["wall"] for done in idle) * 1000, "rssMb": max(done["rss"] for done in idle) / MB}


def spread(values):
    return f"{min(values):.1f} to {max(values):.1f}"


def machine(tools):
    return {"cpu": cpu(), "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "memoryGb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9,
            "system": f"{platform.system()} {platform.release()}", "loadBefore": os.getloadavg()[0],
            "rustc": first_line(["rustc", "--version"]), "binary": first_line([tools["rethread"], "--version"]),
            "commit": first_line(["git", "describe", "--always", "--dirty"])}


def cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return first_line(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.processor() or "unknown"


def first_line(command):
    try:
        return subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True).stdout.partition("\n")[0]
    except OSError:
        return ""


@contextlib.contextmanager
def workspace(keep):
    """A temporary folder, removed afterwards unless `keep` is set."""
    work = Path(tempfile.mkdtemp(prefix="rethread-bench-"))
    try:
        yield work
    finally:
        if keep:
            say(f"kept: {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)


def run_benchmark(name, tools, options, recorded, measure, goals, table):
    """Measures in a temporary folder, then compares with the goals, prints the table and saves the report if asked.

    `recorded` names the options that the report shows; `measure` gets the tools, the folder and the options.
    """
    with workspace(options.keep) as work:
        report = begin(name, tools)
        report["options"] = {key.replace("_", "-"): getattr(options, key) for key in recorded}
        report.update(measure(tools, work, options))
    report["goals"] = goals(report)
    print(table(report))
    if options.save:
        save(report)
    return 0


def begin(name, tools):
    return {"benchmark": name, "date": datetime.date.today().isoformat(), "machine": machine(tools)}


def judged(rows):
    """Turns goals given as (what, value, ">=" or "<=", goal) into results with `met`."""
    return [{"what": what, "value": value, "goal": f"{sign} {goal:g}", "met": value >= goal if sign == ">=" else value <= goal}
            for what, value, sign, goal in rows]


def goal_rows(goals):
    rows = [("goal", "measured", "target", "")]
    return rows + [(goal["what"], f"{goal['value']:.1f}", goal["goal"], "met" if goal["met"] else "NOT MET") for goal in goals]


def columns(rows):
    """Formats rows of four columns, the second right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]


def headline(report):
    facts = report["machine"]
    return f"{report['date']}  {facts['cpu']}, {facts['cores']} cores, {facts['memoryGb']:.0f} GB  {facts['rustc']}  {facts['binary']}"


def save(report):
    path = ROOT / "benches" / "results" / f"{report['benchmark']}-{report['date']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    say(f"saved: {path.relative_to(ROOT)}")


def say(text):
    print(text, file=sys.stderr, flush=True)
