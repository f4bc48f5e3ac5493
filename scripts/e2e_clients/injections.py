"""Finds our texts in the requests that reached the model, whichever API the client uses."""
import dataclasses, html, json, re

BLOCK = re.compile(r"<rethread-context>(.*?)(?:</rethread-context>|\Z)", re.S)
# Lines that every block of a kind has. They may occur more than once.
FRAME = re.compile(r"^\[[A-Za-z ]+\]$|^\(as of .*\)$|^$")


@dataclasses.dataclass(frozen=True)
class Injection:
    """One of our texts in a request. `place` counts the request's texts, `anchor` the user's prompts before it; -1 is the system prompt."""

    text: str
    place: int
    anchor: int
    role: str
    # The whole text that it is in, if it is not alone there.
    around: str | None


def pieces(body):
    """The texts of a request with their roles (system, user, assistant, result), in order."""
    body = body.get("request") or body
    found = [("system", text) for key in ("system", "instructions", "systemInstruction") for text in strings(body.get(key))]
    for message in body.get("messages") or []:
        found += of_content(message.get("content"), "result" if message.get("role") == "tool" else message.get("role"))
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        is_result = str(item.get("type")).endswith("_call_output")
        found += [("result", text) for text in strings(item.get("output"))] if is_result else of_content(item.get("content"), item.get("role"))
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            is_result = "functionResponse" in part
            found += [("result" if is_result else content.get("role"), text) for text in strings(part.get("functionResponse") if is_result else part.get("text"))]
    return found


def of_content(content, role):
    """The texts of a message: a string, or blocks, of which some are tool results."""
    if isinstance(content, str):
        return [(role, content)]
    found = []
    for block in content or []:
        is_result = block.get("type") == "tool_result"
        found += [("result" if is_result else role, text) for text in strings(block.get("content") if is_result else block.get("text"))]
    return found


def strings(value):
    """All texts in a value, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, one in value.items() if key not in ("type", "id", "name", "cache_control") for text in strings(one)]
    return [text for one in value or [] for text in strings(one)] if isinstance(value, list) else []


def readable(text):
    """A text as it was before a client escaped it."""
    text = html.unescape(text) if "&lt;rethread-context" in text else text
    return text.replace("\\n", "\n").replace('\\"', '"') if "<rethread-context>\\n" in text else text


def injections(body, prompts):
    """Our texts in a request. `prompts` are the beginnings of the user's prompts, by which they are placed."""
    found, seen = [], set()
    for place, (role, text) in enumerate(pieces(body)):
        text = readable(text)
        for match in BLOCK.finditer(text):
            before = seen | {prompt for prompt in prompts if prompt in text[:match.start()]}
            around = text if text.strip() != match.group().strip() else None
            found.append(Injection(match.group(1).strip(), place, -1 if role == "system" else len(before), role, around))
        bare = BLOCK.sub("", text)
        if role == "user":
            seen |= {prompt for prompt in prompts if prompt in bare}
    return found


def items(text):
    """The lines of a block that say something."""
    return [line.strip() for line in text.splitlines() if not FRAME.match(line.strip())]


def repeated(requests, prompts):
    """What our texts say twice: in one request, or in different places of the conversation."""
    problems, anchors = [], {}
    for body in requests:
        once = set()
        for one in without_copies(injections(body, prompts)):
            for item in items(one.text):
                if item in once:
                    problems.append(f"twice in a request: {item}")
                once.add(item)
                anchors.setdefault(item, set()).add(one.anchor)
    problems += [f"with several prompts ({sorted(at)}): {item}" for item, at in anchors.items() if len(at) > 1]
    return list(dict.fromkeys(problems))


def without_copies(found):
    """Without the tool results that a client itself sends twice, such as Gemini CLI after a resume."""
    first = {}
    return [one for one in found if one.role != "result" or not one.around or first.setdefault(one.around, one.place) == one.place]


def offers(body):
    return json.dumps((body.get("request") or body).get("tools") or [])
