"""Settings that a user already has, with formatting and comments that an installation must keep."""
import json

NESTED = '[{"hooks": [{"type": "command", "command": "true"}]}]'
# Files of the user, by host. A client that rewrites a file itself has none there.
FILES = {
    "claude-code": {".claude/settings.json": '{ "includeCoAuthoredBy": false,\n   "hooks": {"Stop": ' + NESTED + "} }\n"},
    "codex": {".codex/hooks.json": '{ "hooks":\n   {"Stop": ' + NESTED + "} }\n"},
    "copilot": {".copilot/hooks/mine.json": '{"version": 1, "hooks": {}}\n', ".copilot/mcp-config.json": '{ "mcpServers": {} }\n'},
    "droid": {".factory/hooks.json": '{ "Stop":\n   ' + NESTED + " }\n", ".factory/mcp.json": '{ "mcpServers":\n\t{} }\n'},
    "kimi": {".kimi-code/mcp.json": '{ "mcpServers":\n\t{} }\n'},
}
# Files that the client's set-up wrote: how they are written again, with the same content.
COMMENT = "# Mine, do not touch.\n"
REWRITTEN = {
    "codex": {".codex/config.toml": lambda text: COMMENT + text + "\n" + COMMENT},
    "gemini": {".gemini/settings.json": lambda text: "// Mine.\n" + reindented(text)},
    "hermes": {".hermes/config.yaml": lambda text: COMMENT + text + "\n# The end."},
    "kilo": {".config/kilo/kilo.json": lambda text: "// Mine.\n" + reindented(text)},
    "kimi": {".kimi-code/config.toml": lambda text: COMMENT + text + "\n[[hooks]]   # mine\nevent = 'Stop'\ncommand = 'true'\n"},
    "openclaw": {".openclaw/openclaw.json": lambda text: reindented(text)},
    "opencode": {".config/opencode/opencode.json": lambda text: "// Mine.\n" + reindented(text)},
    "qwen": {".qwen/settings.json": lambda text: "// Mine.\n" + reindented(text)},
}


def reindented(text):
    """The same JSON, as no program writes it."""
    return json.dumps(json.loads(text), indent=3).replace('": ', '" :  ') + "\n\n"


def write_existing(home, name):
    for path, text in FILES.get(name, {}).items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for path, rewrite in REWRITTEN.get(name, {}).items():
        file = home / path
        file.write_text(rewrite(file.read_text()))
