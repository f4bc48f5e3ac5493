"""OpenClaw: a database whose rows are lines of pi. An exit code says more than the error flag."""
from .common import as_blocks, edited_path, new_tally, number, parse_json, session_result, string, text_of, without_injected

AGENT = "openclaw"


def recognizes(path, content):
    return isinstance(content, tuple) and "transcript_events" in content[1]


def failed(message):
    details = message.get("details")
    code = details.get("exitCode") if isinstance(details, dict) else None
    return message.get("isError") is True or (isinstance(code, int) and code != 0)


def count_session(path, session_id, rows):
    tally, cwd = new_tally(), None
    for position, row in enumerate(rows):
        entry = parse_json(row["event_json"]) or {}
        message = entry.get("message") if isinstance(entry.get("message"), dict) else {}
        blocks = as_blocks(message.get("content"))
        text = "\n".join(t for b in blocks if (t := text_of(b)))
        cwd = cwd or string(entry.get("cwd"))
        if message.get("role") == "user" and without_injected(text):
            tally.prompts.append(without_injected(text))
        elif message.get("role") == "assistant":
            calls = [b for b in blocks if b.get("type") == "toolCall"]
            if calls or text.strip():
                tally.messages.add(position)
            for call in calls:
                tally.calls.add(string(call.get("id")))
                if edited := edited_path(call.get("name"), call.get("arguments")):
                    tally.edited.add(edited)
            used = message.get("usage")
            if isinstance(used, dict):
                tally.add_tokens(**{k: number(used.get(k)) for k in tally.tokens})
        elif message.get("role") == "toolResult" and failed(message):
            tally.errors.add(string(message.get("toolCallId")))
    return session_result(AGENT, session_id, path, tally, cwd=cwd, title=next(iter(tally.prompts), None))


def count(files):
    out = []
    for path, (connection, _) in files:
        sessions = connection.execute("select distinct session_id from transcript_events").fetchall()
        for session_id in [row["session_id"] for row in sessions]:
            rows = connection.execute("select event_json from transcript_events where session_id = ? order by seq",
                                      (session_id,)).fetchall()
            out.append(count_session(path, session_id, rows))
    return out
