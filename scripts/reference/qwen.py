"""Qwen Code: JSON lines with the parts of the Gemini API; sub-agents in files of their own."""
import os
import re

from .common import edited_path, new_tally, number, session_result, string, without_injected

AGENT = "qwen"
ADDED = re.compile(r"<qwen:[\w-]+>.*?</qwen:[\w-]+>", re.S)


def recognizes(path, lines):
    if ".claude" in path.split(os.sep):                    # Claude Code reads whatever is in its own folder
        return False
    return any(isinstance(l.obj.get("message"), dict) and isinstance(l.obj["message"].get("parts"), list) or
               "provenance" in l.obj for l in lines[:20])


def typed(record, parts):
    """What a human typed of a user record, or None."""
    if record.get("provenance") not in (None, "real_user") or record.get("subtype") in ("notification", "cron"):
        return None
    payload = record.get("systemPayload")
    text = string(payload.get("displayText")) if isinstance(payload, dict) else None
    text = text or "\n".join(p["text"] for p in parts if isinstance(p.get("text"), str))
    return without_injected(ADDED.sub("", text)) or None


def failed(result):
    if not isinstance(result, dict):
        return False
    shown = result.get("resultDisplay")
    code = shown.get("exitCode") if isinstance(shown, dict) else None
    return result.get("status") in ("error", "cancelled") or (isinstance(code, int) and code != 0)


def count_file(path, lines):
    tally = new_tally()
    for line in lines:
        o = line.obj
        message = o.get("message") if isinstance(o.get("message"), dict) else {}
        parts = [p for p in message.get("parts") or [] if isinstance(p, dict)]
        if o.get("type") == "user" and (text := typed(o, parts)):
            tally.prompts.append(text)
        elif o.get("type") == "assistant":
            identity = string(o.get("uuid")) or line.number
            calls = [p["functionCall"] for p in parts if isinstance(p.get("functionCall"), dict)]
            if calls or any(string(p.get("text")) and not p.get("thought") for p in parts):
                tally.messages.add(identity)
            for i, call in enumerate(calls):
                tally.calls.add(string(call.get("id")) or (identity, i))
                if edited := edited_path(call.get("name"), call.get("args")):
                    tally.edited.add(edited)
            used = o.get("usageMetadata")
            if isinstance(used, dict):
                prompt, cached = number(used.get("promptTokenCount")), number(used.get("cachedContentTokenCount"))
                tally.add_tokens(input=prompt - cached, cacheRead=cached,
                                 output=number(used.get("totalTokenCount")) - prompt)
        elif o.get("type") == "tool_result" and failed(o.get("toolCallResult")):
            tally.errors.add(string(o["toolCallResult"].get("callId")))
    stem = os.path.basename(path).removesuffix(".jsonl")
    child = any(l.obj.get("isSidechain") is True for l in lines)
    head = lines[0].obj
    return session_result(AGENT, stem if child else string(head.get("sessionId")) or stem, path, tally, child=child,
                          parent=string(head.get("sessionId")) if child else None, cwd=string(head.get("cwd")),
                          title=next(iter(tally.prompts), None))


def count(files):
    return [count_file(path, lines) for path, lines in files]
