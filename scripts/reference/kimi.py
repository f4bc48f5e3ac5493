"""Kimi Code: the wire log of each agent of a session. Lines of kind "event" repeat messages."""
import os

from .common import as_blocks, edited_path, new_tally, number, session_result, string, text_of, without_injected

AGENT = "kimi"


def recognizes(path, lines):
    head = lines[0].obj
    return os.path.basename(path) == "wire.jsonl" and head.get("type") == "metadata" and "protocol_version" in head \
        and "agents" in path.split(os.sep)


def count_file(path, lines):
    tally = new_tally()
    has_prompts = any(l.obj.get("type") in ("turn.prompt", "turn.steer") for l in lines)
    for line in lines:
        o = line.obj
        origin = o.get("origin") if isinstance(o.get("origin"), dict) else {}
        message = o.get("message") if isinstance(o.get("message"), dict) else {}
        event = o.get("event") if isinstance(o.get("event"), dict) else {}
        if o.get("kind") == "event":
            continue
        if o.get("type") in ("turn.prompt", "turn.steer") and origin.get("kind") in (None, "user"):
            text = without_injected("\n".join(text_of(b) for b in as_blocks(o.get("input"))))
            if text:
                tally.prompts.append(text)
        elif o.get("type") == "context.append_message" and message.get("role") == "user" and not has_prompts:
            text = without_injected("\n".join(text_of(b) for b in as_blocks(message.get("content"))))
            kind = (message.get("origin") or {}).get("kind")
            if text and kind in (None, "user"):
                tally.prompts.append(text)
        elif o.get("type") == "context.append_message" and message.get("role") == "assistant":
            tally.messages.add(line.number)
        elif event.get("type") == "content.part" and (event.get("part") or {}).get("type") == "text":
            tally.messages.add(event.get("stepUuid"))
        elif event.get("type") == "tool.call":
            tally.messages.add(event.get("stepUuid") or line.number)
            tally.calls.add(string(event.get("toolCallId")) or line.number)
            if edited := edited_path(event.get("name"), event.get("args")):
                tally.edited.add(edited)
        elif event.get("type") == "tool.result" and (event.get("result") or {}).get("isError"):
            tally.errors.add(event.get("toolCallId"))
        elif o.get("type") == "usage.record" and isinstance(o.get("usage"), dict):
            used = o["usage"]
            tally.add_tokens(input=number(used.get("inputOther")), output=number(used.get("output")),
                             cacheRead=number(used.get("inputCacheRead")), cacheWrite=number(used.get("inputCacheCreation")))
    parts = path.split(os.sep)
    session, agent = parts[-4], parts[-2]
    child = agent != "main"
    return session_result(AGENT, f"{session}/{agent}" if child else session, path, tally, child=child,
                          parent=session if child else None, title=next(iter(tally.prompts), None))


def count(files):
    return [count_file(path, lines) for path, lines in files]
