"""What a client's conversation really was: the requests that the fake model logged, and what it answered.

The fake model calls the tools that the prompt names, one in each answer, and reports the same usage with every answer."""
import json

from .clients.base import GREETING, TASK


class Conversation:
    """The requests of one client, sorted into its own conversation and its sub-agent's."""

    def __init__(self, client):
        bodies = client.model.bodies(client.api)
        tools = {step.tool.rpartition("::")[2] for step in client.steps()}
        # Requests for a title or a memory offer other tools or none, and summaries go to a model of their own.
        self.main = [body for body in bodies if GREETING in json.dumps(body) and tools <= offered(body) and "weak" not in str(body.get("model"))]
        self.sub_agent = [body for body in bodies if TASK in json.dumps(body) and GREETING not in json.dumps(body)]
        second = json.dumps(client.prompts()[1])[1:-1]
        first_turn = [body for body in self.main if second not in json.dumps(body)]
        self.calls = calls(first_turn[-1]) if first_turn else []

    def answers(self):
        return len(self.main)


def offered(body):
    """The names of the tools that a request offers."""
    names, open_lists = set(), [body.get("tools") or []]
    while open_lists:
        for tool in open_lists.pop():
            names |= {tool.get("name"), (tool.get("function") or {}).get("name")} - {None}
            open_lists += [tool.get("functionDeclarations") or [], tool.get("tools") or []]
    return names


def calls(body):
    """The tool calls in a request: names and arguments, oldest first."""
    found = []
    for message in body.get("messages") or []:
        found += [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls") or []]
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        found += [(block["name"], block["input"]) for block in blocks if block.get("type") == "tool_use"]
    for item in body.get("input") or []:
        if item.get("type") == "function_call":
            name = f"{item['namespace']}::{item['name']}" if item.get("namespace") else item["name"]
            found.append((name, json.loads(item["arguments"])))
    for content in body.get("contents") or []:
        found += [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in content["parts"] if "functionCall" in part]
    return found
