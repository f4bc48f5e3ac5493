"""Rethread for Hermes. Written by `rethread install`; `rethread uninstall hermes` removes it, and an update overwrites it.

Sends the events of a session to Rethread, and adds its context: about other sessions to the prompt of this turn, about
a known fix to the result of a failed command. It never blocks a tool, and delays Hermes by milliseconds, at most by
five seconds. RETHREAD_DISABLE=1 in the environment disables it.
"""
import functools
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

PROGRAM = "@BINARY@"
EVENT_TIMEOUT = 5.0
# After a timeout, no events are sent for this many seconds.
PAUSE = 60.0
# How much of an error's beginning, and of its end, is sent.
ERROR_CHARS = 4000
# How many sessions, sub-agents and notices are kept in mind.
MAX_KEPT = 200
EDITS = ("patch", "write_file")
SHELL = "terminal"
# Hermes starts these itself: no human wrote the prompt.
UNATTENDED = ("subagent", "cron")
# A run of one prompt: `hermes chat -q "…"`.
IS_HEADLESS = "-q" in sys.argv or "--query" in sys.argv

_jobs = queue.Queue()
# Hooks are called from several threads: entries are only added by `_remember`, and read or removed one at a time.
_lock = threading.Lock()
# Notices are kept by session and tool call: IDs of tool calls are only unique within a session.
_parents, _started, _last_texts, _notices = {}, {}, {}, {}


