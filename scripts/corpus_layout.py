"""Where the transcripts of a corpus belong below a home directory, and which sessions they hold."""
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

CTX = "other/ctxrs__ctx"
CODE = ".config/Code/User"
KIMI = "kimi/MoonshotAI__kimi-code"
OLD_KIMI = f"{KIMI}/packages/migration-legacy/test/fixtures"
# kimi-cli named the folder of a directory by its hash; any 32 hexadecimal digits will do.
HASH = "0123456789abcdef0123456789abcdef"
KIMI_SESSIONS = ["archived", "broken-state-json", "large-100msgs", "legacy-protocol-1.3", "recent-protocol-1.10",
                 "tiny-hello-world", "with-image", "with-subagent-collapsed", "with-thinking", "with-tool-calls"]


@dataclass
class Place:
    """One file or folder. `sessions` are the ids that must be listed; None: the reference counter lists them."""
    agent: str
    source: str
    destination: str
    sessions: tuple | None = None


# Clients wrote these below a home directory of their own.
GENERATED = [
    Place("codex", "generated/codex/.codex", ".codex"),
    Place("gemini", "generated/gemini/.gemini", ".gemini"),
    Place("gemini", "generated/gemini/no-hooks/tmp/app", ".gemini/tmp/app2"),
    Place("copilot", "generated/copilot/.copilot", ".copilot"),
    Place("droid", "generated/droid/.factory", ".factory"),
    Place("opencode", "generated/opencode/.local/share/opencode", ".local/share/opencode"),
    Place("kilo", "generated/kilo/.local/share/kilo", ".local/share/kilo"),
    Place("qwen", "generated/qwen/.qwen", ".qwen"),
    Place("kimi", "generated/kimi/.kimi-code", ".kimi-code"),
    Place("cline", "generated/cline/.cline", ".cline"),
    Place("continue", "generated/continue/.continue", ".continue"),
    Place("openclaw", "generated/openclaw/.openclaw", ".openclaw"),
    Place("hermes", "generated/hermes/.hermes", ".hermes"),
    Place("gptme", "generated/gptme/.local/share/gptme", ".local/share/gptme", ("2026-11-17-singing-angry-penguin",)),
]
OTHERS = [
    Place("cline", "cline/cline__cline/session.messages.json",
          ".cline/data/sessions/1784094124598_rruoq/1784094124598_rruoq.messages.json"),
    Place("cline", "cline/gmfstu__Online-Card-Architecture/exported_task_1769064454592",
          f"{CODE}/globalStorage/saoudrizwan.claude-dev/tasks/1769064454592", ("1769064454592",)),
    Place("cline", f"{CTX}/cline/data/tasks/cline-task-1", ".cline/data/tasks/cline-task-1", ("cline-task-1",)),
    Place("roo", f"{CTX}/roo/storage/tasks", f"{CODE}/globalStorage/rooveterinaryinc.roo-cline/tasks", ("roo-task-1",)),
    Place("codex", f"{CTX}/codex-sessions/2026/06/23/codex-session-root.jsonl",
          ".codex/sessions/2026/06/23/rollout-2026-06-23T15-00-00-codex-session-root.jsonl"),
    Place("codex", f"{CTX}/codex-sessions/2026/06/23/codex-session-child.jsonl",
          ".codex/sessions/2026/06/23/rollout-2026-06-23T15-01-00-codex-session-child.jsonl"),
    Place("codex", f"{CTX}/codex-rich-sessions/2026/06/24/rich.jsonl",
          ".codex/sessions/2026/06/24/rollout-2026-06-24T01-00-00-codex-rich-session.jsonl"),
    Place("codex", f"{CTX}/codex-malformed-session.jsonl",
          ".codex/sessions/2026/06/24/rollout-2026-06-24T03-00-00-codex-malformed-session.jsonl"),
    Place("codex", f"{CTX}/codex-out-of-order-sessions/2026/06/24/a-child.jsonl",
          ".codex/sessions/2026/06/24/rollout-2026-06-24T02-10-01-codex-out-of-order-child.jsonl"),
    Place("codex", f"{CTX}/codex-out-of-order-sessions/2026/06/24/z-root.jsonl",
          ".codex/sessions/2026/06/24/rollout-2026-06-24T02-10-00-codex-out-of-order-root.jsonl"),
    Place("codex", f"{CTX}/complete-content-jsonl/v1/codex.jsonl",
          ".codex/sessions/2026/07/21/rollout-2026-07-21T12-00-00-complete-codex.jsonl"),
    Place("gemini", f"{CTX}/complete-content-jsonl/v1/gemini.jsonl",
          ".gemini/tmp/fixture/chats/session-2026-07-21T12-00-complete.jsonl"),
    Place("droid", f"{CTX}/complete-content-jsonl/v1/factory-droid.jsonl",
          ".factory/sessions/-workspace-fixture/complete-droid.jsonl"),
    Place("qwen", f"{CTX}/qwen-code/.qwen", ".qwen", ("qwen-session-1",)),
    Place("kimi", f"{CTX}/kimi-code-cli/.kimi-code/sessions", ".kimi-code/sessions", ("kimi-session-1",)),
    Place("kimi", f"{KIMI}/apps/vis/server/test/fixtures/sessions/sample-main", ".kimi-code/sessions/wd_work_000000000000/sample-main"),
    Place("kimi", f"{KIMI}/apps/vis/server/test/fixtures/sessions/sample-compaction",
          ".kimi-code/sessions/wd_work_000000000000/sample-compaction"),
    Place("kimi", f"{OLD_KIMI}/multi-workdir/.kimi", ".kimi", ("uuid-a1", "uuid-a2", "uuid-c1")),
    *[Place("kimi", f"{OLD_KIMI}/{name}", f".kimi/sessions/{HASH}/{name}", (name,)) for name in KIMI_SESSIONS],
    Place("cursor", "cursor/computermode__test-repo/heads_entire_checkpoints_v1/b8/b6fbd5f55f/0/full.jsonl",
          ".cursor/projects/test-repo/agent-transcripts/b6fbd5f5-0000-4000-8000-000000000001/b6fbd5f5-0000-4000-8000-000000000001.jsonl",
          ("b6fbd5f5-0000-4000-8000-000000000001",)),
    Place("cursor", "cursor/computermode__test-repo/heads_entire_checkpoints_v1/f5/5b1d3b434a/0/full.jsonl",
          ".cursor/projects/test-repo/agent-transcripts/5b1d3b43-0000-4000-8000-000000000002.jsonl",
          ("5b1d3b43-0000-4000-8000-000000000002",)),
    Place("cursor", f"{CTX}/cursor/2026.06.24/projects", ".cursor/projects",
          ("cursor-native-session-1", "cursor-malformed-session")),
    Place("goose", f"{CTX}/goose/v15/sessions.db", ".local/share/goose/sessions/sessions.db", ("goose-root",)),
    Place("zed", f"{CTX}/zed/v1/threads.db", ".local/share/zed/threads/threads.db", ("zed-root", "zed-child")),
    Place("grok", f"{CTX}/grok-build/v1.0.3/sessions", ".grok/sessions", ("01990000-0000-7000-8000-000000000001",)),
    Place("vscode-copilot", "vscode-copilot/dealenx__copilot-chat-analyzer/completed_chat.json",
          f"{CODE}/workspaceStorage/0123456789abcdef/chatSessions/00000000-0000-4000-8000-00000000c0de.json",
          ("00000000-0000-4000-8000-00000000c0de",)),
    Place("antigravity", f"{CTX}/antigravity/v1/brain", ".gemini/antigravity-cli/brain",
          ("agy-success", "agy-resume", "agy-future", "agy-malformed")),
    Place("auggie", f"{CTX}/auggie/v0.32.0/sessions", ".augment/sessions", ("01K0AUGGIESESSION0000000000",)),
    Place("deepseek", f"{CTX}/deepseek-harness/v0/zstd/sessions", ".dsh/sessions",
          ("11111111-2222-4333-8444-555555555555", "66666666-7777-4888-8999-aaaaaaaaaaaa")),
    Place("junie", f"{CTX}/junie/sessions", ".junie/sessions", ("session-260607-100000-acme",)),
    Place("kiro", f"{CTX}/kiro-cli/v2/data.sqlite3", ".local/share/kiro-cli/data.sqlite3",
          ("00000000-0000-4000-8000-000000000001",)),
    Place("vibe", f"{CTX}/mistral-vibe/v1/logs", ".vibe/logs", ("mistral-vibe-native",)),
    Place("rovodev", f"{CTX}/rovodev/v1/sessions", ".rovodev/sessions", ("rovodev-fixture-session",)),
    Place("warp", f"{CTX}/warp/v1/warp.sqlite", ".local/state/warp-terminal/warp.sqlite", ("warp-conversation-1",)),
    Place("aider", "generated/aider/app", "aider-app", ()),
    Place("crush", "crush/gleicon__mcpfier/.crush", "crush-app/.crush",
          ("87c36ae3-2d64-4abb-9815-621854431aa5", "5ab22793-cccf-4152-bd86-0961dbffd0f6", "536e738f-87d4-402f-9934-0d9ece3156a9")),
]
# Stores at the same place as one above, or that only a user can name: read with `sync --path`, each in its own home.
NAMED = [
    *[Place(agent, folder, folder) for agent, folder in [("codex", "codex"), ("gemini", "gemini"), ("copilot", "copilot"), ("droid", "droid")]],
    Place("opencode", "opencode", "exports"),
    Place("kilo", f"{CTX}/kilo/kilo.db", "named/kilo.db"),
    Place("goose", f"{CTX}/goose/v14/sessions.db", "named/sessions.db", ("goose-root",)),
    Place("goose", "goose/vshulcz__deja-vu/fixtures/registry/goose/sessions/20250724_1.jsonl",
          "named/goose/sessions/20250724_1.jsonl", ("20250724_1",)),
    Place("crush", f"{CTX}/crush/v1/crush.db", "named/.crush/crush.db", ("crush-root", "crush-child")),
    Place("aider", "generated/aider/app/.aider.chat.history.md", "named/.aider.chat.history.md", ()),
    Place("deepseek", f"{CTX}/deepseek-harness/v0/raw/sessions", "named/sessions",
          ("11111111-2222-4333-8444-555555555555", "66666666-7777-4888-8999-aaaaaaaaaaaa")),
    Place("warp", f"{CTX}/warp/v1/warp-mcp.sqlite", "named/warp.sqlite", ("warp-mcp-sanitized-conversation",)),
    Place("copilot", f"{CTX}/copilot-cli/v1", "named/session-state"),
]


