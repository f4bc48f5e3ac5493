"""What both builds are asked: every verb, hooks, MCP tools, HTTP routes, web pages, and requests to a model."""
import json
import signal
import time

from .model import Model

QUERIES = [
    "why did the build fail", "deadlock", "fix test", '"not found"', "error -test", "kind:error", "kind:prompt,answer plan",
    "agent:pi session", "tool:bash git", "file:package.json", "file:README.md update", "after:2026-01-01 release", "last week tests",
    "before:2026-06-01 refactor", "src/index.ts", "2026-08-16", "日本語", "naïve café", "a", "the", "zzzzqqqq", "workout work out",
    "\"unterminated", "kind:nonsense x", "since:teatime x", "\x1b[31mred", "-- dash", "SELECT * FROM sessions",
]
# Has so few results that a rebuilt index answers alike, whatever its threads did.
RARE = "deadlock"
ERRORS = ["error[E0308]: mismatched types", "ENOENT: no such file or directory", "Cannot find module 'x'", "command not found: foo",
          "TypeError: Cannot read properties of undefined (reading 'id')", "exit status 1", "fatal: not a git repository", "nothing of the kind zzqq"]
FILES = ["package.json", "README.md", "src/index.ts", "main.go", "Cargo.toml", "nowhere.zz"]
TIMES = ["7d", "yesterday", "2026-03", "2026-08-16T14:00", "teatime"]
SETTINGS = [("intake.agents", "claude-code"), ("intake.agents", "nonsense"), ("inject.budget_tokens", "500"), ("inject.budget_tokens", "-1"),
            ("no.such", "1"), ("model.provider", "openai"), ("intake.exclude", "/tmp/a,/tmp/b"), ("cards.enabled", "maybe")]
PAGES = ["/", "/search", "/search?q=error", "/memory", "/memory/decisions", "/memory/decisions?all=1", "/memory/errors",
         "/memory/errors?q=module", "/memory/workflows", "/memory/graph", "/memory/graph?q=package.json", "/usage", "/usage?by=model", "/health",
         "/nowhere", "/static/page.css", "/static/page.js", "/login?code=0"]
# Streams, and a socket: a client that waits for their end waits forever.
STREAMS = ["/api/events", "/ws", "/mcp"]
PARAMETERS = {"q": "error", "query": "error", "text": "go on with @@tests", "error": ERRORS[1], "path": FILES[0], "entity": FILES[0],
              "sessionId": "SESSION", "session": "SESSION", "prompt": "go on"}


def run_all(build, world):
    """Reading first, then what changes the store, and at last what erases it."""
    empty_home(build)
    help_and_errors(build)
    syncing(build)
    sessions(build, world)
    memory(build, world)
    searching(build, world)
    awareness(build, world)
    mcp(build, world)
    server(build, world)
    labels(build, world)
    hooks(build, world)
    awareness(build, world)
    threads(build)
    with Model(build) as model:
        model_requests(build, world, model)
    settings(build)
    installing(build)
    maintenance(build, world)
    erasing(build, world)


def empty_home(build):
    for words in (["status"], ["sessions"], ["search", "x"], ["doctor"], ["timeline"], ["facts"], ["usage"], ["debug", "verify"], ["thread", "list"],
                  ["fix", "x"], ["show", "x"], ["config", "show"], ["resume"], ["enrich"], ["decisions"], ["workflows"], ["files", "x"]):
        build.both(*words)
    build.run("init", "--no-hooks")
    build.files("in an empty home")


def help_and_errors(build):
    for words in ([], ["-h"], ["--version"], ["-V"], ["nonsense"], ["--nonsense"], ["search", "--nonsense"], ["help", "nonsense"], ["search", "x", "--limit", "many"],
                  ["-c", "no.such=1", "status"], ["-c", "broken", "status"], ["--home", "/dev/null/x", "status"], ["--color", "blue", "status"]):
        build.run(*words)
    build.run("status", more={"RETHREAD_NOW": "noon"})
    build.run("status", more={"RETHREAD_DISABLE": "1"})
    for verb in build.helps:
        build.run(*verb.split(), "--help")
        build.run(*verb.split(), "-h")
        build.run("help", *verb.split())
    # The verbs of these groups can also be called without the name of the group.
    for verb in build.helps:
        if verb.startswith(("session ", "debug ")):
            build.run(verb.split()[1], "--help")
    for shell in ("bash", "zsh", "fish", "elvish", "powershell", "tcsh"):
        build.run("completions", shell)
    for words in (["--", "rethread", "se"], ["--", "rethread", "show", ""], ["--", "rethread", "search", "--kind", ""], ["--", "rethread", "hook", ""]):
        build.run(*words, more={"COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": str(len(words) - 2), "_CLAP_COMPLETE_COMP_TYPE": "9"})
    build.run("man")
    build.run("demo")


