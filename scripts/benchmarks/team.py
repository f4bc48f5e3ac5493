"""Nodes of a team in front of one PostgreSQL: appends, syncs, searches and MCP calls per second, and who uses the processor."""
import argparse, json, os, shutil, signal, subprocess, threading, time
from pathlib import Path
from urllib.parse import quote

from faults_team.cluster import DATABASE, Cluster, CannotRun, children

from .common import Failed, Missing, build, columns, headline, run, run_benchmark, say, standard_options, surroundings, sync
from .serve import read_wrk

ENTRIES_PER_EPISODE = 2.8
EPISODES_PER_SESSION = 25
BIG = "big"
# Each request uses the next line: method, path, token, body.
WRK = """
local lines, at = {}, 0
for line in io.lines(os.getenv("REQUESTS")) do lines[#lines + 1] = line end
local seed = os.getenv("SEED")
request = function()
  at = at + 1
  local method, path, token, body = lines[(at - 1) % #lines + 1]:match("([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)")
  local headers = {["Authorization"] = "Bearer " .. token, ["Accept"] = "application/json, text/event-stream"}
  if body == "" then return wrk.format(method, path, headers) end
  headers["Content-Type"] = "application/json"
  return wrk.format(method, path, headers, (body:gsub("UNIQUE", seed .. "-" .. at)))
end
"""


def main(arguments):
    """Fills a database, starts nodes, and runs `wrk` against them on loopback."""
    options = team_options(arguments)
    if not shutil.which("wrk"):
        raise Missing("wrk is not installed; it is available in Debian and Homebrew")
    tools = build(options.skip_build, ["generate-talk"], options.binary)
    recorded = ("entries", "spaces", "seconds", "connections")
    try:
        return run_benchmark("team", tools, options, recorded, measure, lambda report: [], table)
    except CannotRun as missing:
        raise Missing(str(missing)) from missing


def team_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench team")
    number = dict(type=int, metavar="N")
    parser.add_argument("--entries", default=1_000_000, help="entries of one space, and of many together (default %(default)s)", **number)
    parser.add_argument("--spaces", default=100, help="how many spaces share them (default %(default)s)", **number)
    parser.add_argument("--seconds", default=8, help="load time per measurement (default %(default)s)", **number)
    parser.add_argument("--connections", default=16, help="parallel connections, over all nodes (default %(default)s)", **number)
    parser.add_argument("--nodes", default="1,2,4", metavar="LIST", help="how many nodes (default %(default)s)")
    standard_options(parser, "team")
    return parser.parse_args(arguments)


def measure(tools, work, options):
    cluster = Cluster(work, shared_buffers="1GB", max_connections="250", max_wal_size="4GB", synchronous_commit="on")
    os.chmod(work, 0o755)
    cluster.create()
    try:
        return Team(tools, work, cluster, options).measure()
    finally:
        cluster.stop()


