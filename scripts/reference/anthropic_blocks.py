"""Sessions whose messages have the blocks of the Anthropic API: text, tool_use, tool_result. Droid and Cline."""
import json
import re

from .common import as_blocks, edited_path, parse_json, patched_paths, string, text_of

EXIT_CODE = re.compile(r"exit(?:ed with)? code:? (-?\d+)")


def failed_result(block):
    """Whether a tool result reports a failure: a flag, an element that did not succeed, or an exit code."""
    if block.get("is_error") is True:
        return True
    content = block.get("content")
    if isinstance(content, str) and content.startswith("{"):
        content = [parse_json(content)]
    elements = [e for e in content if isinstance(e, dict)] if isinstance(content, list) else []
    if any(e.get("success") is False for e in elements):
        return True
    text = content if isinstance(content, str) else "\n".join(text_of(e) for e in elements)
    return text.startswith("Error: ") or any(c != "0" for c in EXIT_CODE.findall(text.strip().split("\n")[-1]))


def count_blocks(tally, message, role, content, typed):
    """Counts one message; `typed` returns what a human typed of its text, or None."""
    blocks = as_blocks(content)
    if role == "user":
        for block in blocks:
            if block.get("type") == "tool_result" and failed_result(block):
                tally.errors.add(string(block.get("tool_use_id")))
        if not any(b.get("type") == "tool_result" for b in blocks):
            text = typed("\n".join(t for b in blocks if (t := text_of(b))))
            if text:
                tally.prompts.append(text)
    elif role == "assistant":
        calls = [b for b in blocks if b.get("type") == "tool_use"]
        if calls or any(text_of(b).strip() for b in blocks):
            tally.messages.add(message)
        for i, block in enumerate(calls):
            tally.calls.add(string(block.get("id")) or (message, i))
            arguments = block.get("input")
            if path := edited_path(block.get("name"), arguments):
                tally.edited.add(path)
            tally.edited |= patched_paths(json.dumps(arguments).replace("\\n", "\n") if arguments else "")
