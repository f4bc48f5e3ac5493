"""What a prompt waits for our hook: the whole process, beside a process that does nothing and one of Node."""
import argparse, datetime, json, os, shutil, statistics, subprocess, threading, time

from .common import (Failed, begin, build, columns, goal_rows, headline, judged, save, say, standard_options, surroundings, sync,
                     workspace)

GOAL_P50, GOAL_P99, GOAL_NODE, GOAL_TOGETHER, GOAL_RESOLVE = 10, 50, 0.1, 150, 10
PROJECTS = 50


def main(arguments):
    """One prompt hook after another in turns with other processes; then those of all live sessions at once."""
    options = hook_options(arguments)
    tools = build(options.skip_build, [], options.binary)
    with workspace(options.keep) as work:
        report = begin("hook", tools)
        report["options"] = {key: getattr(options, key) for key in ("sessions", "live", "runs", "rounds")}
        home = Home(work, tools, options)
        report.update({"alone": alone(home, options.runs), "together": together(home, options.rounds)})
    report["goals"] = goals(report)
    print(table(report))
    if options.save:
        save(report)
    return 0


def hook_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench hook")
    number = dict(type=int, metavar="N")
    parser.add_argument("--sessions", default=5_000, help="sessions that are known (default %(default)s)", **number)
    parser.add_argument("--live", default=20, help="of them at work in one project (default %(default)s)", **number)
    parser.add_argument("--runs", default=200, help="whole processes of each kind (default %(default)s)", **number)
    parser.add_argument("--rounds", default=10, help="rounds of all live sessions at once (default %(default)s)", **number)
    standard_options(parser, "hook")
    options = parser.parse_args(arguments)
    for name, least in (("sessions", options.live), ("live", 2), ("runs", 1), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}")
    return options


class Home:
    """Many sessions of Claude Code, some of them at work now in one project."""

    def __init__(self, work, tools, options):
        self.folder, self.binary, self.lines = work / "home", str(tools["rethread"]), 0
        self.project = self.folder / "code" / "live"
        self.project.mkdir(parents=True)
        self.environment = surroundings(self.folder, work / "memory")
        say(f"writing {options.sessions} sessions")
        now = time.time()
        for number in range(options.live, options.sessions):
            # One an hour, the newest three days ago.
            self.exchange(number, self.folder / "code" / f"p{number % PROJECTS}", now - (72 + number) * 3600)
        for number in range(options.live):
            self.exchange(number, self.project, now - 5 - number * 10)
        self.live = [self.said(number) for number in range(options.live)]
        say("reading them")
        found = sync(tools, self.folder, work / "memory")
        if found["sessions"] != options.sessions:
            raise Failed(f"{options.sessions} sessions were written and {found['sessions']} found")

    def transcript(self, number, project):
        slug = str(project).replace("/", "-").replace(".", "-")
        return self.folder / ".claude" / "projects" / slug / f"{session_id(number)}.jsonl"

    def exchange(self, number, project, seconds):
        """A prompt, a command, its result and an answer, at the end of a session's transcript."""
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
        """A file with what Claude Code says to the hook when somebody types a prompt in a session."""
        said = {"session_id": session_id(number), "transcript_path": str(self.transcript(number, self.project)), "cwd": str(self.project),
                "hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": "why is the build red since this morning?"}
        path = self.folder / f"said-{number}.json"
        path.write_text(json.dumps(said))
        return path

    def hook(self, number, must_answer):
        """One prompt hook from start to exit, in milliseconds."""
        wall, answer = timed([self.binary, "hook", "claude-code"], self.environment, self.live[number])
        if must_answer is not None and bool(answer) != must_answer:
            raise Failed(f"the hook of session {number} {'said nothing' if must_answer else f'said {answer}'}")
        return wall


def session_id(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


def timed(command, environment, said=None):
    """Wall time in milliseconds of a process that must end well, and what it printed."""
    with open(said or os.devnull, "rb") as standard_input:
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, stdin=standard_input, capture_output=True)
        wall = (time.perf_counter() - start) * 1000
    if done.returncode or done.stderr:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return wall, done.stdout.decode()


def alone(home, runs):
    """A prompt with nothing new, one after another session went on, and other processes, in turns."""
    say("one after another")
    node = shutil.which("node")
    walls = {"quiet": [], "news": [], "true": [], "node": [], "resolve": []}
    home.hook(0, must_answer=True)
    # A few sessions are told of with each prompt; at the end nothing is new.
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
    """All live sessions at once, each with something new in its own transcript. Counts those that said nothing."""
    say("all at once")
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
    """Each goal with the number it is held against."""
    alone, rows = report["alone"], []
    for key, what in (("quiet", "nothing new"), ("news", "something new")):
        rows += [(f"the prompt hook, {what}, p50 in ms", alone[key]["ms"]["p50"], "<=", GOAL_P50),
                 (f"the prompt hook, {what}, p99 in ms", alone[key]["ms"]["p99"], "<=", GOAL_P99)]
    if "node" in alone:
        rows.append(("the prompt hook, something new / `node -e 0`, p50", alone["news"]["ms"]["p50"] / alone["node"]["ms"]["p50"], "<=", GOAL_NODE))
    together = report["together"]
    rows += [("all sessions at once, p99 in ms", together["ms"]["p99"], "<=", GOAL_TOGETHER),
             ("hooks that said nothing, all sessions at once", together["silent"], "<=", 0),
             ("`resolve` of one reference, p50 in ms", alone["resolve"]["ms"]["p50"], "<=", GOAL_RESOLVE)]
    return judged(rows)


def table(report):
    alone, all_at_once, options = report["alone"], report["together"], report["options"]
    rows = goal_rows(report["goals"])
    rows = [(what, f"{goal['value']:.2f}", wanted, met) if "/" in what else (what, value, wanted, met)
            for goal, (what, value, wanted, met) in zip([{}] + report["goals"], rows)]
    rows += [("", "", "", ""), ("also measured", "", "", "")]
    base = alone["true"]["ms"]["p50"]
    for key, what in (("quiet", "the hook, nothing new"), ("news", "the hook, something new"), ("resolve", "`resolve`"),
                      ("true", "a process that does nothing"), ("node", "`node -e 0`")):
        if key in alone:
            rows.append((f"{what}, p50 in ms", f"{alone[key]['ms']['p50']:.1f}", "", tail(alone[key]) + f"; {alone[key]['ms']['p50'] / base:.1f} times `true`"))
    rows.append((f"{options['live']} hooks at once, p50 in ms", f"{all_at_once['ms']['p50']:.1f}", "", tail(all_at_once)))
    head = [headline(report), f"{options['sessions']} sessions known, {options['live']} at work in the project; whole processes", ""]
    return "\n".join([""] + head + columns(rows))


def tail(found):
    return f"p90 {found['ms']['p90']:.1f}, p99 {found['ms']['p99']:.1f}, max {found['ms']['max']:.1f}; {found['runs']} runs"
