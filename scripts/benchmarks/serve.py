"""Server latency compared with the health route, memory growth under load, and startup time of MCP."""
import argparse, json, os, re, shutil, signal, statistics, subprocess, time
from pathlib import Path
from urllib.parse import quote

from .common import (MB, Failed, Missing, build, columns, floor, goal_rows, headline, judged, run, run_benchmark, say,
                     standard_options, surroundings, sync)

EPISODES_PER_SESSION = 25
GOAL_FIRST_ANSWER = 30
# The first messages of every client; the response to `tools/list` is the first useful one.
GREETING = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
PERCENTILE = re.compile(r"^\s+(50|75|90|99)%\s+([\d.]+)(us|ms|s)\s*$", re.M)
UNIT = {"us": 0.001, "ms": 1, "s": 1000}
# Each request uses the next path, so that no response comes from a cache of the previous one.
WRK = """
local paths, at = {}, 0
for line in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = line end
request = function()
  at = at % #paths + 1
  return wrk.format("GET", paths[at], {["Authorization"] = "Bearer " .. os.getenv("TOKEN")})
end
"""


def main(arguments):
    """Generates a home, serves it, and runs `wrk` against it on loopback."""
    options = serve_options(arguments)
    if not shutil.which("wrk"):
        raise Missing("wrk is not installed; it is available in Debian and Homebrew")
    tools = build(options.skip_build, ["generate-talk"], options.binary)
    recorded = ("episodes", "seconds", "connections", "minutes", "runs")
    return run_benchmark("serve", tools, options, recorded, measure, goals, table)


def goals(report):
    return judged([("MCP, start to the list of tools, p50 ms", report["mcp"]["p50Ms"], "<=", GOAL_FIRST_ANSWER)])


def serve_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench serve")
    number = dict(type=int, metavar="N")
    parser.add_argument("--episodes", default=20_000, help="episodes to search in (default %(default)s)", **number)
    parser.add_argument("--seconds", default=10, help="load time per route (default %(default)s)", **number)
    parser.add_argument("--connections", default=16, help="parallel connections (default %(default)s)", **number)
    parser.add_argument("--minutes", default=10, help="how long to watch memory under load (default %(default)s)", **number)
    parser.add_argument("--runs", default=50, help="starts of MCP (default %(default)s)", **number)
    standard_options(parser, "serve")
    return parser.parse_args(arguments)