def syncing(build):
    build.both("sync", "--dry-run")
    build.run("sync", "--dry-run", "-v")
    # Folder by folder, because two threads index more than 2,000 entries, and then equal scores are not in a fixed order.
    for folder in sorted({path.parent for path in build.home.glob(".*/**/*.jsonl")}):
        build.run("sync", "--json", "--path", str(folder))
    build.run("sync", "--path", str(build.home / "nowhere"))
    build.run("sync", "--agent", "pi", "--since", "2026-01-01")
    build.both("sync", "-v")
    build.both("sync", "-q")
    build.files("after a sync")


def sessions(build, world):
    for flags in ([], ["--children"], ["--include-empty", "--children"], ["--limit", "3"], ["--agent", "pi"], ["--agent", "claude-code"], ["--agent", "native"],
                  ["--state", "active"], ["--state", "idle"], ["--state", "ended"], ["--for-ref"]):
        build.both("sessions", "--all-projects", *flags)
    build.both("sessions", "--project", world["project"])
    build.both("sessions")
    for one in world["sessions"]:
        build.run("show", one["id"], "--full", "--json")
        build.run("session", "card", one["id"], "--json")
        build.run("handoff", one["id"], "--json")
    for one in world["sample"]:
        ref = one["id"]
        for flags in ([], ["--full"], ["--lines", "5"], ["--bytes", "2000"], ["--profile", "text"], ["--profile", "full"], ["--episodes"], ["--events"]):
            build.both("show", ref, *flags)
        build.both("show", f"{ref}:{one['messages']}")
        build.both("session", "card", ref)
        build.both("handoff", ref)
        build.both("resume", ref)
        build.both("timeline", "--session", ref)
        build.both("ask", ref, "what was done and why?", "--no-model")
        build.both("ask", ref, "which error came up?")
        for words in (one["name"] or "x", one["externalId"], ref[-8:]):
            build.run("show", words, "--lines", "1")
    for ref in ("nonsense", "", "01", "fix", f"{world['sample'][0]['id']}:999999"):
        build.both("show", ref)
        build.both("handoff", ref)
    build.both("resume")


def memory(build, world):
    everywhere, here = ["--all-projects"], ["--project", world["project"]]
    for scope in (everywhere, here, []):
        for words in (["timeline"], ["timeline", "--limit", "100"], ["decisions"], ["decisions", "--all"], ["decisions", "use"], ["facts"], ["workflows"],
                      ["usage"], ["facts", "--limit", "3"], ["workflows", "--limit", "3"]):
            build.both(*words, *scope)
    for kind in ("file", "command", "error", "decision", "preference", "commit", "branch", "package"):
        build.both("facts", "--kind", kind, *everywhere)
    for group in ("day", "agent", "model", "project"):
        build.both("usage", "--by", group, *everywhere)
    build.run("usage", "--svg", "-", *everywhere)
    build.run("usage", "--agent", "pi", "--since", "2026-01", *everywhere)
    for moment in TIMES:
        build.both("timeline", "--since", moment, *everywhere)
        build.both("timeline", "--until", moment, *everywhere)
        build.both("decisions", "--as-of", moment, *everywhere)
        build.both("facts", "--as-of", moment, *everywhere)
        build.both("workflows", "--as-of", moment, *everywhere)
        build.both("usage", "--since", moment, *everywhere)
    for path in FILES:
        build.both("files", path, *everywhere)
        build.both("files", path, "--since", "2026-02", "--until", "2026-08", "--limit", "3", *everywhere)
        build.both("timeline", "--file", path, *everywhere)
        build.both("facts", path, *everywhere)
        build.run("facts", path, "--dot", *everywhere)
        build.run("facts", path, "--svg", *everywhere)
    for text in ERRORS:
        build.both("fix", text, *everywhere)
        build.both("fix", text, *here)
        build.both("fix", "-", *everywhere, said=f"some output\n{text}\nmore output\n")


