"""Hermes: a database with one row per message; results of tools are JSON texts with an exit code or an error."""
from .common import edited_path, new_tally, number, parse_json, session_result, string, without_injected

AGENT = "hermes"


def recognizes(path, content):
    return isinstance(content, tuple) and {"sessions", "messages"} <= content[1] and path.endswith("state.db")


def failed(text):
    result = parse_json(text)
    if not isinstance(result, dict):
        return False
    code = result.get("exit_code")
    return bool(result.get("error")) or result.get("success") is False or (isinstance(code, int) and code != 0)


def count_session(path, session, rows):
    tally = new_tally()
    for row in rows:
        text = without_injected(row["content"]) if isinstance(row["content"], str) else ""
        if row["role"] == "user" and text and not text.startswith("Review the conversation above and"):
            tally.prompts.append(text)
        elif row["role"] == "assistant":
            calls = [c for c in parse_json(row.get("tool_calls")) or [] if isinstance(c, dict)]
            if calls or text:
                tally.messages.add(row["id"])
            for call in calls:
                tally.calls.add(call.get("id"))
                function = call.get("function") if isinstance(call.get("function"), dict) else {}
                if edited := edited_path(function.get("name"), parse_json(function.get("arguments"))):
                    tally.edited.add(edited)
        elif row["role"] == "tool" and failed(row["content"]):
            tally.errors.add(row["tool_call_id"])
    tally.add_tokens(input=number(session.get("input_tokens")), output=number(session.get("output_tokens")),
                     cacheRead=number(session.get("cache_read_tokens")), cacheWrite=number(session.get("cache_write_tokens")))
    return session_result(AGENT, session["id"], path, tally, child=session.get("source") == "subagent",
                          parent=string(session.get("parent_session_id")), title=string(session.get("title")),
                          cwd=string(session.get("cwd")))


def count(files):
    out = []
    for path, (connection, _) in files:
        columns = {row["name"] for row in connection.execute("pragma table_info(messages)")}
        only = "and active = 1" if "active" in columns else ""
        for session in connection.execute("select * from sessions").fetchall():
            rows = connection.execute(f"select * from messages where session_id = ? {only} order by id", (session["id"],))
            out.append(count_session(path, session, rows.fetchall()))
    return out