def measure(tools, work, options):
    home = work / "talk"
    memory = home / ".rethread"
    say(f"generating {options.episodes} episodes")
    sessions = -(-options.episodes // EPISODES_PER_SESSION)
    command = [tools["generate-talk"], home, "--episodes", options.episodes, "--sessions", sessions, "--seed", 1]
    run(command, work)
    sync(tools, home, memory)
    queries = (home / "queries.txt").read_text().splitlines()
    routes = {"health": ["/api/health"], "sessions": ["/api/sessions?limit=50"],
              "search": [f"/api/search?query={quote(query)}&limit=10" for query in queries]}
    environment = surroundings(home, memory)
    say("starting MCP")
    mcp = first_answers(tools, home, environment, options.runs)
    token = run([tools["rethread"], "token"], home, environment)["output"].strip()
    server = subprocess.Popen([str(tools["rethread"]), "serve", "--listen", "127.0.0.1:0", "--json"], cwd=home,
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        load = Load(work, url, token, options.connections)
        load.ask("warm-up", routes["search"], 3)
        report = {"mcp": mcp, "rssBeforeMb": rss(server.pid), "routes": {}}
        for name, paths in routes.items():
            say(f"loading {name} for {options.seconds} s")
            report["routes"][name] = load.ask(name, paths, options.seconds)
        report["memory"] = watch_memory(load, routes, server.pid, options.minutes)
        return report
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def first_answers(tools, home, environment, runs):
    """Time from process start to the list of tools, and the time of an empty process for comparison."""
    lines = "".join(json.dumps(line) + "\n" for line in GREETING)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        with subprocess.Popen([str(tools["rethread"]), "mcp"], cwd=home, env=environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            server.stdin.write(lines)
            server.stdin.flush()
            server.stdout.readline()
            listed = json.loads(server.stdout.readline())
            times.append((time.perf_counter() - start) * 1000)
            if not listed["result"]["tools"]:
                raise Failed("MCP has no tools")
            server.stdin.close()
    return {"p50Ms": statistics.median(times), "mostMs": max(times), "processMs": floor(runs)["processMs"]}


class Load:
    """Runs `wrk` against one server."""

    def __init__(self, work, url, token, connections):
        self.work, self.url, self.token, self.connections = work, url, token, connections
        self.script = work / "ask.lua"
        self.script.write_text(WRK)

    def ask(self, name, paths, seconds):
        listed = self.work / f"{name}.txt"
        listed.write_text("\n".join(paths) + "\n")
        environment = {**os.environ, "PATHS": str(listed), "TOKEN": self.token}
        command = ["wrk", "-t1", f"-c{self.connections}", f"-d{seconds}s", "--timeout", "10s", "--latency",
                   "-s", str(self.script), self.url]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"wrk exited with {done.returncode}: {done.stderr.strip()}")
        return read_wrk(done.stdout)


def read_wrk(text):
    times = {int(share): float(value) * UNIT[unit] for share, value, unit in PERCENTILE.findall(text)}
    requests = re.search(r"(\d+) requests in ([\d.]+)s", text)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    errors = (int(bad[1]) if bad else 0) + (sum(map(int, sockets.groups())) if sockets else 0)
    return {"p50Ms": times[50], "p90Ms": times[90], "p99Ms": times[99], "requests": int(requests[1]),
            "perSecond": int(requests[1]) / float(requests[2]), "errors": errors}


def watch_memory(load, routes, pid, minutes):
    """Samples memory under a mixed load. The first minute is warm-up; compare the end with the value after it."""
    if not minutes:
        return None
    say(f"watching memory under load for {minutes} min")
    mixed = routes["search"] + routes["sessions"] * len(routes["search"])
    samples, requests, errors = [], 0, 0
    ends = time.monotonic() + 60 * minutes
    while time.monotonic() < ends:
        done = load.ask("mixed", mixed, 10)
        requests, errors = requests + done["requests"], errors + done["errors"]
        samples.append(rss(pid))
    return {"samplesMb": samples, "requests": requests, "errors": errors}


def rss(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024 / MB


def table(report):
    rows = [("route", "p50", "p99", "requests per second, errors, p50 relative to health")]
    floor = report["routes"]["health"]["p50Ms"]
    for name, done in report["routes"].items():
        more = f"{done['perSecond']:.0f}/s, {done['errors']} errors, {done['p50Ms'] / floor:.1f}x"
        rows.append((name, f"{done['p50Ms']:.2f} ms", f"{done['p99Ms']:.2f} ms", more))
    mcp = report["mcp"]
    relative = f"{mcp['p50Ms'] / mcp['processMs']:.1f}x an empty process"
    rows.append(("mcp", f"{mcp['p50Ms']:.2f} ms", "", f"start to the list of tools, max {mcp['mostMs']:.1f} ms, {relative}"))
    lines = [headline(report), "", *columns(rows), "", *columns(goal_rows(report["goals"]))]
    memory = report["memory"]
    if memory:
        samples = memory["samplesMb"]
        early = samples[min(6, len(samples) - 1)]
        lines += ["", f"memory: {report['rssBeforeMb']:.0f} MB before, {early:.0f} MB after the first minute, "
                      f"{samples[-1]:.0f} MB at the end, {max(samples):.0f} MB max; "
                      f"{memory['requests']} requests, {memory['errors']} errors"]
    return "\n".join(lines)
