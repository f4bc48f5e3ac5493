"""Codex: rollout files of all eras. Bare lines (before 0.32), events, and paginated items (0.166)."""
import json
import os
import re

from .common import (as_blocks, is_uuid, new_tally, number, parse_json, patched_paths, session_result, string,
                     without_injected)

AGENT = "codex"
TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
         "token_usage_record"}
CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
         "image_generation_call"}
OUTPUTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}

# Texts of the role "user" that Codex itself writes.
WRITTEN_BY_CODEX = (
    "<environment_context>", "<ENVIRONMENT_CONTEXT>", "# AGENTS.md instructions", "<user_instructions>",
    "<turn_aborted>", "<skill>", "<recommended_plugins>", "<subagent_notification>", "<user_shell_command>",
    "<INSTRUCTIONS>", "<permissions instructions>", "<collaboration_mode>", "<model_switch>", "<hook_prompt",
    "Another language model started to solve this problem and produced a summary",
)
REQUEST = "## My request for Codex:"
EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)\s*$", re.M)
FAILURES = ("apply_patch verification failed", "exec_command failed", "write_stdin failed", "failed to parse function",
            "aborted", "unsupported call", "execution error", "unable to locate image", "Error: ", "tool call error",
            "exec command rejected", "patch rejected", "rejected by user", "command timed out", "failed in sandbox")


def recognizes(path, lines):
    head = lines[0].obj
    if string(head.get("type")) in TYPES and isinstance(head.get("payload"), dict):
        return True
    # The first line of the bare era: no type, an id, a time and the instructions.
    return "type" not in head and is_uuid(head.get("id")) and "timestamp" in head and "instructions" in head


def records(lines):
    """Pairs of record type and payload. The bare era has response items without an envelope."""
    for line in lines:
        o = line.obj
        if isinstance(o.get("payload"), dict):
            yield string(o.get("type")), o["payload"], o.get("ordinal")
        elif o.get("record_type") != "state" and string(o.get("type")):
            yield "response_item", o, None
        elif is_uuid(o.get("id")):
            yield "session_meta", o, None


def text_in(content):
    """The text of a message's or item's content."""
    return "\n".join(b["text"] for b in as_blocks(content) if isinstance(b.get("text"), str))


def human(text):
    """What a human typed, or None."""
    text = without_injected(text)
    if text.startswith("# ") and REQUEST in text:          # editors put the open files before it
        text = text[text.index(REQUEST) + len(REQUEST):].strip()
    return None if not text or text.startswith(WRITTEN_BY_CODEX) else text


def prompt_of(kind, payload):
    """The text if the record is a prompt in the events or items; an empty text if it consists of images."""
    if kind != "event_msg":
        return None
    if payload.get("type") == "user_message" and payload.get("kind") in (None, "plain"):
        text = payload.get("message")
        if isinstance(text, str) and not text.strip() and (payload.get("images") or payload.get("local_images")):
            return ""
        return human(text) if isinstance(text, str) else None
    item = payload.get("item")
    if payload.get("type") == "item_completed" and isinstance(item, dict) and item.get("type") == "UserMessage":
        return human(text_in(item.get("content")))
    return None


def call_id(payload):
    return string(payload.get("call_id")) or string(payload.get("id"))


def edited_by(payload):
    """The paths a call edits: a patch as a tool's input, as an argument, or in a here-document of a shell command."""
    if payload["type"] == "custom_tool_call":
        return patched_paths(payload.get("input"))
    arguments = payload.get("arguments")
    if isinstance(arguments, str):
        arguments = parse_json(arguments)
    if payload["type"] == "local_shell_call":
        arguments = payload.get("action")
    if not isinstance(arguments, dict):
        return set()
    if payload.get("name") == "apply_patch":
        return set().union(*[patched_paths(v) for v in arguments.values()])
    command = arguments.get("command", arguments.get("cmd"))
    words = [w for w in command if isinstance(w, str)] if isinstance(command, list) else [command]
    return set().union(*[patched_paths(w) for w in words if isinstance(w, str)]) if any(
        isinstance(w, str) and "apply_patch" in w or w == "applypatch" for w in words) else set()


