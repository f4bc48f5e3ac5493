"""How long each page of the web UI takes with thousands of sessions, on a warm server."""
import argparse, datetime, http.client, json, random, shutil, signal, statistics, subprocess, sys, time
from pathlib import Path
from urllib.parse import quote, urlparse

from .common import (SHARED, Failed, build, columns, goal_rows, headline, judged, run, run_benchmark, say, standard_options,
                     surroundings, sync)

GOAL_P95 = 100
PROJECTS = 60
DAYS = 700
WORDS = ("cart checkout coupon invoice parser lexer token cache queue retry timeout session login cookie header route handler "
         "schema migration index column cursor batch worker thread socket buffer stream codec frame layout theme button dialog "
         "chart report export import ledger budget price tax stock order shipment refund webhook signature cipher key vault").split()
ERRORS = ("error[E{code}]: mismatched types in {a}_{b}", "TypeError: {a}.{b} is not a function", "panicked at '{a} {b} out of range'",
          "ModuleNotFoundError: No module named '{a}_{b}'", "error TS{code}: Property '{b}' does not exist on type '{a}'")
MODELS = ("claude-opus-4-6", "claude-sonnet-4-5", "claude-haiku-4-5")


def main(arguments):
    """Generates a home, serves it, and requests each page from one client."""
    options = pages_options(arguments)
    tools = build(options.skip_build, [], options.binary)
    return run_benchmark("pages", tools, options, ("sessions", "entries", "requests"), measure, goals, table)


def pages_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench pages")
    number = dict(type=int, metavar="N")
    parser.add_argument("--sessions", default=5_000, help="generated sessions (default %(default)s)", **number)
    parser.add_argument("--entries", default=20_000, help="entries of the longest session (default %(default)s)", **number)
    parser.add_argument("--requests", default=30, help="requests of each page (default %(default)s)", **number)
    parser.add_argument("--against", type=Path, metavar="PATH", help="another build, measured in turns")
    parser.add_argument("--corpus", type=Path, default=SHARED / "corpus", metavar="DIR",
                        help="real transcripts to add, if this exists (default %(default)s)")
    standard_options(parser, "pages")
    return parser.parse_args(arguments)


def measure(tools, work, options):
    home = work / "home"
    say(f"writing {options.sessions} sessions")
    Generator(home).write(options.sessions, options.entries)
    layout = options.corpus / "as-home.py"
    if layout.exists():
        run([sys.executable, layout, home], work)
    say("syncing")
    found = sync(tools, home, work / "memory")
    builds = {"this": tools["rethread"]} | ({"other": options.against.absolute()} if options.against else {})
    servers = {}
    try:
        for name, binary in builds.items():
            memory = work / f"memory-{name}"
            shutil.copytree(work / "memory", memory)
            servers[name] = Server(binary, home, memory)
        paths = page_paths(servers["this"])
        pages = {page: in_turns(servers, path, options.requests) for page, path in paths.items()}
        rss = {name: server.rss_mb() for name, server in servers.items()}
        return {"synced": {key: found[key] for key in ("sessions", "entries", "facts")}, "hasCorpus": layout.exists(), "pages": pages, "rssMb": rss}
    finally:
        for server in servers.values():
            server.stop()