def searching(build, world):
    for query in QUERIES:
        build.both("search", *everything(query))
    for flags in (["--group"], ["--full"], ["--exchange"], ["--limit", "50"], ["--kind", "error"], ["--agent", "pi"], ["--file", "package.json"], ["--tool", "Bash"],
                  ["--since", "2026-01"], ["--until", "2026-02"], ["--session", world["sample"][0]["id"]], ["--project", world["project"]]):
        build.both("search", "fix the test", *flags)
    build.both("search")
    hits = json.loads(build.run("search", "error in the test", "--all-projects", "--json"))["hits"]
    for hit in hits[:6]:
        citation = f"{hit['session']['id']}:{hit['entry']['line']}" if hit.get("entry") else hit["session"]["id"]
        build.both("show", citation)
        build.both("timeline", "--around", citation)
    for prompt in ("test", "fix", "index", "no such thing zz"):
        build.both("debug", "resolve", f"see @@{prompt} and @@\"{prompt}\"")


def everything(query):
    return ["--all-projects", "--", query] if query.startswith("-") else [query, "--all-projects"]


def awareness(build, world):
    for one in world["sample"]:
        build.at(one["lastActivityAt"] or world["newest"])
        build.both("debug", "activity", "--session", one["id"], "--peek")
        build.both("debug", "inject", "--session", one["id"], "--prompt", "fix the failing test in package.json")
        build.both("debug", "inject", "--session", one["id"], "--explain")
        build.both("debug", "inject", "--session", one["id"], "--history")
    build.both("debug", "activity", "--session", "nonsense")
    build.at(world["newest"])


def labels(build, world):
    for number, one in enumerate(world["sample"][:6]):
        ref = one["id"]
        build.run("session", "name", ref, f"given name {number}")
        build.run("session", "alias", ref, f"alias-{number % 3}")
        build.run("session", "alias", ref, "not an alias!")
        build.run("session", "task", ref, f"finish number {number}")
        build.run("session", "note", ref, f"staging is down until {number}")
        build.run("session", "pause" if number % 2 else "end", ref)
        build.both("show", ref, "--events")
        build.both("session", "card", ref, "--export")
    build.run("session", "name", world["sample"][0]["id"], "")
    build.both("show", "alias-1", "--lines", "2")
    build.both("debug", "resolve", "see @@alias-1")
    build.both("sessions", "--all-projects")
    build.files("after labels")


def hooks(build, world):
    for agent in ("claude-code", "pi", "nonsense"):
        for said in ("", "no json", "{}", "[]", '{"session_id": 7}', '{"hook_event_name": "SessionStart"}', "{" * 2000):
            build.run("hook", agent, said=said)
    for one in world["sample"]:
        build.at(one["lastActivityAt"] or world["newest"])
        for payload in claude_events(one) if one["agent"] == "claude-code" else pi_events(one):
            build.run("hook", one["agent"], said=json.dumps(payload))
        build.both("show", one["id"], "--events")
    new = {**world["sample"][0], "externalId": "0c0ffee0-0000-4000-8000-000000000001", "transcript": str(build.home / ".claude/projects/-new/new.jsonl")}
    for payload in claude_events(new):
        build.run("hook", "claude-code", said=json.dumps(payload))
    build.run("hook", "claude-code", said=json.dumps(claude_events(new)[1]), more={"RETHREAD_DISABLE": "1"})
    build.both("sessions", "--all-projects")
    build.both("status")
    build.files("after hooks")