def failed_output(output):
    """Whether the output of a call says that it failed."""
    if isinstance(output, dict):
        return output.get("success") is False or failed_output(output.get("content"))
    if isinstance(output, list):
        return failed_output(text_in(output))
    if not isinstance(output, str):
        return False
    document = parse_json(output) if output.startswith("{") else None
    if isinstance(document, dict) and isinstance(document.get("metadata"), dict):
        return document["metadata"].get("exit_code") not in (None, 0)
    # The command's own output follows "Output:".
    head = re.split(r"^(?:Final )?Output:$", output, maxsplit=1, flags=re.M)[0]
    # A patch in a here-document is reported inside the output of the shell.
    codes = EXIT_CODE.findall(head)
    if not codes and "Process running" not in head:
        codes = EXIT_CODE.findall(output[len(head):][:60])
    return any(code != "0" for code in codes) if codes else output.lstrip().startswith(FAILURES)


def failed_event(payload):
    """The call that an event or item reports as failed, or None."""
    type_ = payload.get("type")
    result = payload.get("result")
    if type_ == "patch_apply_end" and payload.get("success") is False:
        return string(payload.get("call_id"))
    if type_ == "mcp_tool_call_end" and isinstance(result, dict):
        good = result.get("Ok")
        if "Err" in result or (isinstance(good, dict) and (good.get("isError") or good.get("is_error"))):
            return string(payload.get("call_id"))
    item = payload.get("item")
    if type_ == "item_completed" and isinstance(item, dict) and item.get("status") in ("failed", "declined"):
        return string(item.get("id"))
    return None


def without_copied_prefix(recorded, parent):
    """The records of a fork after those copied from its parent. The headers may differ."""
    mine = [json.dumps([k, p], sort_keys=True) for k, p, _ in recorded]
    theirs = [json.dumps([k, p], sort_keys=True) for k, p, _ in parent]
    start = 1 if mine and mine[:1] != theirs[:1] else 0    # the fork's own header comes first
    same = 0
    while start + same < len(mine) and same < len(theirs) and mine[start + same] == theirs[same]:
        same += 1
    return (recorded[:start] + recorded[start + same:], recorded[start:start + same]) if same > 1 else (recorded, [])


class Usage:
    """Sums the growth of the cumulative counts; a smaller count starts again from zero."""

    FIELDS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")

    def __init__(self):
        self.last, self.sum, self.records = dict.fromkeys(self.FIELDS, 0), dict.fromkeys(self.FIELDS, 0), 0

    def see_total(self, usage):
        now = {f: number(usage.get(f)) for f in self.FIELDS}
        if now["input_tokens"] < self.last["input_tokens"]:
            self.last = dict.fromkeys(self.FIELDS, 0)
        for f in self.FIELDS:
            self.sum[f] += max(0, now[f] - self.last[f])
        self.last, self.records = now, self.records + 1

    def see_call(self, usage):
        for f in self.FIELDS:
            self.sum[f] += number(usage.get(f))
        self.records += 1


def count_tokens(tally, recorded, inherited):
    totals, calls = Usage(), Usage()
    for part, counts in ((inherited, False), (recorded, True)):
        for kind, payload, _ in part:
            info = payload.get("info")
            if payload.get("type") == "token_count" and isinstance(info, dict):
                if isinstance(info.get("total_token_usage"), dict):
                    totals.see_total(info["total_token_usage"])
            if kind == "token_usage_record" and isinstance(payload.get("usage"), dict) and counts:
                calls.see_call(payload["usage"])
        if not counts:
            totals.sum = dict.fromkeys(Usage.FIELDS, 0)
    used = (totals if totals.records else calls).sum
    cached = used["cached_input_tokens"] + used["cache_write_input_tokens"]
    tally.add_tokens(input=used["input_tokens"] - cached, cacheRead=used["cached_input_tokens"],
                     cacheWrite=used["cache_write_input_tokens"], output=used["output_tokens"])


