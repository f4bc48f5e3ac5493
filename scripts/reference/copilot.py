"""Copilot CLI: events of a session. The events of sub-agents are in the same file and do not count for the session."""
import os

from .common import edited_path, new_tally, number, parse_json, session_result, string, without_injected

AGENT = "copilot"


def recognizes(path, lines):
    head = lines[0].obj
    return head.get("type") == "session.start" and isinstance(head.get("data"), dict)


def by_subagent(event):
    return bool(string(event.get("agentId")) or string(event["data"].get("parentToolCallId")))


def call_id(data):
    return str(data["toolCallId"]) if data.get("toolCallId") not in (None, "") else None


def typed(event):
    """What a human typed, or None: skills, other agents and the autopilot also send messages."""
    data = event["data"]
    if data.get("source") not in (None, "", "user") or data.get("isAutopilotContinuation"):
        return None
    text = without_injected(data["content"]) if isinstance(data.get("content"), str) else ""
    return text or ("" if data.get("attachments") else None)


def failed(data):
    shell = data.get("shellExecution")
    code = shell.get("exitCode") if isinstance(shell, dict) else None
    return data.get("success") is False or (isinstance(code, int) and code != 0)


def without_rewound(events):
    """The events that were not undone by a rewind; it names the first event that it removes."""
    kept = []
    for event in events:
        if event["type"] == "session.snapshot_rewind":
            target = string(event["data"].get("upToEventId"))
            at = next((i for i, e in enumerate(kept) if e.get("id") == target), None)
            if at is not None:
                kept = kept[:at]
        else:
            kept.append(event)
    return kept


def count_tokens(tally, events):
    """Per call if the version records it; else the sums at the end of the last run; else only the output."""
    records = [e["data"].get("usage") for e in events if e["type"] == "session.usage_record"]
    records += [e["data"] for e in events if e["type"] == "assistant.usage"]
    ends = [e["data"] for e in events if e["type"] == "session.shutdown"]
    metrics = ends[-1].get("modelMetrics") if ends else None
    if not records and isinstance(metrics, dict):
        records = [m.get("usage") for m in metrics.values() if isinstance(m, dict)]
    records = [r for r in records if isinstance(r, dict)]
    if not records:
        seen = {}
        for e in events:
            if e["type"] == "assistant.message":
                seen[string(e["data"].get("messageId")) or e.get("id")] = {"outputTokens": e["data"].get("outputTokens")}
        records = list(seen.values())
    for used in records:
        read, write = number(used.get("cacheReadTokens")), number(used.get("cacheWriteTokens"))
        tally.add_tokens(input=number(used.get("inputTokens")) - read - write, cacheRead=read, cacheWrite=write,
                         output=number(used.get("outputTokens")))


def count_session(path, events):
    own = [e for e in events if not by_subagent(e)]
    tally = new_tally()
    # Some calls have no request of the model; those that the user asked for are not the model's.
    requested = {call_id(r) for e in own for r in e["data"].get("toolRequests") or [] if isinstance(r, dict)}
    requested |= {None, *[call_id(e["data"]) for e in own if e["type"] == "tool.user_requested"]}
    answered = set()
    for position, event in enumerate(without_rewound(own)):
        data, type_ = event["data"], event["type"]
        if type_ == "user.message":
            text = typed(event)
            if text is not None:
                tally.prompts.append(text)
        elif type_ == "assistant.message":
            requests = [r for r in data.get("toolRequests") or [] if isinstance(r, dict)]
            text = data.get("content")
            if requests or (isinstance(text, str) and text.strip()):
                tally.messages.add(string(data.get("messageId")) or string(event.get("id")) or position)
            for i, request in enumerate(requests):
                identity = call_id(request) or (position, i)
                tally.calls.add(identity)
                arguments = request.get("arguments")
                arguments = parse_json(arguments) if isinstance(arguments, str) else arguments
                if edited := edited_path(request.get("name"), arguments):
                    tally.edited.add(edited)
        elif type_ == "tool.execution_start" and call_id(data) not in requested:
            tally.calls.add(call_id(data))
            tally.messages.add(("call", call_id(data)))
            if edited := edited_path(data.get("toolName"), data.get("arguments")):
                tally.edited.add(edited)
        elif type_ == "tool.execution_complete" and call_id(data) not in answered:
            answered.add(call_id(data))
            if failed(data):
                tally.errors.add(call_id(data))
    tally.errors &= tally.calls
    count_tokens(tally, own)
    start = next(e["data"] for e in events if e["type"] == "session.start")
    context = start.get("context") if isinstance(start.get("context"), dict) else {}
    external_id = string(start.get("sessionId")) or os.path.basename(os.path.dirname(path))
    return session_result(AGENT, external_id, path, tally, cwd=string(context.get("cwd")),
                          title=next(iter(tally.prompts), None))


def count(files):
    return [count_session(path, [l.obj for l in lines if isinstance(l.obj.get("data"), dict) and string(l.obj.get("type"))])
            for path, lines in files]
