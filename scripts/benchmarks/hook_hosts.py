"""Latency of the prompt hook of every host, compared with Claude Code's in the same run."""
import argparse, json, statistics, time

from .common import Failed, Missing, build, columns, goal_rows, headline, help_of, judged, run, run_benchmark, say, standard_options
from .hook import Home, timed

REFERENCE = "claude-code"
GOAL_P50_RATIO, GOAL_P95_RATIO = 1.2, 1.5
PROMPT = "why is the build red since this morning?"
ID = "7e57ab1e-0000-4000-8000-000000000000"


def nested(event="UserPromptSubmit", **more):
    """The payload of hosts that follow Claude Code."""
    return lambda folder: {"session_id": ID, "cwd": folder, "hook_event_name": event, "prompt": PROMPT, **more}


def plugin(session):
    """The payload of our own plugins."""
    return lambda folder: {"event": "prompt", "session_id": session, "cwd": folder, "prompt": PROMPT}


# What each host sends with a prompt.
PAYLOADS = {
    "pi": lambda folder: {"event": "before_agent_start", "session_id": ID, "session_file": f"{folder}/none.jsonl", "cwd": folder, "prompt": PROMPT},
    "codex": nested(turn_id="7e57ab1e-1111-4000-8000-000000000000", model="m", permission_mode="default"),
    "gemini": nested("BeforeAgent", timestamp="2026-11-02T09:00:00.000Z"),
    "qwen": nested(submitted_prompt=PROMPT, permission_mode="default", timestamp="2026-11-02T09:00:00.000Z"),
    "copilot": nested(timestamp="2026-11-02T09:00:00.000Z"),
    "kimi": lambda folder: {"session_id": f"session_{ID}", "cwd": folder, "hook_event_name": "UserPromptSubmit", "client_type": "kimi_code_cli",
                            "prompt": [{"type": "text", "text": PROMPT}]},
    "droid": nested(permission_mode="default"),
    "cursor": lambda folder: {"conversation_id": ID, "generation_id": "g1", "hook_event_name": "beforeSubmitPrompt", "workspace_roots": [folder],
                              "cursor_version": "2.1", "prompt": PROMPT, "attachments": []},
    "opencode": plugin("ses_7e57ab1effeAbCdEfGhIjKlMn"),
    "kilo": plugin("ses_7e57ab1effeAbCdEfGhIjKlMo"),
    "cline": plugin("1772442000000_ab12c"),
    "openclaw": plugin(ID),
    "hermes": plugin("20261102_090000_ab12cd"),
}


def main(arguments):
    """Runs the prompt hooks of all hosts in turns, each with new activity of another session."""
    options = parse(arguments)
    tools = build(options.skip_build, [], options.binary)
    listed = help_of(tools, "hook")
    if missing := [host for host in options.hosts if host not in listed]:
        raise Missing(f"this binary has no hook for {', '.join(missing)}; choose others with --hosts")
    return run_benchmark("hook-hosts", tools, options, ("sessions", "live", "runs", "hosts"), measure, goals, table)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench hook-hosts")
    number = dict(type=int, metavar="N")
    parser.add_argument("--sessions", default=1_000, help="stored sessions (default %(default)s)", **number)
    parser.add_argument("--live", default=5, help="Claude Code sessions active in the project (default %(default)s)", **number)
    parser.add_argument("--runs", default=60, help="hooks of each host (default %(default)s)", **number)
    parser.add_argument("--hosts", default=list(PAYLOADS), type=lambda text: text.split(","), metavar="A,B,C", help="the hosts (default: all)")
    standard_options(parser, "hook-hosts")
    options = parser.parse_args(arguments)
    if unknown := set(options.hosts) - set(PAYLOADS):
        parser.error(f"no payload for {', '.join(sorted(unknown))}; use {', '.join(PAYLOADS)}")
    return options


def measure(tools, work, options):
    home = Home(work, tools, options)
    # Agents with private chats take part only if they are named.
    run([home.binary, "config", "set", "intake.agents", json.dumps([REFERENCE, *options.hosts])], home.folder, home.environment)
    payloads = {REFERENCE: home.live[0]}
    for host in options.hosts:
        payloads[host] = home.folder / f"said-{host}.json"
        payloads[host].write_text(json.dumps(PAYLOADS[host](str(home.project))))
    say("hooks in turns")
    walls = {host: [] for host in payloads}
    # The first turns are not measured: every host's first prompt has more to say.
    for turn in range(-3, options.runs):
        for host, said in rotated(payloads, turn):
            home.exchange(1 + turn % (options.live - 1), home.project, time.time())
            wall, answer = timed([home.binary, "hook", host], home.environment, said)
            # Cursor drops the answer to a prompt, so the text waits for another event.
            if not answer and host != "cursor":
                raise Failed(f"the hook of {host} printed nothing")
            if turn >= 0:
                walls[host].append(wall)
    return {"hosts": {host: spread_of(values) for host, values in walls.items()}}


def rotated(payloads, turn):
    """All hosts, each turn beginning with another one."""
    rows = list(payloads.items())
    return rows[turn % len(rows):] + rows[:turn % len(rows)]


def spread_of(walls):
    walls = sorted(walls)
    return {"runs": len(walls), "ms": {"p50": statistics.median(walls), "p95": walls[len(walls) * 95 // 100], "max": walls[-1]}}


def goals(report):
    """Every host takes about as long as Claude Code's hook, whose own budget `scripts/bench hook` checks."""
    base, rows = report["hosts"][REFERENCE]["ms"], []
    for host, found in report["hosts"].items():
        if host != REFERENCE:
            rows += [(f"{host} / {REFERENCE}, p50", found["ms"]["p50"] / base["p50"], "<=", GOAL_P50_RATIO),
                     (f"{host} / {REFERENCE}, p95", found["ms"]["p95"] / base["p95"], "<=", GOAL_P95_RATIO)]
    return judged(rows)


def table(report):
    options = report["options"]
    rows = [(what, f"{goal['value']:.2f}" if goal else value, wanted, met)
            for goal, (what, value, wanted, met) in zip([None] + report["goals"], goal_rows(report["goals"]))]
    rows += [("", "", "", ""), ("also measured", "", "", "")]
    for host, found in report["hosts"].items():
        rows.append((f"{host}, p50 in ms", f"{found['ms']['p50']:.1f}", "", f"p95 {found['ms']['p95']:.1f}, max {found['ms']['max']:.1f}; {found['runs']} runs"))
    head = [headline(report), f"{options['sessions']} sessions stored, {options['live']} active in the project; whole processes, in turns", ""]
    return "\n".join([""] + head + columns(rows))