def steps_of(recorded):
    """What happened, in order, without rolled back turns: tuples of kind, identity and detail."""
    in_events = any(prompt_of(k, p) is not None for k, p, _ in recorded)
    steps = []
    for position, (kind, payload, _) in enumerate(recorded):
        type_ = payload.get("type") or ("message" if "role" in payload else None)
        prompt = prompt_of(kind, payload)
        if prompt is not None:
            steps.append(("prompt", position, prompt))
        elif kind == "event_msg" and type_ == "thread_rolled_back":
            starts = [i for i, step in enumerate(steps) if step[0] == "prompt"][-number(payload.get("num_turns")):]
            if starts and number(payload.get("num_turns")):
                del steps[starts[0]:]
        elif kind == "event_msg":
            if (failed := failed_event(payload)) is not None:
                steps.append(("error", failed, None))
        elif kind != "response_item":
            continue
        elif type_ == "message" and payload.get("role") == "assistant":
            if text_in(payload.get("content")).strip():
                steps.append(("message", position, None))
        elif type_ == "message" and payload.get("role") == "user" and not in_events:
            if text := human(text_in(payload.get("content"))):
                steps.append(("prompt", position, text))
        elif type_ in CALLS:
            steps.append(("call", (call_id(payload), position), edited_by(payload)))
        elif type_ in OUTPUTS and failed_output(payload.get("output")):
            steps.append(("error", string(payload.get("call_id")), None))
    return steps


def count_file(path, recorded, by_thread):
    meta = next((p for k, p, _ in recorded if k == "session_meta"), {})
    source = meta.get("source")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    spawn = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
    parent = string(meta.get("parent_thread_id")) or (string(spawn.get("parent_thread_id")) if isinstance(spawn, dict) else None)
    child = spawned is not None or meta.get("thread_source") == "subagent"
    origin = string(meta.get("forked_from_id"))
    recorded, inherited = without_copied_prefix(recorded, by_thread.get(origin, []))
    start = meta.get("subagent_history_start_ordinal")
    if isinstance(start, int):
        recorded = [r for r in recorded if r[0] == "session_meta" or not isinstance(r[2], int) or r[2] >= start]

    tally, calls, cwd = new_tally(), set(), string(meta.get("cwd")) or "/"
    for kind, identity, detail in steps_of(recorded):
        if kind == "prompt":
            tally.prompts.append(detail)
        elif kind == "message":
            tally.messages.add(identity)
        elif kind == "call":
            calls.add(identity[0])
            tally.calls.add(identity)
            tally.messages.add(identity)
            # Patches name the same file by its relative and by its absolute path.
            tally.edited |= {os.path.normpath(os.path.join(cwd, edited)) for edited in detail}
        elif kind == "error":
            tally.errors.add(identity)
    tally.errors &= calls
    count_tokens(tally, recorded, inherited)
    names = [n for _, p, _ in recorded if p.get("type") == "thread_name_updated" and (n := string(p.get("thread_name")))]
    external_id = string(meta.get("id")) or os.path.basename(path).removesuffix(".jsonl")
    return session_result(AGENT, external_id, path, tally, parent=parent or origin, child=child, cwd=cwd,
                          title=names[-1] if names else next(iter(tally.prompts), None))


def count(files):
    recorded = [(path, list(records(lines))) for path, lines in files]
    by_thread = {}
    for _, all_ in recorded:
        meta = next((p for k, p, _ in all_ if k == "session_meta"), {})
        if string(meta.get("id")):
            by_thread.setdefault(meta["id"], all_)
    return [count_file(path, all_, by_thread) for path, all_ in recorded]
