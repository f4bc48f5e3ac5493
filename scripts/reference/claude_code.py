"""Claude Code: which files make a session, which lines are copies, and what is counted."""
import json
import os
from dataclasses import dataclass, field

from .claude_prompts import claude_prompts, is_tool_result
from .common import as_blocks, edited_path, first_and_last_timestamp, is_uuid, number, string, text_of, zero_tokens

AGENT = "claude-code"

CLAUDE_TYPES = {"user", "assistant", "system", "summary", "progress", "attachment", "file-history-snapshot",
                "queue-operation", "last-prompt", "ai-title", "custom-title", "agent-name", "tag", "permission-mode",
                "mode", "pr-link", "worktree-state", "relocated", "bridge-session", "content-replacement",
                "frame-link", "atis-latch"}


def recognizes(path, lines):
    """Whether any line looks like a line of Claude Code. Qwen Code names its types alike."""
    return ".qwen" not in path.split(os.sep) and any(string(l.obj.get("type")) in CLAUDE_TYPES for l in lines)


@dataclass
class ClaudeFile:
    path: str
    lines: list
    stem: str = ""
    child: bool = False
    external_id: str = ""
    parent: str | None = None
    order: tuple = ()

    def __post_init__(self):
        self.stem = os.path.basename(self.path)
        if self.stem.endswith(".jsonl"):
            self.stem = self.stem[:-len(".jsonl")]
        session_id = next((s for l in self.lines if (s := string(l.obj.get("sessionId")))), None)
        self.child = self.stem.startswith("agent-") or self.is_all_sidechain()
        if self.child:
            self.external_id = self.stem
            self.parent = session_id or self.session_directory()
        else:
            self.external_id = self.stem if is_uuid(self.stem) else session_id or self.stem
        self.order = (*first_and_last_timestamp(self.lines), self.path)

    def is_all_sidechain(self):
        """Old versions begin a session's own file with the warm-up of a sub-agent, so the first message does not decide."""
        flags = [l.obj.get("isSidechain") is True for l in self.lines if l.obj.get("type") in ("user", "assistant")]
        return bool(flags) and all(flags)

    def session_directory(self):
        """<sessionId>/subagents/.../agent-x.jsonl: the session id, if the lines do not say."""
        parts = os.path.abspath(self.path).split(os.sep)
        if "subagents" in parts:
            i = len(parts) - 1 - parts[::-1].index("subagents")
            return parts[i - 1] if i > 0 else None
        return None

    def key(self):
        return (self.child, self.parent, self.external_id)


@dataclass
class ClaudeSession:
    key: tuple
    files: list = field(default_factory=list)             # in ClaudeFile.order

    @property
    def child(self):
        return self.files[0].child

    def lines(self):
        """The session's own lines, without inline sidechain lines of a main session."""
        for f in self.files:
            for l in f.lines:
                if self.child or l.obj.get("isSidechain") is not True:
                    yield l


def claude_sessions(files):
    sessions = {}
    for f in sorted(files, key=lambda f: f.order):
        sessions.setdefault(f.key(), ClaudeSession(f.key())).files.append(f)
    return list(sessions.values())


def usable(obj):
    """Whether this line may represent its uuid. A user or assistant line without content may not: a broken line must not
    hide a good line with the same uuid."""
    if obj.get("type") not in ("user", "assistant"):
        return True
    message = obj.get("message")
    return isinstance(message, dict) and bool(as_blocks(message.get("content")))


def claude_copies(sessions):
    """The lines that must not be counted, as a set of (path, line number).

    - within one session (one or several files): a uuid counts once, its first usable line;
    - across sessions: a UUID-shaped uuid belongs to the first session that has it, files taken in the order of first
      timestamp, last timestamp, path; a line whose forkedFrom.messageUuid is known in another session is a copy too;
    - queue operations have no uuid: within one session the same (operation, timestamp, content) counts once."""
    owner = {}                     # UUID-shaped uuid -> key of the session that owns it
    known = {}                     # any uuid -> keys of all sessions that have it
    # `sessions` is in the order of each session's first file; the lines must go by file, whatever the session.
    by_file = sorted(((f, s) for s in sessions for f in s.files), key=lambda pair: pair[0].order)
    for f, s in by_file:
        for l in f.lines:
            if not s.child and l.obj.get("isSidechain") is True:
                continue
            uuid = string(l.obj.get("uuid"))
            if uuid and usable(l.obj):
                known.setdefault(uuid, set()).add(s.key)
                if is_uuid(uuid):
                    owner.setdefault(uuid, s.key)

    copies = set()
    for s in sessions:
        seen_uuid, seen_operation = set(), set()
        for l in s.lines():
            o, where = l.obj, (l.path, l.number)
            uuid = string(o.get("uuid"))
            if uuid and usable(o):
                if uuid in seen_uuid or owner.get(uuid, s.key) != s.key:
                    copies.add(where)
                seen_uuid.add(uuid)
            forked = o.get("forkedFrom")
            if isinstance(forked, dict):
                if known.get(string(forked.get("messageUuid")), set()) - {s.key}:
                    copies.add(where)
            if o.get("type") == "queue-operation" and string(o.get("timestamp")):
                operation = json.dumps([o.get("operation"), o["timestamp"], o.get("content")], sort_keys=True)
                if operation in seen_operation and len(s.files) > 1:
                    copies.add(where)
                seen_operation.add(operation)
    return copies


