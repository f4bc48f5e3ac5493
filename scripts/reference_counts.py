#!/usr/bin/env python3
"""Reference counter for Claude Code and pi transcripts (Python 3.11, standard library only).

usage: reference_counts.py [--verbose] FILE_OR_DIR...

Prints one JSON line per session with the counts that `rethread sessions --json` must report. Shares no code with the
Rust implementation. Slow and simple on purpose: everything is held in memory, and each rule has one function.

Steps
  1. read every *.jsonl file; decide by content whether it is Claude Code, pi or neither
  2. group files into sessions
  3. find copied lines (of the same session, or of another session)
  4. count the remaining lines
"""
import argparse
import json
import math
import os
import re
import sys
from dataclasses import dataclass, field

# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------

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


def find_files(arguments):
    """Every given file and every *.jsonl file in each given folder, without duplicates."""
    seen, out = set(), []
    for a in arguments:
        found = []
        if os.path.isdir(a):
            for d, dirs, files in os.walk(a):
                dirs.sort()
                found += [os.path.join(d, f) for f in sorted(files) if f.endswith(".jsonl")]
        else:
            found = [a]
        for p in found:
            real = os.path.realpath(p)
            if real not in seen:
                seen.add(real)
                out.append(p)
    return out


CLAUDE_TYPES = {"user", "assistant", "system", "summary", "progress", "attachment", "file-history-snapshot",
                "queue-operation", "last-prompt", "ai-title", "custom-title", "agent-name", "tag", "permission-mode",
                "mode", "pr-link", "worktree-state", "relocated", "bridge-session", "content-replacement",
                "frame-link", "atis-latch"}


def which_agent(lines):
    """"pi" if the first line is a pi header; "claude-code" if any line looks like a Claude Code line; else None."""
    if not lines:
        return None
    head = lines[0].obj
    if head.get("type") == "session" and isinstance(head.get("id"), str) and head["id"]:
        return "pi"
    if any(string(l.obj.get("type")) in CLAUDE_TYPES for l in lines):
        return "claude-code"
    return None

# ---------------------------------------------------------------------------------------------------------------------
# Small helpers
# ---------------------------------------------------------------------------------------------------------------------

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
    "str_replace_editor", "str_replace_based_edit_tool", "insert",
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

# ---------------------------------------------------------------------------------------------------------------------
# Claude Code: files and sessions
# ---------------------------------------------------------------------------------------------------------------------

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

# ---------------------------------------------------------------------------------------------------------------------
# Claude Code: what is a prompt
# ---------------------------------------------------------------------------------------------------------------------

NOT_TYPED_PREFIXES = (
    "Caveat: The messages below were generated by the user while running local commands",
    "<bash-input>",                                        # `!` commands
    "<user-memory-input>",                                 # `#` notes
    "<teammate-message", "<cross-session-message", "<channel-message", "<mcp-resource-update", "<mcp-polling-update",
    "<github-webhook-activity", "<remote-review", "<fork-boilerplate",
    "This session is being continued from a previous conversation",   # compaction summary, should the flag be missing
    "Operation stopped by hook", "Stop hook feedback:",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]", "[MESSAGE FROM NON-USER SOURCE - NOT USER INPUT]",
    "Another Claude session sent a message",
    "Base directory for this skill: ",                     # a skill's instructions
)
NOTIFICATION = re.compile(r"<[a-z_-]*-notification[\s>]|<channel[\s>].*</channel>", re.S)
OUTPUT = re.compile(r"<(local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout|bash-stderr"
                    r"|session-start-hook|user-prompt-submit-hook|tick|goal)>(?:.*</\1>|.*)", re.S)
INTERRUPTION = re.compile(r"\[Request interrupted by user[^\]]*\]?")
CORRECTION_HINT = re.compile(r"(?:^|\n)Note: The user's next message may contain a correction.*", re.S)
RAW_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s+(.*))?", re.S)


def tag_content(text, tag):
    m = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S)
    return m.group(1).strip() if m else ""


def is_task_report(text):
    """The JSON object with which Claude Code reports on a background task."""
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return (isinstance(report, dict) and "task_id" in report
            and bool({"task_type", "tool_use_id", "output_file", "status"} & set(report)))


