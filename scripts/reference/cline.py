"""Cline, new generation: one document per session or sub-agent; the input counts include the cache."""
import re

from .anthropic_blocks import count_blocks
from .common import new_tally, number, session_result, string, without_injected

AGENT = "cline"
WRAPPER = re.compile(r"<user_input[^>]*>(.*?)</user_input>", re.S)


def recognizes(path, document):
    return isinstance(document, dict) and document.get("version") == 1 and "sessionId" in document \
        and isinstance(document.get("messages"), list)


def typed(text):
    wrapped = WRAPPER.search(text)
    text = without_injected(wrapped.group(1) if wrapped else text)
    return None if text.startswith("<hook_context") else text


def count_document(path, document):
    tally = new_tally()
    for position, message in enumerate(m for m in document["messages"] if isinstance(m, dict)):
        metadata = message.get("metadata")
        if isinstance(metadata, dict) and metadata.get("displayRole") == "system":
            continue
        count_blocks(tally, position, message.get("role"), message.get("content"), typed)
        used = message.get("metrics")
        if isinstance(used, dict):
            read, write = number(used.get("cacheReadTokens")), number(used.get("cacheWriteTokens"))
            tally.add_tokens(input=number(used.get("inputTokens")) - read - write, cacheRead=read, cacheWrite=write,
                             output=number(used.get("outputTokens")))
    child = document.get("agent") in ("subagent", "teammate")
    return session_result(AGENT, string(document.get("sessionId")), path, tally, child=child,
                          title=next(iter(tally.prompts), None))


def count(files):
    return [count_document(path, document) for path, document in files]
