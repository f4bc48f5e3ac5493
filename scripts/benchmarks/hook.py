"""Latency of the prompt hook as a whole process, compared with an empty process and with Node."""
import argparse, datetime, json, os, shutil, statistics, subprocess, threading, time

from .common import (Failed, build, columns, goal_rows, headline, judged, run_benchmark, say, standard_options,
                     surroundings, sync)

GOAL_P50, GOAL_P99, GOAL_NODE, GOAL_TOGETHER, GOAL_RESOLVE = 10, 50, 0.1, 150, 10
PROJECTS = 50


def main(arguments):
    """Runs single prompt hooks, alternating with other processes; then the hooks of all active sessions at once."""
    options = hook_options(arguments)
    tools = build(options.skip_build, [], options.binary)
    return run_benchmark("hook", tools, options, ("sessions", "live", "runs", "rounds"), measure, goals, table)


def measure(tools, work, options):
    home = Home(work, tools, options)
    return {"alone": alone(home, options.runs), "together": together(home, options.rounds)}


def hook_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench hook")
    number = dict(type=int, metavar="N")
    parser.add_argument("--sessions", default=5_000, help="stored sessions (default %(default)s)", **number)
    parser.add_argument("--live", default=20, help="sessions active in one project (default %(default)s)", **number)
    parser.add_argument("--runs", default=200, help="processes of each kind (default %(default)s)", **number)
    parser.add_argument("--rounds", default=10, help="rounds with all active sessions at once (default %(default)s)", **number)
    standard_options(parser, "hook")
    options = parser.parse_args(arguments)
    for name, least in (("sessions", options.live), ("live", 2), ("runs", 1), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}")
    return options