class Generator:
    """Writes sessions of Claude Code: prompts, reads, edits, failing and fixed tests, decisions, commits, costs."""

    def __init__(self, home):
        self.home, self.random, self.lines = home, random.Random(1), 0
        self.now = time.time()

    def write(self, sessions, longest):
        for number in range(sessions):
            turns = self.random.choice((1, 2, 2, 3, 4, 6, 10))
            self.session(number, self.now - (number + self.random.random()) * DAYS * 86_400 / sessions - 86_400, turns)
        # A prompt and its work have nine entries.
        self.session(sessions, self.now - 7 * 86_400, longest // 9)

    def session(self, number, seconds, turns):
        # Projects differ in size by a factor of about sixty.
        project = f"/home/dev/{WORDS[int(PROJECTS ** self.random.random()) % len(WORDS)]}-{number % 3}"
        folder = self.home / ".claude" / "projects" / project.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        self.id, self.project, self.model = session_id(number), project, self.random.choice(MODELS)
        self.at, self.out = seconds, []
        for _ in range(turns):
            self.turn()
        (folder / f"{self.id}.jsonl").write_text("".join(self.out))

    def turn(self):
        pick = self.random.choice
        a, b, c = pick(WORDS), pick(WORDS), pick(WORDS)
        file = f"{self.project}/src/{a}/{b}.rs"
        error = pick(ERRORS).format(a=a, b=b, code=self.random.randrange(100, 999))
        has_failed = self.random.random() < 0.4
        self.message("user", f"The {a} of the {b} loses its {c}. Please look at {file} and fix it.")
        self.call("Read", {"file_path": file}, f"pub fn {a}_{b}() -> {c} {{}}\n" * 20)
        if has_failed:
            self.call("Bash", {"command": f"cargo test {a}"}, f"Exit code 101\nrunning 4 tests\n{error}\n  --> src/{a}/{b}.rs:{self.random.randrange(1, 400)}", True)
        self.call("Edit", {"file_path": file, "old_string": f"let {c} = {a}.next();", "new_string": f"let {c} = {a}.next().unwrap_or({b});"}, "The file was updated.")
        self.call("Bash", {"command": f"cargo test {a}"}, "test result: ok. 4 passed; 0 failed")
        if self.random.random() < 0.1:
            self.message("user", f"We decided to use {a}-{b} instead of {c} because it needs less memory.")
        if self.random.random() < 0.3:
            self.call("Bash", {"command": f"git commit -am 'Keep the {c} of {a}'"}, f"[main {self.random.randrange(16**7):07x}] Keep the {c} of {a}\n 1 file changed, 1 insertion(+), 1 deletion(-)")
        self.message("assistant", [{"type": "text", "text": f"The {c} was dropped when the {a} ended early. It is kept now, and **all tests pass**."}])

    def call(self, name, arguments, result, is_error=False):
        call = f"toolu_{self.lines}"
        self.message("assistant", [{"type": "tool_use", "id": call, "name": name, "input": arguments}])
        self.message("user", [{"type": "tool_result", "tool_use_id": call, "content": result, "is_error": is_error}])

    def message(self, role, content):
        self.lines += 1
        self.at += self.random.randrange(2, 40)
        at = datetime.datetime.fromtimestamp(self.at, datetime.timezone.utc).isoformat(timespec="milliseconds")
        message = {"role": role, "content": content}
        if role == "assistant":
            usage = {"input_tokens": self.random.randrange(4_000), "output_tokens": self.random.randrange(2_000),
                     "cache_read_input_tokens": self.random.randrange(90_000), "cache_creation_input_tokens": self.random.randrange(8_000)}
            message |= {"id": f"msg_{self.lines}", "model": self.model, "usage": usage}
        line = {"type": role, "uuid": f"{self.lines:08x}-0000-4000-8000-000000000000", "timestamp": at.replace("+00:00", "Z"),
                "sessionId": self.id, "cwd": self.project, "gitBranch": "main", "message": message}
        self.out.append(json.dumps(line) + "\n")


def session_id(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


class Server:
    """A server on loopback, and one connection to it."""

    def __init__(self, binary, home, memory):
        self.binary, self.home, self.environment = binary, home, surroundings(home, memory)
        environment = self.environment
        run([binary, "sync"], home, environment, fine=(0, 1))
        self.token = run([binary, "token"], home, environment)["output"].strip()
        self.process = subprocess.Popen([str(binary), "serve", "--listen", "127.0.0.1:0", "--json", "--no-watch"], cwd=home,
                                        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = urlparse(json.loads(self.process.stdout.readline())["url"])
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def sessions(self):
        command = [self.binary, "sessions", "--all-projects", "--limit", "1000000", "--json"]
        return json.loads(run(command, self.home, self.environment)["output"])["sessions"]

    def get(self, path):
        """The milliseconds of a request until its body is read, and the body."""
        start = time.perf_counter()
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}", "Accept": "text/html"})
        answer = self.connection.getresponse()
        body = answer.read()
        wall = (time.perf_counter() - start) * 1000
        if answer.status != 200:
            raise Failed(f"{path} returned {answer.status}: {body[:300]!r}")
        return wall, body

    def rss_mb(self):
        line = next(line for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024 / 1e6

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def in_turns(servers, path, requests):
    """Requests a page from each server in turn. The first request of each warms it up and is not counted."""
    walls = {name: [] for name in servers}
    size = 0
    for number in range(requests + 1):
        for name, server in servers.items():
            wall, body = server.get(path)
            size = len(body)
            if number:
                walls[name].append(wall)
            else:
                walls[name + "First"] = wall
    done = {"kb": size / 1000}
    for name in servers:
        values = sorted(walls[name])
        done[name] = {"firstMs": walls[name + "First"], "p50Ms": statistics.median(values), "p95Ms": values[min(len(values) - 1, int(len(values) * 0.95))]}
    return done


def page_paths(server):
    """What is requested: every page, with each filter, and what the pages request from scripts."""
    sessions = server.sessions()
    longest = max(sessions, key=lambda one: one["toolCalls"])
    short, long = sessions[len(sessions) // 2], f"/sessions/{longest['id']}"
    project = quote(longest.get("project") or longest.get("cwd") or "")
    month = datetime.date.today() - datetime.timedelta(days=60)
    return {
        "board": "/", "board, second page": "/?from=100", "board, last page": f"/?from={len(sessions) - 100}",
        "board, ended": "/?state=ended", "board, project": f"/?project={project}", "board, agent": "/?agent=claude-code",
        "board, dates": f"/?since={month}&until={month + datetime.timedelta(days=30)}", "board, year": f"/?year={month.year - 1}",
        "board, $1": "/?cost=1", "board, 5 failures": "/?failures=5", "board, all filters": f"/?state=ended&agent=claude-code&cost=1&failures=1&project={project}",
        "board, pinned": "/?pinned=1", "session": f"/sessions/{short['id']}", "long session": long, "long session, end": f"{long}?last=1",
        "long session, middle": f"{long}?line={longest['toolCalls']}", "long session, focused": f"{long}?view=focused",
        "long session, everything": f"{long}?all=1", "long session, find": f"{long}?find=coupon", "preview": f"{long}/preview?line=100",
        "search, empty": "/search", "search": "/search?q=why+was+the+coupon+dropped", "search, one word": "/search?q=cart",
        "search, 100 hits": "/search?q=cart+timeout&more=1", "search, filters": f"/search?q=cart&agent=claude-code&kind=error&since={month}",
        "palette": "/palette?q=", "palette, typed": "/palette?q=cart+tax", "memory": "/memory", "memory, filtered": "/memory?q=cart",
        "errors": "/memory/errors", "decisions": "/memory/decisions", "workflows": "/memory/workflows", "workflows, project": f"/memory/workflows?project={project}",
        "ask, empty": "/memory/ask", "ask": "/memory/ask?q=why+did+we+avoid+the+cache", "entities": "/memory/graph", "graph": "/memory/graph?of=src/cart/tax.rs",
        "usage": "/usage", "usage, all time": "/usage?since=all", "usage, project": f"/usage?since=all&project={project}",
        "usage, CSV": "/usage/export.csv?since=all", "health": "/health",
    }


def goals(report):
    worst = max(report["pages"].items(), key=lambda page: page[1]["this"]["p95Ms"])
    return judged([(f"slowest page ({worst[0]}), p95 ms", worst[1]["this"]["p95Ms"], "<=", GOAL_P95)])


def table(report):
    has_other = any("other" in page for page in report["pages"].values())
    rows = [("page", "p50", "p95", "first request, size" + (", other build p50 and p95" if has_other else ""))]
    for name, page in report["pages"].items():
        this, other = page["this"], page.get("other")
        more = f"{this['firstMs']:.0f} ms, {page['kb']:.0f} kB" + (f", {other['p50Ms']:.0f} and {other['p95Ms']:.0f} ms" if other else "")
        rows.append((name, f"{this['p50Ms']:.1f} ms", f"{this['p95Ms']:.1f} ms", more))
    found = report["synced"]
    counts = f"{found['sessions']} sessions, {found['entries']} entries, {found['facts']} facts; memory " + ", ".join(f"{mb:.0f} MB" for mb in report["rssMb"].values())
    return "\n".join([headline(report), counts, "", *columns(rows), "", *columns(goal_rows(report["goals"]))])
