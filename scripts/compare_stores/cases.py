"""What every store is asked: each case is a list of words, some with a text on standard input."""

QUERIES = [
    "why did the build fail", "deadlock", "fix test", '"not found"', "error -test", "kind:error", "kind:prompt,answer plan", "agent:pi session",
    "tool:bash git", "file:package.json", "after:2026-01-01 release", "last week tests", "before:2026-06-01 refactor", "src/index.ts", "日本語",
    "naïve café", "the", "zzzzqqqq", "workout work out", "parser", "Überprüfung",
]
ERRORS = ["error[E0308]: mismatched types", "ENOENT: no such file or directory", "Cannot find module 'x'", "command not found: foo",
          "TypeError: Cannot read properties of undefined (reading 'id')", "exit status 1", "nothing of the kind zzqq"]
FILES = ["package.json", "README.md", "src/index.ts", "main.go", "Cargo.toml", "PACKAGE.JSON", "100%_sure.zz", "nowhere.zz"]
QUESTIONS = ["why was this decided?", "how was the error fixed?", "what changed package.json?", "where did the last session stop?", "what do I prefer?"]
# These have no --json, so their text is compared.
WITHOUT_JSON = {"session name", "session alias", "session task", "session note", "session pause", "session end", "thread export", "config show",
                "export"}
TIMES = ["30d", "2026-03", "2026-08-16T14:00"]


def all_cases(sessions, threads):
    """Pairs of words and standard input. Sessions are those of a sample; threads are ids."""
    everywhere = ["--all-projects"]
    for flags in ([], ["--children"], ["--include-empty", "--children"], ["--limit", "3"], ["--agent", "pi"], ["--state", "active"], ["--state", "idle"],
                  ["--state", "ended"]):
        yield ["sessions", *everywhere, *flags], ""
    for query in QUERIES:
        yield ["search", *everywhere, "--", query], ""
    for flags in (["--group"], ["--full"], ["--exchange"], ["--limit", "50"], ["--kind", "error"], ["--agent", "pi"], ["--file", "package.json"],
                  ["--tool", "Bash"], ["--since", "2026-01"], ["--until", "2026-02"]):
        yield ["search", "fix the test", *everywhere, *flags], ""
    for words in (["timeline"], ["timeline", "--limit", "100"], ["decisions"], ["decisions", "--all"], ["decisions", "use"], ["facts"],
                  ["facts", "--limit", "100"], ["workflows"], ["workflows", "--limit", "100"], ["usage"]):
        yield [*words, *everywhere], ""
    for kind in ("file", "command", "error", "decision", "preference", "commit", "branch", "package", "setting", "topic"):
        yield ["facts", "--kind", kind, *everywhere], ""
    for group in ("day", "agent", "model", "project"):
        yield ["usage", "--by", group, *everywhere], ""
    for moment in TIMES:
        for words in (["timeline", "--since"], ["timeline", "--until"], ["decisions", "--as-of"], ["facts", "--as-of"], ["workflows", "--as-of"],
                      ["usage", "--since"], ["forget", "--dry-run", "--before"]):
            yield [*words, moment, *([] if words[0] == "forget" else everywhere)], ""
    for path in FILES:
        for words in (["files"], ["timeline", "--file"], ["facts"]):
            yield [*words, path, *everywhere], ""
    for text in ERRORS:
        yield ["fix", text, *everywhere], ""
        yield ["fix", "-", *everywhere], f"some output\n{text}\nmore output\n"
    for question in QUESTIONS:
        yield ["ask", question, "--no-model", *everywhere], ""
    for text in ("error", "ERROR", "naïve", "_", "%", "zzzzqqqq"):
        yield ["forget", "--dry-run", "--matching", text], ""
    for text in ("see @@test", "go on like @@\"fix\"", "@@nothing-like-this"):
        yield ["debug", "resolve", text], ""
    for words in (["status"], ["debug", "verify"], ["thread", "list"], ["enrich", "--dry-run"], ["session", "card", "zzzzqqqq"], ["show", "zzzzqqqq"],
                  ["sync", "--dry-run"], ["config", "show"], ["admin", "member", "list"], ["admin", "token", "list"], ["admin", "audit"],
                  ["admin", "retention"]):
        yield words, ""
    yield ["export", "--all-projects", "--output", "-"], ""
    for session in sessions:
        yield from of_session(session)
    for thread in threads:
        yield ["thread", "context", thread], ""
        yield ["show", thread, "--full"], ""
        yield ["thread", "export", thread], ""


def writing_cases(sessions, threads):
    """What changes a store, and then what shows it. After all others."""
    for number, session in enumerate(sessions[:6]):
        ref = session["id"]
        for words in (["name", ref, f"written {number}"], ["alias", ref, f"written-{number}"], ["task", ref, "write it"], ["note", ref, "written"],
                      ["pause", ref], ["end", ref]):
            yield ["session", *words], ""
        for words in (["show", ref, "--lines", "1"], ["session", "card", ref], ["resume", ref]):
            yield words, ""
    for thread in threads:
        yield ["thread", "append", thread, "--role", "user"], "one more message"
        yield ["thread", "compact", thread], ""
        yield ["thread", "context", thread], ""
    yield ["thread", "new", "--name", "written"], ""
    if threads:
        yield ["thread", "delete", threads[0], "--yes"], ""
        yield ["thread", "context", threads[0]], ""
    yield ["thread", "list"], ""
    for session in sessions[6:8]:
        yield ["forget", session["id"], "--yes"], ""
        yield ["show", session["id"]], ""
    yield ["sessions", "--all-projects", "--limit", "50"], ""


def of_session(session):
    """What is asked about one session."""
    ref = session["id"]
    for flags in ([], ["--full"], ["--lines", "5"], ["--profile", "text"], ["--episodes"], ["--events"]):
        yield ["show", ref, *flags], ""
    for words in (["session", "card", ref], ["handoff", ref], ["resume", ref], ["timeline", "--session", ref], ["ask", ref, "what was done and why?", "--no-model"],
                  ["forget", ref, "--dry-run"], ["search", "error", "--session", ref]):
        yield words, ""
    for words in (session["name"] or "x", session["externalId"], ref[-8:]):
        yield ["show", words, "--lines", "1"], ""
    # Last, because these read new transcript lines first.
    yield ["debug", "activity", "--session", ref, "--peek"], ""
    for flags in (["--prompt", "fix the failing test in package.json"], ["--explain"], ["--history"]):
        yield ["debug", "inject", "--session", ref, *flags], ""