def _stop(process):
    """Ends the hook and whatever it started, without waiting for either."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):
        process.kill()
    for pipe in (process.stdin, process.stdout):
        try:
            pipe.close()
        except (OSError, ValueError):
            pass


def _run(event, timeout):
    """Runs the hook with one event. Returns its output; None on a timeout, empty if it cannot be started."""
    try:
        # A session of its own, so that Ctrl+C does not stop the hook halfway.
        process = subprocess.Popen([PROGRAM, "hook", "hermes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
    except OSError:
        return b""
    try:
        return process.communicate(json.dumps(event).encode(), timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        _stop(process)
        return None
    except (OSError, ValueError, TypeError):
        _stop(process)
        return b""


def _work():
    """Sends events one at a time, in order."""
    paused_until = 0.0
    while True:
        event, deadline, answer = _jobs.get()
        text, left = "", deadline - time.monotonic()
        try:
            if left > 0 and time.monotonic() >= paused_until:
                output = _run(event, left)
                if output is None:
                    paused_until = time.monotonic() + PAUSE
                context = json.loads(output).get("context") if output else None
                text = context if isinstance(context, str) else ""
        except Exception:
            text = ""
        answer.put(text)


def _notify(event, wait=True, deadline=None, **fields):
    """Sends one event. Returns the context that Rethread answers if `wait`; empty on any error or after the deadline."""
    deadline = deadline or time.monotonic() + EVENT_TIMEOUT
    answer = queue.Queue()
    known = {key: value for key, value in fields.items() if value is not None}
    _jobs.put(({"event": event, **known}, deadline, answer))
    try:
        # The worker keeps the deadline; it needs a moment more to end a hook that hangs.
        return answer.get(timeout=max(0.0, deadline - time.monotonic()) + 0.5) if wait else ""
    except queue.Empty:
        return ""


def _guarded(handler):
    """A hook that never raises."""

    @functools.wraps(handler)
    def guarded(**kwargs):
        try:
            return handler(**kwargs)
        except Exception:
            return None

    return guarded


def _cwd():
    chosen = os.environ.get("TERMINAL_CWD", "")
    return chosen if os.path.isabs(chosen) else os.getcwd()


def _fields(session_id):
    """What identifies a session in an event. Tools of a sub-agent belong to the session that started it."""
    parent = _parents.get(session_id)
    return {"session_id": parent or session_id, "agent_id": session_id if parent else None, "cwd": _cwd()}


def _joined(*texts):
    return "\n\n".join(text for text in texts if text)


def _remember(kept, key, value):
    """Adds an entry as the newest and drops the oldest, so that a gateway that runs for days does not grow."""
    with _lock:
        kept.pop(key, None)
        kept[key] = value
        if len(kept) > MAX_KEPT:
            kept.pop(next(iter(kept)), None)


def _on_prompt(session_id="", user_message="", is_first_turn=False, platform="", **_):
    if not session_id or platform in UNATTENDED or session_id in _parents:
        return None
    if not isinstance(user_message, str) or not user_message.strip():
        return None
    start, deadline = "", time.monotonic() + EVENT_TIMEOUT
    is_new = session_id not in _started
    _remember(_started, session_id, True)
    if is_new:
        start = _notify("session_start", deadline=deadline, source="startup" if is_first_turn else "resume", **_fields(session_id))
    text = _joined(start, _notify("prompt", deadline=deadline, prompt=user_message, **_fields(session_id)))
    return {"context": text} if text else None


def _on_tool_start(tool_name="", args=None, session_id="", tool_call_id="", **_):
    # Before they run, only edits and commands that may switch the branch or commit matter.
    is_git = tool_name == SHELL and re.search(r"\bgit\b", str((args or {}).get("command", "")))
    if tool_name in EDITS or is_git:
        notice = _notify("tool_start", tool_name=tool_name, tool_input=args, **_fields(session_id))
        if notice:
            _remember(_notices, (session_id, tool_call_id), notice)


def _parsed(result):
    """The result of a tool as a dictionary, or None: Hermes gives most results as a JSON object."""
    try:
        parsed = json.loads(result)
    except (TypeError, ValueError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _on_tool_result(tool_name="", args=None, result="", session_id="", tool_call_id="", status="", **_):
    """Records the end of a tool call, and adds the answer to its result. Returns the new result, or None."""
    parsed = _parsed(result)
    known = parsed or {}
    exit_code = known.get("exit_code") if isinstance(known.get("exit_code"), int) else None
    is_error = exit_code is None and (status == "error" or bool(known.get("error")) or known.get("success") is False)
    has_failed = is_error or bool(exit_code)
    text = _notices.pop((session_id, tool_call_id), "")
    if has_failed or tool_name in EDITS or tool_name == SHELL:
        output = _joined(str(known.get("output") or ""), str(known.get("error") or "")) or str(result or "")
        error = output if len(output) <= 2 * ERROR_CHARS else f"{output[:ERROR_CHARS]}\n…\n{output[-ERROR_CHARS:]}"
        answer = _notify("tool_end", wait=has_failed, tool_name=tool_name, tool_input=args, output_chars=len(output), exit_code=exit_code,
                         is_error=is_error, error=error if has_failed else None, **_fields(session_id))
        text = _joined(text, answer)
    if not text:
        return None
    # The result stays a JSON object: Hermes and readers of its transcript take the exit code from it.
    if parsed is not None:
        return json.dumps({**parsed, "rethread": text}, ensure_ascii=False)
    return _joined(result, text) if isinstance(result, str) else None


def _on_answer(session_id="", assistant_response="", **_):
    _remember(_last_texts, session_id, str(assistant_response or ""))


def _on_turn_end(session_id="", platform="", **_):
    """Hermes calls this after every turn, also after one that was interrupted."""
    text = _last_texts.pop(session_id, "")
    if session_id in _started and platform not in UNATTENDED:
        _notify("turn_end", wait=False, last_assistant_message=text, **_fields(session_id))


def _on_session_end(session_id="", reason="", **_):
    if _started.pop(session_id, False):
        # Waits, so that queued events are not lost when Hermes exits.
        _notify("session_end", reason=reason or "exit", mode="run" if IS_HEADLESS else None, **_fields(session_id))


def _on_subagent(parent_session_id="", child_session_id="", **_):
    if child_session_id and parent_session_id:
        _remember(_parents, child_session_id, _parents.get(parent_session_id, parent_session_id))


def register(ctx):
    if os.environ.get("RETHREAD_DISABLE", "0") not in ("", "0"):
        return
    threading.Thread(target=_work, name="rethread", daemon=True).start()
    hooks = {
        "pre_llm_call": _on_prompt,
        "pre_tool_call": _on_tool_start,
        "transform_tool_result": _on_tool_result,
        "post_llm_call": _on_answer,
        "on_session_end": _on_turn_end,
        "on_session_finalize": _on_session_end,
        "subagent_start": _on_subagent,
    }
    for name, handler in hooks.items():
        ctx.register_hook(name, _guarded(handler))