def copy(source, destination):
    """Copies a file or merges a folder; the copies are writable even if the corpus is not."""
    if not os.path.isdir(source):
        os.makedirs(os.path.dirname(destination), exist_ok=True)
        shutil.copyfile(source, destination)
        return
    for folder, _, files in os.walk(source):
        for name in files:
            path = os.path.join(folder, name)
            copy(path, os.path.join(destination, os.path.relpath(path, source)))


def place_all(corpus, home):
    """Lays the whole corpus out below `home`. Returns the places whose sources exist."""
    script = os.path.join(corpus, "as-home.py")
    subprocess.run([sys.executable, script, home], capture_output=True, check=True)
    placed = [p for p in [*GENERATED, *OTHERS] if os.path.exists(os.path.join(corpus, p.source))]
    for place in placed:
        copy(os.path.join(corpus, place.source), os.path.join(home, place.destination))
    write_crush_projects(home)
    return placed


def write_crush_projects(home):
    """Crush lists the projects it was used in, with absolute paths."""
    projects = {"projects": [{"path": os.path.join(home, "crush-app"), "data_dir": os.path.join(home, "crush-app", ".crush")}]}
    os.makedirs(os.path.join(home, ".local/share/crush"), exist_ok=True)
    with open(os.path.join(home, ".local/share/crush/projects.json"), "w", encoding="utf-8") as file:
        json.dump(projects, file)