def typed_text(text):
    """The part of a user line's text that a human typed, or None."""
    text = without_injected(CORRECTION_HINT.sub("", text))
    while m := OUTPUT.match(text) or INTERRUPTION.match(text):
        text = text[m.end():].strip()
    if not text or text == "(no content)" or text.startswith(NOT_TYPED_PREFIXES):
        return None
    if NOTIFICATION.match(text) or is_task_report(text):
        return None
    if text.startswith(("<command-name>", "<command-message>", "<command-args>", "<command-contents>")):
        arguments = tag_content(text, "command-args")
        if not arguments:
            return None
        name = tag_content(text, "command-name")
        return f"/{name.lstrip('/')} {arguments}"
    return text


def typed_in_blocks(blocks):
    """The typed texts of the text blocks, joined, or None. Each block is classified separately."""
    pieces = [t for b in blocks if (t := typed_text(text_of(b)))]
    return "\n".join(pieces) if pieces else None


def not_by_a_human(obj):
    """Whether the fields around the message say that no human wrote it."""
    origin = obj.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return bool(obj.get("isMeta") or obj.get("isCompactSummary") or obj.get("isVisibleInTranscriptOnly")
                or obj.get("turnCompanion") or obj.get("sourceToolUseID") or obj.get("promptSource") == "system"
                or obj.get("turnOrigin") not in (None, "", "human", "sdk")
                or (isinstance(kind, str) and kind != "human"))


def is_tool_result(block):
    return block.get("type") == "tool_result"


@dataclass
class Shown:
    """A text in a user line or queued command that could have been typed."""
    position: int
    text: str
    kind: str                 # "user": a plain user line; "beside": beside a tool result; "queued": a queued command
    human: bool               # False: the line is marked as not written by a human


def shown_in_user_line(position, obj):
    message = obj.get("message")
    if not isinstance(message, dict):
        return None
    blocks = as_blocks(message.get("content"))
    beside = any(is_tool_result(b) for b in blocks)
    if not beside and "toolUseResult" in obj:
        return None                                        # a tool result whose block is broken
    text = typed_in_blocks(blocks)
    if text is None and not beside and any(b.get("type") in ("image", "document") for b in blocks):
        text = ""                                          # only a pasted image
    if text is None:
        return None
    return Shown(position, text, "beside" if beside else "user", not not_by_a_human(obj))


def shown_in_attachment(position, obj):
    a = obj.get("attachment")
    if not isinstance(a, dict) or a.get("type") != "queued_command":
        return None
    text = typed_in_raw_queue(a.get("prompt"))
    if text is None:
        return None
    human = a.get("commandMode") in (None, "prompt") and not not_by_a_human(obj) and not not_by_a_human(a)
    return Shown(position, text, "queued", human)


def typed_in_raw_queue(content):
    """The text a human typed, from queue content, where slash commands and `!` commands are still without tags."""
    text = typed_in_blocks(as_blocks(content))
    if text is None or text.startswith("!"):
        return None
    m = RAW_SLASH_COMMAND.fullmatch(text)
    if m and not (m.group(1) or "").strip():
        return None
    return text


@dataclass
class Enqueued:
    position: int
    text: str | None          # None: not a prompt (notification, command without arguments), but it occupies a place in the queue
    taken_back: bool = False
    can_be: tuple = ("user", "beside", "queued")           # the kinds of Shown it can have turned into


def enqueued_texts(lines):
    """Replays the queue operations. Every enqueue of a possible prompt, whether popAll took it back, and where it can
    show up.

    The queue is first in, first out; dequeue and remove take one entry (remove may name it by its content), popAll
    takes back everything still waiting. A dequeued text becomes a plain user line; a removed one a queued command, or
    text beside a tool result, or nothing. Only where it is certain which entry left do we rely on that. A queue does
    not outlive its file."""
    everything, waiting, sent, path = [], [], [], None
    for position, l in enumerate(lines):
        o = l.obj
        if l.path != path:
            waiting, sent, path = [], [], l.path
        if o.get("type") == "user" and (shown := shown_in_user_line(position, o)):
            first = next((e for e in sent if same_text(e.text) == same_text(shown.text)), None)
            sent = [e for e in sent if e is not first]
        if o.get("type") != "queue-operation":
            continue
        operation, content = o.get("operation"), o.get("content")
        if operation == "enqueue":
            e = Enqueued(position, typed_in_raw_queue(content))
            # Taken out of the queue, not shown yet and queued again: the same prompt, not a second one.
            again = next((s for s in sent if e.text and same_text(s.text) == same_text(e.text)), None)
            if again:
                sent = [s for s in sent if s is not again]
                again.can_be = e.can_be
                e = again
            else:
                everything.append(e)
            waiting.append(e)
        elif operation == "popAll":
            for e in waiting:
                e.taken_back = True
            waiting = []
        elif operation in ("dequeue", "remove") and waiting:
            name = typed_in_raw_queue(content)
            named = next((e for e in waiting if name and e.text and same_text(e.text) == same_text(name)), None)
            left = named or waiting[0]
            if named or len(waiting) == 1:
                left.can_be = ("user",) if operation == "dequeue" else ("queued", "beside")
            waiting = [e for e in waiting if e is not left]
            if operation == "dequeue" and left.text is not None:
                sent.append(left)
    return [e for e in everything if e.text is not None]