class Team:
    """A filled database, and the nodes in front of it."""

    def __init__(self, tools, work, cluster, options):
        self.tools, self.work, self.cluster, self.options = tools, work, cluster, options
        self.script = work / "load.lua"
        self.script.write_text(WRK)
        self.environment = {**surroundings(work, work / "operator")}
        self.small = [f"team-{number}" for number in range(options.spaces)]

    def measure(self):
        options = self.options
        report = {"fill": self.fill(), "sync": self.measure_syncs(), "load": []}
        for count in map(int, options.nodes.split(",")):
            for spaces in ([BIG], self.small):
                report["load"].append(self.measure_load(count, spaces))
        return report

    def url(self, space):
        return self.cluster.url(space)

    def rethread(self, *words, home=None):
        environment = self.environment if home is None else surroundings(home, home / ".rethread")
        return run([self.tools["rethread"], *words], self.work, environment, fine=(0, 1))

    def fill(self):
        """One space with all entries, and many that share as many."""
        self.start_nodes(1, migrate=True)[0].stop()
        filled = {}
        for name, entries in (("big", self.options.entries), ("small", self.options.entries // len(self.small))):
            episodes = round(entries / ENTRIES_PER_EPISODE)
            home = self.work / name
            say(f"generating {episodes} episodes")
            sessions = max(1, episodes // EPISODES_PER_SESSION)
            run([self.tools["generate-talk"], home, "--episodes", episodes, "--sessions", sessions, "--seed", 1], self.work)
            filled[name] = {"entries": sync(self.tools, home, home / ".rethread")["entries"]}
        say("copying to PostgreSQL")
        for space in [BIG, *self.small]:
            self.rethread("admin", "space", "new", space, "--store", self.url(space))
        copied = self.rethread("store", "copy", self.work / "big" / ".rethread", self.url(BIG))
        filled["big"]["copySeconds"] = copied["wall"]
        start = time.perf_counter()
        for space in self.small:
            self.rethread("store", "copy", self.work / "small" / ".rethread", self.url(space))
        filled["small"]["copySeconds"] = time.perf_counter() - start
        self.cluster.sql("VACUUM ANALYZE", database=DATABASE)
        size = self.cluster.sql(f"SELECT pg_database_size('{DATABASE}')", database=DATABASE)
        filled["databaseBytes"] = int(str(size).strip().split()[-1])
        return filled

    def measure_syncs(self):
        """The same transcripts synced into new spaces: by one process, and by two and four at once."""
        done = []
        entries = None
        for count in (1, 2, 4):
            spaces = [f"sync-{count}-{number}" for number in range(count)]
            for space in spaces:
                self.rethread("admin", "space", "new", space, "--store", self.url(space))
            home = self.work / "small"
            start, threads, results = time.perf_counter(), [], []

            def one(space):
                memory = self.work / f"home-{space}"
                results.append(sync(dict(self.tools, sync=[*self.tools["sync"], "--store", self.url(space)]), home, memory))

            for space in spaces:
                threads.append(threading.Thread(target=one, args=(space,)))
                threads[-1].start()
            for thread in threads:
                thread.join()
            wall = time.perf_counter() - start
            if len(results) != count:
                raise Failed("a sync failed")
            entries = results[0]["entries"]
            done.append({"processes": count, "entriesPerSecond": entries * count / wall})
        start = time.perf_counter()
        sync(self.tools, self.work / "small", self.work / "home-local")
        return {"entries": entries, "postgres": done, "sqliteEntriesPerSecond": entries / (time.perf_counter() - start)}

    def start_nodes(self, count, migrate=False):
        return [BenchNode(self, number, migrate) for number in range(count)]

    def measure_load(self, count, spaces):
        say(f"{count} nodes, {len(spaces)} spaces")
        tokens = {space: self.new_token(space) for space in spaces}
        nodes = self.start_nodes(count)
        try:
            threads = {space: nodes[0].new_thread(token) for space, token in tokens.items()}
            queries = [quote(query) for query in (self.work / "big" / "queries.txt").read_text().splitlines()[:200]]
            search = [self.line("GET", f"/api/search?query={query}&limit=10", tokens[spaces[at % len(spaces)]])
                      for at, query in enumerate(queries * max(1, len(spaces) // 100))]
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_memory"}}
            mcp = [self.line("POST", "/mcp", tokens[spaces[at % len(spaces)]],
                             {**call, "params": {**call["params"], "arguments": {"query": query.replace("%20", " ")}}})
                   for at, query in enumerate(queries * max(1, len(spaces) // 100))]
            append = [self.line("POST", f"/api/sessions/{threads[space]}/messages", tokens[space],
                                {"role": "user", "content": "where is message UNIQUE of this load?", "clientId": "UNIQUE"})
                      for space in spaces]
            health = [self.line("GET", "/api/sessions?limit=1", tokens[space]) for space in spaces]
            # Every node builds the index of every space first.
            for node in nodes:
                for space in spaces:
                    node.request("GET", f"/api/search?query={queries[0]}&limit=10", tokens[space])
            result = {"nodes": count, "spaces": len(spaces), "routes": {}}
            for name, lines in (("sessions", health), ("search", search), ("mcp", mcp), ("append", append)):
                result["routes"][name] = self.ask(nodes, f"{name}-{count}-{len(spaces)}", lines)
            return result
        finally:
            for node in nodes:
                node.stop()

    def new_token(self, space):
        name = f"bench-{time.time_ns()}"
        made = self.rethread("admin", "member", "add", name, "--role", "admin", "--requests-per-minute", "1000000",
                             "--store", self.url(space), "--json")
        return json.loads(made["output"])["token"]

    def line(self, method, path, token, body=None):
        return f"{method}\t{path}\t{token}\t{json.dumps(body) if body else ''}"

    def ask(self, nodes, name, lines):
        """Loads all nodes at once, and measures what that costs the nodes and PostgreSQL."""
        listed = self.work / f"{name}.txt"
        listed.write_text("\n".join(lines) + "\n")
        connections = max(1, self.options.connections // len(nodes))
        running, before = [], self.processor_seconds(nodes)
        for number, node in enumerate(nodes):
            environment = {**os.environ, "REQUESTS": str(listed), "SEED": f"{name}-{number}"}
            command = ["wrk", "-t1", f"-c{connections}", f"-d{self.options.seconds}s", "--timeout", "20s", "--latency",
                       "-s", str(self.script), node.url]
            running.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        results = []
        for child in running:
            out, error = child.communicate()
            if child.returncode:
                raise Failed(f"wrk exited with {child.returncode}: {error.strip()}")
            results.append(read_wrk(out))
        after = self.processor_seconds(nodes)
        requests = max(1, sum(result["requests"] for result in results))
        cost = {who: 1000 * (after[who] - before[who]) / requests for who in after}
        return {"perSecond": sum(result["perSecond"] for result in results), "p50Ms": max(r["p50Ms"] for r in results),
                "p99Ms": max(r["p99Ms"] for r in results), "errors": sum(r["errors"] for r in results),
                "nodeMsPerRequest": cost["nodes"], "postgresMsPerRequest": cost["postgres"]}

    def processor_seconds(self, nodes):
        postgres = self.cluster.process.pid
        return {"nodes": sum(seconds_of(node.process.pid) for node in nodes),
                "postgres": sum(seconds_of(pid) for pid in [postgres, *children(postgres)])}


class BenchNode:
    """One `rethread serve` on loopback."""

    def __init__(self, team, number, migrate):
        home = team.work / f"node-{number}"
        command = [str(team.tools["rethread"]), "serve", "--listen", "127.0.0.1:0", "--json", "--store", team.url("local")]
        self.process = subprocess.Popen(command + (["--migrate"] if migrate else []), cwd=team.work, text=True,
                                        env=surroundings(home, home), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"a node did not start: {self.process.stderr.read().strip()}")
        self.url = json.loads(line)["url"]

    def request(self, method, path, token, body=None):
        command = ["curl", "-sS", "-X", method, "-H", f"Authorization: Bearer {token}", f"{self.url}{path}", "--max-time", "300"]
        if body is not None:
            command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        return run(command, Path("/"))["output"]

    def new_thread(self, token):
        return json.loads(self.request("POST", "/api/sessions", token, {"name": "load"}))["session"]["id"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def seconds_of(pid):
    """The processor time of a process, in seconds. Of one that has ended nothing is known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    # User and system time, and that of children that ended.
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def table(report):
    fill, syncs = report["fill"], report["sync"]
    lines = [headline(report), ""]
    for name in ("big", "small"):
        seconds, entries = fill[name]["copySeconds"], fill[name]["entries"] * (1 if name == "big" else report["options"]["spaces"])
        lines.append(f"store copy, {name}: {entries:,} entries in {seconds:.0f} s, {entries / seconds:,.0f}/s")
    lines.append(f"database: {fill['databaseBytes'] / 1e9:.2f} GB")
    lines.append(f"sync into SQLite: {syncs['sqliteEntriesPerSecond']:,.0f} entries/s")
    for done in syncs["postgres"]:
        lines.append(f"sync into PostgreSQL, {done['processes']} at once: {done['entriesPerSecond']:,.0f} entries/s")
    rows = [("nodes x spaces, request", "per second", "p50, p99", "processor time per request: node, PostgreSQL")]
    for load in report["load"]:
        for name, done in load["routes"].items():
            cost = f"{done['nodeMsPerRequest']:.2f} ms, {done['postgresMsPerRequest']:.2f} ms, {done['errors']} errors"
            rows.append((f"{load['nodes']} x {load['spaces']}, {name}", f"{done['perSecond']:.0f}",
                         f"{done['p50Ms']:.1f} ms, {done['p99Ms']:.1f} ms", cost))
    return "\n".join([*lines, "", *columns(rows)])
