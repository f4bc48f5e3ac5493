"""pi: the active branch of a session; entries inherited from a parent session do not count."""
import json
import os
import re
from dataclasses import dataclass

from .claude_prompts import NOT_TYPED_PREFIXES, NOTIFICATION, is_task_report
from .common import (as_blocks, edited_path, first_and_last_timestamp, number, string, text_of, without_injected,
                     zero_tokens)

AGENT = "pi"


def recognizes(path, lines):
    """Whether the first line is a header of pi."""
    head = lines[0].obj
    return head.get("type") == "session" and bool(string(head.get("id")))


@dataclass
class PiFile:
    path: str
    header: dict
    entries: list                                          # Lines after the header, without any further header
    order: tuple = ()

    def __post_init__(self):
        self.order = (*first_and_last_timestamp(self.entries), self.path)

    def has_ids(self):
        return any(string(e.obj.get("id")) for e in self.entries)

    def parent_path(self):
        return string(self.header.get("parentSession")) or string(self.header.get("branchedFrom"))


def identity(entry):
    """The identity of an entry: id and timestamp; in version 1, which has no ids, the whole entry."""
    o = entry.obj
    if string(o.get("id")):
        return (o["id"], str(o.get("timestamp")))
    return json.dumps(o, sort_keys=True)


def active_branch(f):
    """The entries from the root to the leaf. Without ids (version 1): all entries."""
    if not f.has_ids():
        return list(f.entries)
    by_id, leaf = {}, None
    for e in f.entries:
        entry_id = string(e.obj.get("id"))
        if e.obj.get("type") == "leaf" and string(e.obj.get("targetId")):
            leaf = e.obj["targetId"]
        elif entry_id:
            leaf = entry_id
        if entry_id:
            by_id.setdefault(entry_id, e)
    branch, visited = [], set()
    while leaf in by_id and leaf not in visited:           # a cycle, a missing parent or no parent ends the walk
        visited.add(leaf)
        branch.append(by_id[leaf])
        leaf = string(by_id[leaf].obj.get("parentId"))
    return branch[::-1]


def pi_sessions(files):
    """Files by session id. The newest file of a session, which determines the active branch, is last."""
    sessions = {}
    for f in files:
        sessions.setdefault(f.header["id"], []).append(f)
    for fs in sessions.values():
        fs.sort(key=lambda f: (f.order[1], len(f.entries), f.has_ids(), f.path))
    return sessions


def id_in_file_name(path):
    """<timestamp>_<session id>.jsonl -> the session id."""
    stem = re.split(r"[/\\]", path)[-1]
    stem = stem[:-len(".jsonl")] if stem.endswith(".jsonl") else stem
    return stem.split("_", 1)[1] if "_" in stem else stem


def pi_parent(f, sessions):
    """The id of the session this one was branched from, taken from the path in the header."""
    path = f.parent_path()
    if path is None:
        return None
    for session_id, fs in sessions.items():
        if any(os.path.abspath(g.path) == os.path.abspath(path) for g in fs):
            return session_id
    return id_in_file_name(path)


def inherited(session_id, sessions):
    """The identities of all entries of all ancestors that were read."""
    out, visited = set(), {session_id}
    current = session_id
    while current in sessions:
        current = pi_parent(sessions[current][-1], sessions)
        if current is None or current in visited or current not in sessions:
            break
        visited.add(current)
        out |= {identity(e) for f in sessions[current] for e in f.entries}
    return out


PI_SKILL = re.compile(r'<skill name="([^"]*)"(?:.*\n</skill>|.*)', re.S)


def pi_typed(text):
    """What a human typed of a user message; None if a program wrote all of it."""
    text = without_injected(text)
    if m := PI_SKILL.match(text):                          # a skill's instructions, then the user's words
        rest = text[m.end():].strip()
        return f"/skill:{m.group(1)} {rest}" if rest else None
    if text.startswith(NOT_TYPED_PREFIXES[3:]) or NOTIFICATION.match(text) or is_task_report(text):
        return None
    return text


def count_pi(session_id, sessions):
    files = sessions[session_id]
    newest = files[-1]
    foreign = inherited(session_id, sessions)

    names = [e.obj for e in newest.entries if e.obj.get("type") == "session_info"]
    name = (string(names[-1].get("name")) or "").strip() or None if names else None
    child = bool(name and name.startswith("subagent-"))

    prompts, messages, tool_calls, errors, edited = [], 0, 0, 0, set()
    for e in active_branch(newest):
        message = e.obj.get("message")
        if e.obj.get("type") != "message" or not isinstance(message, dict) or identity(e) in foreign:
            continue
        blocks = as_blocks(message.get("content"))
        if message.get("role") == "user":
            text = pi_typed("\n".join(text_of(b) for b in blocks))
            if text or (text is not None and any(b.get("type") == "image" for b in blocks)):
                prompts.append(text)
        elif message.get("role") == "assistant":
            calls = [b for b in blocks if b.get("type") == "toolCall"]
            if calls or any(text_of(b).strip() for b in blocks):
                messages += 1
            tool_calls += len(calls)
            edited |= {p for b in calls if (p := edited_path(b.get("name"), b.get("arguments")))}
        elif message.get("role") == "toolResult" and message.get("isError") is True:
            errors += 1
    first_prompt = next((p for p in prompts if p), None)
    if child:
        prompts = []

    tokens, seen = zero_tokens(), set(foreign)
    for f in (files if newest.has_ids() else [newest]):
        for e in f.entries:
            message = e.obj.get("message")
            if e.obj.get("type") != "message" or not isinstance(message, dict) or identity(e) in seen:
                continue
            if not f.has_ids() and f is not newest:        # the same session before pi gave its entries ids
                continue
            seen.add(identity(e))
            if message.get("role") == "assistant" and isinstance(message.get("usage"), dict):
                for k in tokens:
                    tokens[k] += number(message["usage"].get(k))
    return {
        "agent": "pi", "externalId": session_id, "file": newest.path, "parent": pi_parent(newest, sessions),
        "child": child, "prompts": len(prompts), "messages": len(prompts) + messages, "toolCalls": tool_calls,
        "toolErrors": errors, "filesEdited": len(edited), "tokens": tokens, "title": name or first_prompt,
        "cwd": string(newest.header.get("cwd")), "promptTexts": [t[:80] for t in prompts],
        "files": [f.path for f in files],
    }


def count(files):
    """One result per session; `files` are pairs of path and lines."""
    by_id = pi_sessions([PiFile(path, lines[0].obj, [l for l in lines[1:] if l.obj.get("type") != "session"])
                         for path, lines in files])
    return [count_pi(i, by_id) for i in by_id]