class Home:
    """Many Claude Code sessions, some of them active in one project."""

    def __init__(self, work, tools, options):
        self.folder, self.binary, self.lines = work / "home", str(tools["rethread"]), 0
        self.project = self.folder / "code" / "live"
        self.project.mkdir(parents=True)
        self.environment = surroundings(self.folder, work / "memory")
        say(f"writing {options.sessions} sessions")
        now = time.time()
        for number in range(options.live, options.sessions):
            # One per hour, the newest three days old.
            self.exchange(number, self.folder / "code" / f"p{number % PROJECTS}", now - (72 + number) * 3600)
        for number in range(options.live):
            self.exchange(number, self.project, now - 5 - number * 10)
        self.live = [self.said(number) for number in range(options.live)]
        say("syncing")
        found = sync(tools, self.folder, work / "memory")
        if found["sessions"] != options.sessions:
            raise Failed(f"wrote {options.sessions} sessions, but sync found {found['sessions']}")

    def transcript(self, number, project):
        slug = str(project).replace("/", "-").replace(".", "-")
        return self.folder / ".claude" / "projects" / slug / f"{session_id(number)}.jsonl"

    def exchange(self, number, project, seconds):
        """Appends a prompt, a command, its result and an answer to a session's transcript."""
        self.lines += 1
        at, mark = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds"), self.lines
        call = {"type": "tool_use", "id": f"toolu_{mark}", "name": "Bash", "input": {"command": f"cargo test case_{mark}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{mark}", "content": "ok"}
        messages = [("user", f"please look at case {mark}"), ("assistant", [call]), ("user", [result]),
                    ("assistant", [{"type": "text", "text": f"Case {mark} is well again."}])]
        path = self.transcript(number, project)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a") as file:
            for place, (role, content) in enumerate(messages):
                message = {"role": role, "content": content}
                if role == "assistant":
                    message |= {"id": f"msg_{mark}_{place}", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}
                line = {"type": role, "uuid": f"{mark:08x}-{place:04}-4000-8000-000000000000", "timestamp": at.replace("+00:00", "Z"),
                        "sessionId": session_id(number), "cwd": str(project), "gitBranch": "main", "message": message}
                file.write(json.dumps(line) + "\n")

    def said(self, number):
        """Writes the hook payload that Claude Code sends for a prompt. Returns the file."""
        said = {"session_id": session_id(number), "transcript_path": str(self.transcript(number, self.project)), "cwd": str(self.project),
                "hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": "why is the build red since this morning?"}
        path = self.folder / f"said-{number}.json"
        path.write_text(json.dumps(said))
        return path

    def hook(self, number, must_answer):
        """Runs one prompt hook. Returns the milliseconds from start to exit."""
        wall, answer = timed([self.binary, "hook", "claude-code"], self.environment, self.live[number])
        if must_answer is not None and bool(answer) != must_answer:
            raise Failed(f"the hook of session {number} {'printed nothing' if must_answer else f'unexpectedly printed {answer}'}")
        return wall


def session_id(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


def timed(command, environment, said=None):
    """Runs a process that must succeed. Returns the wall time in milliseconds and its output."""
    with open(said or os.devnull, "rb") as standard_input:
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, stdin=standard_input, capture_output=True)
        wall = (time.perf_counter() - start) * 1000
    if done.returncode or done.stderr:
        raise Failed(f"{' '.join(command)} exited with {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return wall, done.stdout.decode()


def alone(home, runs):
    """Alternates a prompt without new activity, a prompt with new activity, and other processes."""
    say("single hooks")
    node = shutil.which("node")
    walls = {"quiet": [], "news": [], "true": [], "node": [], "resolve": []}
    home.hook(0, must_answer=True)
    # Each prompt injects the activity of a few sessions; at the end there is none left.
    for _ in home.live:
        home.hook(0, must_answer=None)
    for turn in range(runs):
        walls["quiet"].append(home.hook(0, must_answer=False))
        walls["true"].append(timed(["/bin/true"], home.environment)[0])
        home.exchange(1 + turn % (len(home.live) - 1), home.project, time.time())
        walls["news"].append(home.hook(0, must_answer=True))
        walls["resolve"].append(timed([home.binary, "resolve", f"as in @@{session_id(3 + turn)}"], home.environment)[0])
        if node:
            walls["node"].append(timed([node, "-e", "0"], home.environment)[0])
    return {key: spread_of(values) for key, values in walls.items() if values}


def together(home, rounds):
    """Runs the hooks of all active sessions at once, each with new entries. Counts those without output."""
    say("all hooks at once")
    walls, silent, wrong = [], [], []
    for _ in range(rounds):
        for number in range(len(home.live)):
            home.exchange(number, home.project, time.time())
        start = threading.Barrier(len(home.live))

        def one(number):
            start.wait()
            try:
                wall, answer = timed([home.binary, "hook", "claude-code"], home.environment, home.live[number])
                walls.append(wall)
                silent.extend([] if answer else [number])
            except Failed as failed:
                wrong.append(str(failed))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(len(home.live))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if wrong:
        raise Failed(wrong[0])
    return {**spread_of(walls), "silent": len(silent)}


def spread_of(walls):
    walls = sorted(walls)
    return {"runs": len(walls), "ms": {"p50": statistics.median(walls), "p90": walls[len(walls) * 9 // 10],
                                       "p99": walls[len(walls) * 99 // 100], "max": walls[-1]}}


def goals(report):
    """Compares the results with the goals."""
    alone, rows = report["alone"], []
    for key, what in (("quiet", "no new activity"), ("news", "new activity")):
        rows += [(f"prompt hook, {what}, p50 in ms", alone[key]["ms"]["p50"], "<=", GOAL_P50),
                 (f"prompt hook, {what}, p99 in ms", alone[key]["ms"]["p99"], "<=", GOAL_P99)]
    if "node" in alone:
        rows.append(("prompt hook, new activity / `node -e 0`, p50", alone["news"]["ms"]["p50"] / alone["node"]["ms"]["p50"], "<=", GOAL_NODE))
    together = report["together"]
    rows += [("all sessions at once, p99 in ms", together["ms"]["p99"], "<=", GOAL_TOGETHER),
             ("hooks without output, all sessions at once", together["silent"], "<=", 0),
             ("`resolve` of one reference, p50 in ms", alone["resolve"]["ms"]["p50"], "<=", GOAL_RESOLVE)]
    return judged(rows)


def table(report):
    alone, all_at_once, options = report["alone"], report["together"], report["options"]
    rows = goal_rows(report["goals"])
    rows = [(what, f"{goal['value']:.2f}", wanted, met) if "/" in what else (what, value, wanted, met)
            for goal, (what, value, wanted, met) in zip([{}] + report["goals"], rows)]
    rows += [("", "", "", ""), ("also measured", "", "", "")]
    base = alone["true"]["ms"]["p50"]
    for key, what in (("quiet", "hook, no new activity"), ("news", "hook, new activity"), ("resolve", "`resolve`"),
                      ("true", "empty process"), ("node", "`node -e 0`")):
        if key in alone:
            rows.append((f"{what}, p50 in ms", f"{alone[key]['ms']['p50']:.1f}", "", tail(alone[key]) + f"; {alone[key]['ms']['p50'] / base:.1f} x `true`"))
    rows.append((f"{options['live']} hooks at once, p50 in ms", f"{all_at_once['ms']['p50']:.1f}", "", tail(all_at_once)))
    head = [headline(report), f"{options['sessions']} sessions stored, {options['live']} active in the project; whole processes", ""]
    return "\n".join([""] + head + columns(rows))


def tail(found):
    return f"p90 {found['ms']['p90']:.1f}, p99 {found['ms']['p99']:.1f}, max {found['ms']['max']:.1f}; {found['runs']} runs"
