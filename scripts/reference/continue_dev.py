"""Continue: one document per session; calls and their results are beside the answer."""
from .common import as_blocks, edited_path, new_tally, number, parse_json, session_result, string, text_of, without_injected

AGENT = "continue"


def recognizes(path, document):
    return isinstance(document, dict) and "sessionId" in document and isinstance(document.get("history"), list)


def count_document(path, document):
    tally = new_tally()
    for position, item in enumerate(i for i in document["history"] if isinstance(i, dict)):
        message = item.get("message") if isinstance(item.get("message"), dict) else {}
        text = "\n".join(text_of(b) for b in as_blocks(message.get("content")))
        if message.get("role") == "user" and without_injected(text):
            tally.prompts.append(without_injected(text))
        if message.get("role") != "assistant":
            continue
        states = {s.get("toolCallId"): s for s in item.get("toolCallStates") or [] if isinstance(s, dict)}
        calls = [c for c in message.get("toolCalls") or [] if isinstance(c, dict)]
        if calls or text.strip():
            tally.messages.add(position)
        for i, call in enumerate(calls):
            identity = string(call.get("id")) or (position, i)
            tally.calls.add(identity)
            if states.get(call.get("id"), {}).get("status") in ("errored", "canceled", "cancelled"):
                tally.errors.add(identity)
            function = call.get("function") if isinstance(call.get("function"), dict) else {}
            if edited := edited_path(function.get("name"), parse_json(function.get("arguments"))):
                tally.edited.add(edited)
        used = message.get("usage") if isinstance(message.get("usage"), dict) else {}
        details = used.get("prompt_tokens_details") if isinstance(used.get("prompt_tokens_details"), dict) else {}
        cached = number(details.get("cached_tokens"))
        tally.add_tokens(input=number(used.get("prompt_tokens")) - cached, cacheRead=cached,
                         output=number(used.get("completion_tokens")))
    return session_result(AGENT, string(document.get("sessionId")), path, tally, title=string(document.get("title")),
                          cwd=string(document.get("workspaceDirectory")))


def count(files):
    return [count_document(path, document) for path, document in files]
