"""Transcripts of Claude Code, made by rules, for a sync that has something to do."""

import json


def write(home, sessions=40, exchanges=15):
    """Writes one transcript per session. The same call always writes the same bytes."""
    folder = home / ".claude/projects/-srv-app"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(sessions):
        session = f"5f0f8f9e-0000-4000-8000-{number:012}"
        lines = [line for exchange in range(exchanges) for line in exchange_lines(session, number, exchange)]
        (folder / f"{session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def exchange_lines(session, number, exchange):
    tool = f"toolu_{number}_{exchange}"
    has_failed = exchange % 4 == 1
    output = f"error[E0{number:03}]: mismatched types in step {exchange}" if has_failed else f"ok {exchange}"
    yield line(session, number, exchange, 0, "user", f"Fix the parser of module {number}, step {exchange}")
    yield line(session, number, exchange, 1, "assistant", [
        {"type": "text", "text": f"I decided to use a table for step {exchange} because it is easier to test."},
        {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": f"cargo test step_{exchange}"}}])
    yield line(session, number, exchange, 2, "user", [
        {"type": "tool_result", "tool_use_id": tool, "content": output, "is_error": has_failed}])
    yield line(session, number, exchange, 3, "assistant", [{"type": "text", "text": f"Step {exchange} of {number} is done."}])


def line(session, number, exchange, part, role, content):
    at = f"2026-03-{1 + number % 28:02}T{9 + exchange // 60:02}:{exchange % 60:02}:{part * 7:02}.000Z"
    return {"type": role, "uuid": f"{session[-4:]}-{exchange}-{part}", "sessionId": session, "cwd": "/srv/app",
            "timestamp": at, "message": {"role": role, "content": content, "id": f"m{number}x{exchange}x{part}"}}