def claude_prompts(lines, copies):
    """The prompts of a main session in order of appearance: a list of texts.

    `lines` are all its lines, also the copied ones: a copied line does not count, but it can still be the line that
    an enqueue operation turned into."""
    shown = []
    for position, l in enumerate(lines):
        if l.obj.get("type") == "user":
            shown.append(shown_in_user_line(position, l.obj))
        elif l.obj.get("type") == "attachment":
            shown.append(shown_in_attachment(position, l.obj))
    shown = [s for s in shown if s]

    # One text typed while a tool ran may be there both as a queued command and beside a tool result: keep the former.
    spare = {}
    for s in shown:
        if s.kind == "queued" and s.human:
            spare[same_text(s.text)] = spare.get(same_text(s.text), 0) + 1
    kept = []
    for s in shown:
        if s.kind == "beside" and spare.get(same_text(s.text), 0) > 0:
            spare[same_text(s.text)] -= 1
        else:
            kept.append(s)

    def is_copy(position):
        return (lines[position].path, lines[position].number) in copies

    prompts = [(s.position, s.text) for s in kept if s.human and not is_copy(s.position)]
    # An enqueued text that shows up later counts there; each line answers for one enqueue operation only.
    free = list(kept)
    for e in enqueued_texts(lines):
        if e.taken_back:
            continue
        later = next((s for s in free if s.position > e.position and s.kind in e.can_be
                      and same_text(s.text) == same_text(e.text)), None)
        if later:
            free = [s for s in free if s is not later]
        elif not is_copy(e.position):
            prompts.append((e.position, e.text))
    return [t for _, t in sorted(prompts, key=lambda x: x[0])]

# ---------------------------------------------------------------------------------------------------------------------
# Claude Code: counting
# ---------------------------------------------------------------------------------------------------------------------

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

# ---------------------------------------------------------------------------------------------------------------------
# pi
# ---------------------------------------------------------------------------------------------------------------------

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
            by_id[entry_id] = e
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
        return text[m.end():].strip() or None
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

# ---------------------------------------------------------------------------------------------------------------------
# All sessions
# ---------------------------------------------------------------------------------------------------------------------

def count_all(paths, warn=lambda message: None):
    """One dictionary per session, Claude Code first, each agent's sessions by file."""
    claude_files, pi_files = [], []
    for p in paths:
        try:
            lines = read_lines(p)
        except OSError as e:
            warn(f"{p}: {e}")
            continue
        agent = which_agent(lines)
        if agent == "pi":
            entries = [l for l in lines[1:] if l.obj.get("type") != "session"]
            pi_files.append(PiFile(p, lines[0].obj, entries))
        elif agent == "claude-code":
            claude_files.append(ClaudeFile(p, lines))
        else:
            warn(f"{p}: neither Claude Code nor pi")

    sessions = claude_sessions(claude_files)
    copies, summaries = claude_copies(sessions), collect_summaries(claude_files)
    out = [count_claude(s, copies, summaries) for s in sessions]
    by_id = pi_sessions(pi_files)
    out += [count_pi(i, by_id) for i in by_id]
    return sorted(out, key=lambda r: (r["agent"], r["file"]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("paths", nargs="+", metavar="FILE_OR_DIR")
    ap.add_argument("--verbose", action="store_true", help="print skipped files to stderr")
    a = ap.parse_args()
    warn = (lambda m: print(m, file=sys.stderr)) if a.verbose else (lambda m: None)
    for r in count_all(find_files(a.paths), warn):
        print(json.dumps(r))


if __name__ == "__main__":
    main()
