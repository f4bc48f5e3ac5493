"""What each host does with our texts: when they reach the model, and how its tools are called."""
import dataclasses

from .clients import (ClaudeClient, ClineClient, CodexClient, CopilotClient, DroidClient, GeminiClient, HermesClient, KiloClient, KimiClient, OpenClawClient,
                      OpenCodeClient, PiClient, QwenClient)
from .clients.base import Step

# When a text about a tool reaches the model: with its result, after the next tool that succeeds, or with the next prompt.
RESULT, NEXT_TOOL, NEXT_PROMPT = "with the result", "after the next tool that succeeds", "with the next prompt"


@dataclasses.dataclass(frozen=True)
class Host:
    """One host. `finding` is the call that makes the client offer our tools, if it hides them at first."""

    client: type
    fix: str = RESULT
    collision: str | None = RESULT
    has_prompts: bool = True
    # The name that our tool `search_memory` has in the client, or None if the client has no MCP.
    tool: str | None = "mcp__rethread__search_memory"
    finding: Step | None = None
    # Whether the first request of a process may come before the MCP server is ready.
    tool_may_be_late: bool = False
    # Whether a sub-agent works in the background, so that the session has to wait for it.
    delegates_in_background: bool = False

    @property
    def name(self):
        return self.client.name


def finding(tool, query="select:{}"):
    return Step(tool, {"query": query}, query)


HOSTS = {host.name: host for host in [
    # Claude Code itself refuses to edit a file that it has not read since it changed.
    Host(ClaudeClient, collision=None),
    Host(PiClient, tool=None),
    Host(CodexClient, tool="mcp__rethread::search_memory"),
    Host(GeminiClient, tool="mcp_rethread_search_memory"),
    Host(QwenClient, finding=finding("tool_search", "select:mcp__rethread__search_memory")),
    Host(CopilotClient, tool="rethread-search_memory"),
    Host(OpenCodeClient, tool="rethread_search_memory"),
    Host(KiloClient, tool="rethread_search_memory"),
    Host(KimiClient, fix=NEXT_PROMPT, collision=NEXT_PROMPT),
    Host(ClineClient, tool="rethread__search_memory"),
    Host(DroidClient, fix=NEXT_TOOL, has_prompts=False, tool="rethread___search_memory", finding=finding("ToolSearch", "select:rethread___search_memory")),
    Host(OpenClawClient, finding=finding("tool_search", "rethread search_memory")),
    Host(HermesClient, tool_may_be_late=True, delegates_in_background=True),
]}
MATRIX = ["claude-code", "codex", "gemini", "opencode", "copilot", "qwen", "kimi", "pi"]
