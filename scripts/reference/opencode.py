"""OpenCode and Kilo: exported documents, and databases of both generations (`message` + `part`, `session_message`)."""
from .common import edited_path, new_tally, number, parse_json, patched_paths, session_result, string, without_injected

AGENT = "opencode"


def recognizes(path, content):
    if isinstance(content, dict):
        messages = content.get("messages")
        return isinstance(content.get("info"), dict) and isinstance(messages, list) and all(
            isinstance(m, dict) and "info" in m for m in messages[:1])
    return isinstance(content, tuple) and {"session", "part"} <= content[1] or (
        isinstance(content, tuple) and "session_message" in content[1])


def as_dict(value):
    return value if isinstance(value, dict) else {}


def count_usage(tally, used):
    """Newer versions store the output without the reasoning, older ones with it; the total says which."""
    cache = as_dict(used.get("cache"))
    read, write = number(cache.get("read")), number(cache.get("write"))
    output = number(used.get("output"))
    if number(used.get("total")):
        output = number(used["total"]) - number(used.get("input")) - read - write
    tally.add_tokens(input=number(used.get("input")), output=output, cacheRead=read, cacheWrite=write)


def unquoted(text):
    """`opencode run "two words"` stores the prompt as a quoted string."""
    value = parse_json(text) if text.startswith('"') and text.endswith('"') else None
    return value if isinstance(value, str) else text


def typed_in_parts(parts):
    """What a human typed, or None. Parts that plugins and OpenCode added are marked as synthetic or ignored."""
    texts = [without_injected(p["text"]) for p in parts if p.get("type") == "text" and isinstance(p.get("text"), str)
             and not p.get("synthetic") and not p.get("ignored")]
    text = unquoted("\n".join(t for t in texts if t))
    if not text and any(p.get("type") == "file" for p in parts) and not any(
            p.get("type") in ("text", "compaction", "subtask") for p in parts):
        return ""
    return text or None


def failed_call(state):
    metadata = as_dict(state.get("metadata"))
    exit_code = metadata.get("exit")
    return state.get("status") == "error" or (isinstance(exit_code, int) and exit_code != 0)


def count_call(tally, identity, tool, state):
    tally.calls.add(identity)
    if failed_call(state):
        tally.errors.add(identity)
    arguments = as_dict(state.get("input"))
    if path := edited_path(tool, arguments):
        tally.edited.add(path)
    if tool in ("apply_patch", "patch"):
        tally.edited |= patched_paths(arguments.get("patchText"))


def count_messages(tally, messages, revert):
    """`messages`: pairs of info and parts, in order. Identities are positions: redacted exports repeat their ids."""
    undone = False
    for position, (info, parts) in enumerate(messages):
        undone = undone or bool(revert) and info.get("id") == revert
        if isinstance(info.get("tokens"), dict) and info.get("role") == "assistant":
            count_usage(tally, info["tokens"])
        if undone:
            continue
        if info.get("role") == "user":
            text = typed_in_parts(parts)
            if text is not None:
                tally.prompts.append(text)
        elif info.get("role") == "assistant" and info.get("summary") is not True:
            calls = [(i, p) for i, p in enumerate(parts) if p.get("type") == "tool"]
            if calls or any(p.get("type") == "text" and string(p.get("text")) and p["text"].strip() for p in parts):
                tally.messages.add(position)
            for i, part in calls:
                count_call(tally, (position, i), part.get("tool"), as_dict(part.get("state")))


def count_document(path, document):
    info = document["info"]
    tally = new_tally()
    messages = [(as_dict(m.get("info")), [p for p in m.get("parts") or [] if isinstance(p, dict)])
                for m in document["messages"] if isinstance(m, dict)]
    count_messages(tally, messages, string(as_dict(info.get("revert")).get("messageID")))
    parent = string(info.get("parentID"))
    return session_result(AGENT, string(info.get("id")), path, tally, parent=parent, child=parent is not None,
                          title=string(info.get("title")), cwd=string(info.get("directory")))


def in_first_generation(connection, session_id):
    messages = []
    for row in connection.execute("select id, data from message where session_id = ? order by time_created, id",
                                  (session_id,)):
        parts = connection.execute("select data from part where message_id = ? order by id", (row["id"],))
        parts = [as_dict(parse_json(p["data"])) for p in parts]
        messages.append(({**as_dict(parse_json(row["data"])), "id": row["id"]}, parts))
    return messages


def in_second_generation(connection, session_id):
    """The rows of `session_message` in the shape of the first generation."""
    messages = []
    columns = {row["name"] for row in connection.execute("pragma table_info(session_message)")}
    order = "seq" if "seq" in columns else "time_created, id"
    for row in connection.execute(f"select id, type, data from session_message where session_id = ? order by {order}",
                                  (session_id,)):
        data = as_dict(parse_json(row["data"]))
        if row["type"] == "user":
            messages.append(({"role": "user", "id": row["id"]}, [{"type": "text", "text": data.get("text")}]))
        elif row["type"] == "assistant":
            parts = [as_dict(p) for p in data.get("content") or []]
            parts = [{**p, "tool": p.get("name")} if p.get("type") == "tool" else p for p in parts]
            messages.append(({"role": "assistant", "id": row["id"], "tokens": data.get("tokens")}, parts))
    return messages


def count_database(path, connection, tables):
    agent = "kilo" if "kilo" in path.split("/")[-1] else AGENT
    rows_of = in_first_generation
    if "session_message" in tables and connection.execute("select 1 from session_message limit 1").fetchone():
        rows_of = in_second_generation
    table = "session_v2" if rows_of is in_second_generation and "session_v2" in tables else "session"
    out = []
    for row in connection.execute(f"select * from {table}").fetchall():
        tally = new_tally()
        revert = as_dict(parse_json(row.get("revert")))
        count_messages(tally, rows_of(connection, row["id"]), string(revert.get("messageID")))
        parent = string(row.get("parent_id"))
        out.append(session_result(agent, row["id"], path, tally, parent=parent, child=parent is not None,
                                  title=string(row.get("title")), cwd=string(row.get("directory"))))
    return out


def count(files):
    out = []
    for path, content in files:
        out += [count_document(path, content)] if isinstance(content, dict) else count_database(path, *content)
    return out
