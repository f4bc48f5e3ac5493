"""Reading files and small helpers that the counters of several agents use."""
import json
import math
import os
import re
import sqlite3
from dataclasses import dataclass

@dataclass
class Line:
    """One line that holds a JSON object. Everything else (blank, torn, malformed, non-object) never becomes a Line."""
    path: str
    number: int          # 1-based
    obj: dict


def read_lines(path):
    """The JSON objects of a file. Lines end with LF only: U+2028 and other Unicode separators are ordinary characters."""
    with open(path, "rb") as f:
        data = f.read()
    out = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        text = raw.decode("utf-8", errors="replace").strip("\ufeff \t\r")
        if not text:
            continue
        out += [Line(path, number, obj) for obj in objects_of(text)]
    return out


def objects_of(text):
    """The objects of a line. A writer that was stopped leaves no line break before the next object: the line then holds
    several objects, or a torn one and whole ones. An object counts as an entry if it has a type and an id or a time."""
    try:
        obj = json.loads(text)
        return [obj] if isinstance(obj, dict) else []
    except (ValueError, RecursionError):
        pass
    out, at, decoder = [], text.find('{"'), json.JSONDecoder()
    while at >= 0:
        try:
            obj, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            obj, end = None, at + 1
        rest = text[end:].lstrip()
        entry = isinstance(obj, dict) and "type" in obj and {"uuid", "sessionId", "timestamp", "leafUuid"} & set(obj)
        if entry and (not rest or rest[0] == "{"):
            out.append(obj)
        else:
            end = at + 1
        at = text.find('{"', end)
    return out


UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def is_uuid(value):
    return isinstance(value, str) and UUID.fullmatch(value) is not None


def string(value):
    """The value if it is a non-empty string, else None."""
    return value if isinstance(value, str) and value else None


def number(value):
    """A token count: a number that is not a boolean, else 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 0
    return int(value)


def as_blocks(content):
    """Content as a list of block objects: a string is one text block, so is a bare string inside an array."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    out = []
    for b in content:
        if isinstance(b, str):
            out.append({"type": "text", "text": b})
        elif isinstance(b, dict):
            out.append(b)
    return out


def text_of(block):
    """The text of a text block, else the empty string."""
    t = block.get("text")
    return t if block.get("type") == "text" and isinstance(t, str) else ""


INJECTED = [re.compile(p, re.S) for p in (
    r"<system-reminder>.*?</system-reminder>",
    r"<ide_opened_file>.*?</ide_opened_file>",
    r"<ide_selection>.*?</ide_selection>",
    r"<ide_diagnostics>.*?</ide_diagnostics>",
    r"<user-prompt-submit-hook>.*?</user-prompt-submit-hook>",
    r"<session-start-hook>.*?</session-start-hook>",
    r"<(rethread[\w:.-]*)(?:\s[^>]*)?>.*?</\1>",          # our own injections, whatever follows "rethread" in the tag
)]


def without_injected(text):
    for p in INJECTED:
        text = p.sub("", text)
    return text.strip()


def same_text(text):
    """Normalizes a text for comparison: runs of white space are equal to one space."""
    return " ".join(text.split())


WRITING_TOOLS = {  # lower case; each writes or edits the file its input names
    "write", "edit", "multiedit", "multi_edit", "notebookedit", "notebook_edit",
    "create", "create_file", "write_file", "write_to_file", "edit_file", "replace", "replace_in_file", "str_replace",
    "str_replace_editor", "str_replace_based_edit_tool", "insert", "editor", "patch",
}
PATH_KEYS = ("file_path", "notebook_path", "path", "filePath", "notebookPath")


def edited_path(tool_name, tool_input):
    """The path that a call writes or edits, as written, or None. Whether the call succeeded does not matter."""
    if not isinstance(tool_name, str) or tool_name.lower() not in WRITING_TOOLS or not isinstance(tool_input, dict):
        return None
    if tool_input.get("command") == "view":               # str_replace_based_edit_tool can also just view a file
        return None
    for k in PATH_KEYS:
        if string(tool_input.get(k)):
            return tool_input[k]
    return None


def zero_tokens():
    return {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


def first_and_last_timestamp(lines):
    """First and last top-level timestamp in file order. A file without any sorts last."""
    stamps = [l.obj["timestamp"] for l in lines if string(l.obj.get("timestamp"))]
    return (stamps[0], stamps[-1]) if stamps else ("~", "~")


PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.M)


def patched_paths(text):
    """The paths that a patch in the `*** Begin Patch` format names."""
    return set(PATCHED.findall(text)) if isinstance(text, str) and "*** Begin Patch" in text else set()


def parse_json(text):
    """The value of a JSON text; None if it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


@dataclass
class Tally:
    """What is counted in one session."""
    prompts: list                                          # texts
    messages: set                                          # identities of the model's messages
    calls: set
    errors: set
    edited: set                                            # paths as written
    tokens: dict

    def add_tokens(self, **amounts):
        for kind, amount in amounts.items():
            self.tokens[kind] += max(0, amount)


def new_tally():
    return Tally([], set(), set(), set(), set(), zero_tokens())


def session_result(agent, external_id, path, tally, parent=None, child=False, title=None, cwd=None, files=None):
    """One session as it is printed. The prompts of a sub-agent were written by a model."""
    prompts = [] if child else tally.prompts
    return {
        "agent": agent, "externalId": external_id, "file": path, "parent": parent, "child": child,
        "prompts": len(prompts), "messages": len(prompts) + len(tally.messages), "toolCalls": len(tally.calls),
        "toolErrors": len(tally.errors), "filesEdited": len(tally.edited), "tokens": tally.tokens, "title": title,
        "cwd": cwd, "promptTexts": [t[:80] for t in prompts], "files": files or [path],
    }


def open_database(path):
    """A read-only connection whose rows are dictionaries, and the names of its tables."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.row_factory = lambda cursor, row: {c[0]: v for c, v in zip(cursor.description, row)}
    tables = {row["name"] for row in connection.execute("select name from sqlite_master where type = 'table'")}
    return connection, tables