def claude_events(one):
    bash, edit = {"command": "npm test"}, {"file_path": f"{one['cwd']}/package.json", "old_string": "a", "new_string": "b"}
    events = [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "go on with @@test and fix the error in package.json"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "go on"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "a notice", "source": "system"},
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": bash},
        {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": bash, "tool_response": {"stdout": "ok"}},
        {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit},
        {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "tool_response": "done"},
        {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "agent_id": "a1"},
        *({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": bash, "error": error} for error in ERRORS[:5]),
        {"hook_event_name": "Stop", "last_assistant_message": "All tests pass."},
        {"hook_event_name": "SubagentStop"},
        {"hook_event_name": "PreCompact"},
        {"hook_event_name": "SessionStart", "source": "compact"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "what is next?"},
        {"hook_event_name": "Nonsense"},
        {"hook_event_name": "SessionEnd", "reason": "other"},
        {"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
    ]
    return [{"session_id": one["externalId"], "transcript_path": one["transcript"], "cwd": one["cwd"], **event} for event in events]


def pi_events(one):
    bash, edit = {"command": "npm test"}, {"path": f"{one['cwd']}/package.json"}
    events = [
        {"event": "session_start"},
        {"event": "before_agent_start", "prompt": "go on with @@test and fix the error in package.json"},
        {"event": "before_agent_start", "prompt": "a notice", "message_type": "custom"},
        {"event": "tool_call", "tool_name": "bash", "tool_input": bash},
        {"event": "tool_result", "tool_name": "bash", "tool_input": bash, "output_chars": 12},
        {"event": "tool_call", "tool_name": "edit", "tool_input": edit},
        {"event": "tool_result", "tool_name": "edit", "tool_input": edit, "is_error": True, "error": ERRORS[1]},
        *({"event": "tool_result", "tool_name": "bash", "tool_input": bash, "is_error": True, "error": error} for error in ERRORS[:5]),
        {"event": "agent_end", "last_assistant_message": "All tests pass."},
        {"event": "session_before_compact"},
        {"event": "session_compact"},
        {"event": "before_agent_start", "prompt": "what is next?"},
        {"event": "session_shutdown", "reason": "reload"},
        {"event": "session_shutdown", "reason": "quit", "mode": "print"},
        {"event": "session_shutdown", "reason": "quit", "mode": "tui"},
    ]
    return [{"session_id": one["externalId"], "session_file": one["transcript"], "cwd": one["cwd"], **event} for event in events]


def mcp(build, world):
    first = world["sample"][0]["id"]
    handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "compare", "version": "1"}}
    calls = [("search_memory", {"query": "error in the test", "everywhere": True}), ("search_memory", {"query": "zzqq"}), ("search_memory", {}),
             ("get_memory", {"ids": [f"{first}:1", "nonsense"]}), ("session_activity", {}), ("session_activity", {"session": first}),
             ("read_session", {"session": first}), ("read_session", {"session": f"{first}:3", "lines": 4}), ("read_session", {"session": "nonsense"}),
             ("query_session", {"session": first, "question": "what was done?"}), ("find_fix", {"error": ERRORS[1], "everywhere": True}),
             ("remember", {"text": "the cache is warm", "session": first}), ("nonsense", {})]
    requests = [("initialize", handshake), ("tools/list", {}), ("ping", {}), ("resources/list", {}), ("nonsense", {})]
    requests += [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]
    with build.started("mcp", "--no-sync", ready=None, stop=None) as (process, _):
        for number, (method, parameters) in enumerate(requests):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            build.keep(f"mcp {method} {json.dumps(parameters)[:160]}", process.stdout.readline())


def server(build, world):
    token = build.run("token", hides="TOKEN").strip()
    build.both("token")
    build.both("open", "--print")
    with build.started("serve", "--listen", "127.0.0.1:0", "--no-watch", "--json") as (_, line):
        url = json.loads(line)["url"]
        document = json.loads(build.ask(url, "GET", "/api/openapi.json", token))
        for path, operations in document["paths"].items():
            if "get" in operations and path not in STREAMS:
                for one in world["sample"][::3] if "{" in path else world["sample"][:1]:
                    build.ask(url, "GET", filled(path, operations["get"], one["id"]), token)
        for page in PAGES + [f"/sessions/{one['id']}" for one in world["sample"]]:
            build.ask(url, "GET", page, token)
        build.ask(url, "GET", "/api/sessions", "wrong")
        for path, body in (("/api/search", {"query": "error"}), ("/api/fix", {"error": ERRORS[0]}), ("/api/resolve", {"text": "see @@test"}), ("/api/sync", {}),
                           ("/api/inject", {"sessionId": world["sample"][0]["id"], "prompt": "go on"}), ("/api/search", {"nonsense": 1}), ("/api/sync", [])):
            build.ask(url, "POST", path, token, body)
        build.ask(url, "PATCH", f"/api/sessions/{world['sample'][1]['id']}", token, {"name": "by HTTP", "note": "noted"})
        build.both("open", "--print")
        build.run("serve", "--listen", "127.0.0.1:0")
    with build.started("watch", "--every", "1h", ready="stderr", stop=signal.SIGINT):
        # Its first line comes before it listens to signals.
        time.sleep(0.5)
    build.run("token", "--rotate", hides="NEW-TOKEN")


def filled(path, operation, session):
    """The path with every required parameter."""
    wanted = {one["name"]: PARAMETERS.get(one["name"], "error") for one in operation.get("parameters", []) if one.get("required") and one["in"] == "query"}
    query = "&".join(f"{name}={value}".replace("SESSION", session).replace(" ", "%20") for name, value in wanted.items())
    return path.replace("{id}", session) + (f"?{query}" if query else "")


def threads(build):
    for flags in (["--name", "plans for the release"], ["--system", "Be brief."], ["--cron", "nightly", "--model", "tiny"]):
        made = json.loads(build.run("thread", "new", *flags, "--json"))
        ref = made["thread"]["id"]
        for count in range(4):
            build.both("thread", "append", ref, "--role", "user" if count % 2 == 0 else "assistant", said=f"message {count} about the tests")
        build.both("thread", "append", ref, "--role", "toolResult", "--tool-call-id", "call1", "--error", said="failed")
        build.both("thread", "append", ref, "--jsonl", said='{"role":"user","content":"a line"}\nno json\n')
        for words in (["context", ref], ["compact", ref, "--dry-run"], ["compact", ref], ["send", ref, "hello", "--dry-run"], ["send", ref, "hello"]):
            build.both("thread", *words)
        build.both("show", ref)
    build.both("thread", "list")
    build.both("thread", "context", "nonsense")
    build.run("sync")
    build.both("sessions", "--agent", "native", "--all-projects")
    build.both("search", "message about the tests", "--agent", "native", "--all-projects")
    build.files("after threads")


def model_requests(build, world, model):
    """What a model is asked, and what is made of its answers."""
    made = json.loads(build.run("thread", "new", "--json"))["thread"]["id"]
    sample = [one for one in world["sample"] if not one["empty"]]
    commands = [["thread", "send", made, "what is left to do?"], ["thread", "send", made, "and then?", "--memory"], ["thread", "compact", made, "--focus", "tests"]]
    for one in sample[:3] + sample[-3:]:
        commands += [["ask", one["id"], "what was decided?"], ["ask", one["id"], "what was decided?"], ["session", "card", one["id"], "--force", "--dry-run"],
                     ["session", "card", one["id"], "--refresh"], ["session", "card", one["id"], "--force"], ["enrich", one["id"]]]
    commands += [["enrich", "--dry-run"], ["enrich"], ["enrich", "--failed"], ["enrich", "--clear-failed"], ["usage"], ["status"], ["doctor"], ["sessions", "--all-projects"]]
    for words in commands:
        model.both(*words)
        model.keep_requests()
    build.both("thread", "context", made)
    build.both("thread", "delete", made, "--yes")


def settings(build):
    for key, value in SETTINGS:
        build.run("config", "set", key, value)
        build.run("config", "get", key)
        build.both("config", "show", "--origin")
    build.run("config", "path")
    build.run("config", "get", "inject.budget_tokens", more={"RETHREAD_INJECT_BUDGET_TOKENS": "77"})
    build.run("-c", "inject.budget_tokens=88", "config", "show", "--origin")
    build.both("doctor")
    build.files("after settings")
    (build.home / ".rethread" / "config.toml").unlink()


def installing(build):
    for agent in ("claude-code", "pi", "service", "nonsense"):
        for flags in (["--print"], ["--print", "--project"], ["--yes"], ["--yes"]):
            if agent != "service" or "--print" in flags:
                build.both("install", agent, *flags)
    build.both("install", "claude-code", "--plugin", str(build.home / "plugin"))
    build.files("after installing")
    build.both("doctor")
    build.run("init", "--yes")
    for agent in ("claude-code", "pi", "nonsense"):
        build.both("uninstall", agent)
        build.both("uninstall", agent)
    build.both("uninstall", "claude-code", "--plugin", str(build.home / "plugin"))
    build.files("after uninstalling")


def maintenance(build, world):
    build.both("status")
    build.both("debug", "verify")
    build.run("rebuild", "--index-only")
    build.run("rebuild")
    build.both("status")
    build.both("debug", "verify")
    build.both("sessions", "--all-projects", "--children", "--include-empty")
    build.both("search", RARE, "--all-projects")
    for one in world["sample"]:
        build.both("show", one["id"], "--full")
        build.both("session", "card", one["id"])


def erasing(build, world):
    build.both("thread", "delete", "nonsense", "--yes")
    build.both("forget")
    victims = [one["id"] for one in world["sample"][1::3]]
    for words in (victims[:2], ["--project", world["project"]], ["--before", "2026-01"], ["--matching", "package.json"], ["nonsense"]):
        build.both("forget", *words, "--dry-run")
    build.both("forget", victims[0])
    build.both("forget", *victims[:2], "--yes")
    build.both("forget", "--matching", "package.json", "--yes")
    for words in (["sync"], ["status"], ["sessions", "--all-projects"], ["search", RARE, "--all-projects"], ["debug", "verify"], ["doctor"], ["show", victims[0]]):
        build.both(*words)
    build.files("after forgetting")
