"""Steps, checks, and how to look into the requests that reached the model."""
import datetime, json

ACTIVITY, OURS, REFERENCES = "[Session Activity]", "<rethread-context>", "Referenced session summaries:"
CONTEXT, WELCOME = "[SESSION CONTEXT]", "Welcome back."
TOOLS = ["search_memory", "get_memory", "session_activity", "read_session", "query_session", "find_fix", "remember"]
REPLY = "FAKE-REPLY ok"
COMPACT = "/compact"
PATIENCE = 90
# Phrases that occur in only one prompt, so that their origin is clear wherever they appear.
SEXTANT, KETTLE, BAROMETER, ORCHARD = "calibrate the sextant", "polish the kettle", "fix the barometer", "prune the orchard"
CANARY = "the yellow canary"
LIGHTHOUSE = "in the lighthouse beside the harbour,"
FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH = (f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "12345678")
# A check that fails until a folder exists, so that creating it is the fix.
CHECK = 'if test -d greased; then echo fine; else echo "error: the sluice gate squeaks" >&2; exit 1; fi\n'
FIX_LINE = "ran `mkdir greased`"


class Failed(Exception):
    """A check failed."""


def step(text):
    print(f"\n== {text}", flush=True)


def show(text):
    for line in text.rstrip("\n").splitlines()[:30]:
        print(f"    {line[:240]}", flush=True)


def hold(what, holds):
    print(f"  {'ok  ' if holds else 'FAIL'} {what}", flush=True)
    if not holds:
        raise Failed(what)


def texts_of(body):
    """All text blocks of a request."""
    texts = []
    for message in body["messages"]:
        content = message["content"]
        pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [piece["text"] for piece in pieces if piece.get("type") == "text"]
    return texts


def count(texts, words):
    return sum(text.count(words) for text in texts)


def injected(texts, prompt):
    """How often activity blocks mention a prompt: quoted, or as the name of a session."""
    lines = [line for text in texts if ACTIVITY in text for line in text.splitlines()]
    return sum(f'"{prompt}' in line or line.startswith(f"- {prompt} (") and '): "' not in line for line in lines)


def since(texts, prompt):
    """The texts after a prompt, which are those added to it."""
    return texts[max(at for at, text in enumerate(texts) if prompt in text) + 1:]


def last_result(body):
    """The last tool result in a request."""
    pieces = [piece for message in body["messages"] if isinstance(message["content"], list) for piece in message["content"]]
    results = [piece["content"] for piece in pieces if piece.get("type") == "tool_result"]
    last = results[-1] if results else ""
    return last if isinstance(last, str) else "".join(piece.get("text", "") for piece in last)


def later(**span):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def calling(tool, **arguments):
    """A prompt that makes the fake model call a tool. The instruction is at the end, so that excerpts do not include it."""
    return f"{'look into the memory, and then once more, ' * 4}please. [[tool {tool} {json.dumps(arguments)}]]"


def running(tool, command):
    return f"{'run it, and then once more, ' * 5}please. [[tool {tool} {json.dumps({'command': command})}]]"


def fixes_received(client):
    """How often the last request contains the fix. It is in the tool result, not in a text block."""
    return json.dumps(client.model.bodies()[-1]["messages"]).count(FIX_LINE)
