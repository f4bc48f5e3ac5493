"""Gemini CLI: one JSON document (old) or JSON lines (new). A record replaces an earlier one with the same id."""
import os
import re

from .common import edited_path, new_tally, number, session_result, string, without_injected

AGENT = "gemini"
CONTEXT = re.compile(r"<(hook_context|session_context|loaded_context|environment_context)\b[^>]*>.*?</\1>", re.S)
# The client answers its own summary with this sentence; the summary is the message before it.
AFTER_SUMMARY = "Got it. Thanks for the additional context!"
EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)\s*$", re.M)


def recognizes(path, content):
    head = content if isinstance(content, dict) else content[0].obj
    is_header = string(head.get("sessionId")) and "type" not in head and ".qwen" not in path.split(os.sep) \
        and ("projectHash" in head or "startTime" in head)
    return bool(is_header) and (not isinstance(content, dict) or isinstance(content.get("messages"), list))


def parts_of(content):
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, dict):
        return [content]
    return [{"text": p} if isinstance(p, str) else p for p in content if isinstance(p, (str, dict))] \
        if isinstance(content, list) else []


def text_of_parts(content):
    return "\n".join(p["text"] for p in parts_of(content) if isinstance(p.get("text"), str) and not p.get("thought"))


def typed(record):
    """What a human typed of a user record, or None."""
    parts = parts_of(record.get("content"))
    if any("functionResponse" in p for p in parts):
        return None
    shown = record.get("displayContent")
    text = without_injected(CONTEXT.sub("", text_of_parts(shown if shown else record.get("content"))))
    if not text and any("inlineData" in p or "fileData" in p for p in parts):
        return ""
    return text or None


def from_snapshot(messages, known):
    """The records of a `$set.messages` list that are not known yet and are not the client's own."""
    for i, record in enumerate(messages):
        follower = messages[i + 1] if i + 1 < len(messages) else None
        is_summary = isinstance(follower, dict) and text_of_parts(follower.get("content")).strip() == AFTER_SUMMARY
        if not isinstance(record, dict) or not string(record.get("id")) or record["id"] in known or is_summary:
            continue
        if text_of_parts(record.get("content")).strip() != AFTER_SUMMARY:
            yield record


def fold(lines, known, abandoned):
    """Adds the records of a file to `known` (by id, in order), and undone ones to `abandoned`."""
    for line in lines:
        o = line.obj
        changed = o.get("$set")
        if string(o.get("$rewindTo")):
            ids = list(known)
            keep = ids[:ids.index(o["$rewindTo"])] if o["$rewindTo"] in known else []
            abandoned += [known[i] for i in ids if i not in keep]
            for i in [i for i in ids if i not in keep]:
                del known[i]
        elif isinstance(changed, dict) and isinstance(changed.get("messages"), list):
            for record in from_snapshot(changed["messages"], known):
                known[record["id"]] = record
        elif string(o.get("id")) and string(o.get("type")):
            known[o["id"]] = o


def failed(call):
    if call.get("status") in ("error", "cancelled", "canceled"):
        return True
    for part in parts_of(call.get("result")):
        response = (part.get("functionResponse") or {}).get("response")
        if not isinstance(response, dict):
            continue
        if response.get("error"):
            return True
        output = response.get("output")
        if call.get("name") == "run_shell_command" and isinstance(output, str):
            codes = EXIT_CODE.findall(output)
            if codes and codes[-1] != "0":
                return True
    return False


def count_records(tally, records, abandoned):
    for position, record in enumerate(records):
        if record.get("type") == "user":
            text = typed(record)
            if text is not None:
                tally.prompts.append(text)
        elif record.get("type") == "gemini":
            calls = [c for c in record.get("toolCalls") or [] if isinstance(c, dict)]
            message = string(record.get("id")) or position
            if calls or text_of_parts(record.get("content")).strip():
                tally.messages.add(message)
            for i, call in enumerate(calls):
                identity = string(call.get("id")) or (message, i)
                tally.calls.add(identity)
                if failed(call):
                    tally.errors.add(identity)
                if path := edited_path(call.get("name"), call.get("args")):
                    tally.edited.add(path)
    for record in [*records, *abandoned]:
        used = record.get("tokens") if record.get("type") == "gemini" else None
        if isinstance(used, dict):
            cached = number(used.get("cached"))
            tally.add_tokens(input=number(used.get("input")) - cached + number(used.get("tool")), cacheRead=cached,
                             output=number(used.get("output")) + number(used.get("thoughts")))


def count(files):
    """One result per session id; the same session may be in several files of both kinds."""
    sessions = {}
    for path, content in sorted(files, key=lambda f: (not isinstance(f[1], dict), f[0])):
        head = content if isinstance(content, dict) else content[0].obj
        one = sessions.setdefault(head["sessionId"], {"files": [], "known": {}, "abandoned": [], "head": head})
        one["files"].append(path)
        if isinstance(content, dict):
            for i, record in enumerate(r for r in content["messages"] if isinstance(r, dict)):
                one["known"].setdefault(string(record.get("id")) or (path, i), record)
        else:
            fold(content, one["known"], one["abandoned"])
    out = []
    for session_id, one in sessions.items():
        tally = new_tally()
        count_records(tally, list(one["known"].values()), one["abandoned"])
        child = one["head"].get("kind") == "subagent"
        folder = os.path.basename(os.path.dirname(one["files"][0]))
        out.append(session_result(AGENT, session_id, one["files"][0], tally, child=child,
                                  parent=folder if child else None, files=one["files"],
                                  title=string(one["head"].get("summary")) or next(iter(tally.prompts), None)))
    return out
