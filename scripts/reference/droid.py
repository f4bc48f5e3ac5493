"""Factory Droid: JSON lines; the tokens are sums in the settings file beside the transcript."""
import json

from .anthropic_blocks import count_blocks
from .common import new_tally, number, session_result, string, without_injected

AGENT = "droid"


def recognizes(path, lines):
    head = lines[0].obj
    return head.get("type") == "session_start" and (bool(string(head.get("id"))) or bool(string(head.get("sessionId"))))


def count_file(path, lines):
    head, tally = lines[0].obj, new_tally()
    for line in lines[1:]:
        o = line.obj
        message = o.get("message") if isinstance(o.get("message"), dict) else o
        hidden = "user_only" in (o.get("visibility"), message.get("visibility"))
        if o.get("type") != "message" or hidden or str(o.get("id")).startswith("context-"):
            continue
        count_blocks(tally, string(o.get("id")) or line.number, message.get("role"), message.get("content"), without_injected)
    try:
        with open(path.removesuffix(".jsonl") + ".settings.json", encoding="utf-8") as file:
            used = json.load(file).get("tokenUsage") or {}
    except (OSError, ValueError):
        used = {}
    tally.add_tokens(input=number(used.get("inputTokens")), output=number(used.get("outputTokens")),
                     cacheRead=number(used.get("cacheReadTokens")), cacheWrite=number(used.get("cacheCreationTokens")))
    return session_result(AGENT, string(head.get("id")) or head["sessionId"], path, tally, cwd=string(head.get("cwd")),
                          title=string(head.get("title")))


def count(files):
    return [count_file(path, lines) for path, lines in files]
