"""Codex with the MCP server."""
import json

from .agents import serving, write_session
from .checks import (ACTIVITY, CANARY, CHECK, COMPACT, FIFTH, FIRST, FIX_LINE, FOURTH, KETTLE, LIGHTHOUSE, OURS, BAROMETER, ORCHARD, EIGHTH, REFERENCES,
                     SECOND, SEVENTH, SEXTANT, SIXTH, THIRD, TOOLS, WELCOME, CONTEXT, calling, count, fixes_received, hold, injected, last_result, later,
                     running, show, since, step)


def run_codex(_, codex, rethread):
    step("writing a session")
    write_session(rethread, FIRST, SEXTANT)
    rethread.run("sync")
    step("adding the MCP server to the Codex configuration")
    codex.manage("mcp", "add", "rethread", "--", rethread.binary, "mcp")
    hold("it is listed", "rethread" in codex.manage("mcp", "list"))
    step("Codex lists and calls the tools")
    body = codex.say(calling("mcp__rethread__search_memory", query="sextant"))
    ours = [tool for tool in body["tools"] if tool.get("name") == "mcp__rethread"]
    hold("the model sees all tools", len(ours) == 1 and sorted(tool["name"] for tool in ours[0]["tools"]) == sorted(TOOLS))
    hold("the instructions say when to use them", "search_memory before you redo" in json.dumps(body))
    injected = codex_result(body)
    show(injected)
    hold("the search result reached the model with our tag", OURS in injected and SEXTANT in injected)
    injected = codex_result(codex.say(calling("mcp__rethread__read_session", session=FIRST)))
    show(injected)
    hold("a session can be read", f"> {SEXTANT}" in injected)
    injected = codex_result(codex.say(calling("mcp__rethread__remember", text=f"{CANARY} sings at noon")))
    show(injected)
    hold("a note is stored", "Saved as" in injected)
    hold("it is found, with the agent that stored it", "noted by codex" in rethread.run("search", CANARY))
    injected = codex_result(codex.say(calling("mcp__rethread__query_session", session="atlantis", question="where?")))
    show(injected)
    hold("a tool error reaches the model", "SESSION_NOT_FOUND" in injected)
    step("Codex calls the tools over HTTP, with the token from an environment variable")
    codex.manage("mcp", "remove", "rethread")
    with serving(rethread) as (url, token):
        codex.environment["RETHREAD_TOKEN"] = token
        codex.manage("mcp", "add", "rethread", "--url", url, "--bearer-token-env-var", "RETHREAD_TOKEN")
        injected = codex_result(codex.say(calling("mcp__rethread__search_memory", query=CANARY)))
        show(injected)
        hold("the note is found", f"{CANARY} sings at noon" in injected)


def codex_result(body):
    """The last tool result in a Codex request."""
    outputs = [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    last = outputs[-1] if outputs else ""
    return last if isinstance(last, str) else "".join(piece.get("text", "") for piece in last)