REFUSALS = ("The user doesn't want to proceed with this tool use", "The user doesn't want to take this action right now")


def result_text(block):
    return "\n".join(text_of(b) for b in as_blocks(block.get("content")))


def is_error_result(block):
    return block.get("is_error") is True or result_text(block).startswith(REFUSALS)


def says_something(block):
    """Whether a block is text or a tool call. Thinking or blank text alone does not make a message."""
    return bool(text_of(block).strip()) or block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use")


def count_claude(session, copies, summaries):
    lines = list(session.lines())
    counted = [l for l in lines if (l.path, l.number) not in copies]

    messages, usages, tool_calls, errors, edited = set(), {}, set(), set(), set()
    for l in counted:
        o, here = l.obj, (l.path, l.number)
        message = o.get("message")
        if not isinstance(message, dict):
            continue
        blocks = as_blocks(message.get("content"))
        if o.get("type") == "assistant":
            if message.get("model") == "<synthetic>":
                continue
            api_message = string(message.get("id")) or here
            if any(says_something(b) for b in blocks):
                messages.add(api_message)
            if isinstance(message.get("usage"), dict):
                usages[api_message] = message["usage"]     # the last one seen
            for i, b in enumerate(blocks):
                if b.get("type") == "tool_use":
                    tool_calls.add(string(b.get("id")) or (here, i))
                    path = edited_path(b.get("name"), b.get("input"))
                    if path:
                        edited.add(path)
        elif o.get("type") == "user":
            for i, b in enumerate(blocks):
                if is_tool_result(b) and is_error_result(b):
                    errors.add(string(b.get("tool_use_id")) or (here, i))

    prompts = [] if session.child else claude_prompts(lines, copies)
    tokens = zero_tokens()
    for u in usages.values():
        tokens["input"] += number(u.get("input_tokens"))
        tokens["output"] += number(u.get("output_tokens"))
        tokens["cacheRead"] += number(u.get("cache_read_input_tokens"))
        tokens["cacheWrite"] += number(u.get("cache_creation_input_tokens"))
    f = session.files[0]
    return {
        "agent": "claude-code", "externalId": f.external_id, "file": f.path, "parent": f.parent, "child": f.child,
        "prompts": len(prompts), "messages": len(prompts) + len(messages), "toolCalls": len(tool_calls),
        "toolErrors": len(errors), "filesEdited": len(edited), "tokens": tokens,
        "title": claude_title(lines, prompts, summaries),
        "cwd": next((c for l in lines if (c := string(l.obj.get("cwd")))), None),
        "promptTexts": [t[:80] for t in prompts],
        "files": [g.path for g in session.files],
    }


def summary_place(line, uuid):
    """The lookup key of a summary's leafUuid: a real UUID is global, any other id is local to its folder."""
    return uuid if is_uuid(uuid) else (os.path.dirname(line.path), uuid)


def collect_summaries(files):
    """Summary lines by the uuid they point to: they often sit in another session's file."""
    out = {}
    for f in files:
        for l in f.lines:
            if l.obj.get("type") == "summary" and string(l.obj.get("summary")) and string(l.obj.get("leafUuid")):
                out.setdefault(summary_place(l, l.obj["leafUuid"]), []).append(l.obj["summary"])
    return out


def claude_title(lines, prompts, summaries):
    """Last custom title, last AI title, last prompt line, last summary pointing into this session, first prompt."""
    for type_, key in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("last-prompt", "lastPrompt")):
        found = [s for l in lines if l.obj.get("type") == type_ and (s := string(l.obj.get(key)))]
        if found:
            return found[-1].strip()
    found = [s for l in lines if string(l.obj.get("uuid")) for s in summaries.get(summary_place(l, l.obj["uuid"]), [])]
    found += [l.obj["summary"] for l in lines
              if l.obj.get("type") == "summary" and string(l.obj.get("summary")) and not string(l.obj.get("leafUuid"))]
    if found:
        return found[-1].strip()
    return next((p for p in prompts if p), None)


def count(files):
    """One result per session; `files` are pairs of path and lines."""
    files = [ClaudeFile(path, lines) for path, lines in files]
    sessions = claude_sessions(files)
    copies, summaries = claude_copies(sessions), collect_summaries(files)
    return [count_claude(s, copies, summaries) for s in sessions]
