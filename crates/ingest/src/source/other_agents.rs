//! Agents whose transcripts we cannot read yet, so that users see why one is missing.

use rethread_model::Agent;

use super::SourceConfig;

/// Names and folders in the home directory. A folder that several agents share is not listed.
const OTHER_AGENTS: [(&str, &str); 22] = [
    ("Aider", ".aider"),
    ("Amp", ".local/share/amp"),
    ("Cline", ".cline"),
    ("Codex", ".codex"),
    ("Continue", ".continue"),
    ("Copilot CLI", ".copilot"),
    ("Crush", ".local/share/crush"),
    ("Cursor", ".cursor"),
    ("Factory Droid", ".factory"),
    ("Gemini CLI", ".gemini"),
    ("goose", ".local/share/goose"),
    ("Grok Build", ".grok"),
    ("Hermes", ".hermes"),
    ("Junie", ".junie"),
    ("Kilo", ".local/share/kilo"),
    ("Kimi Code", ".kimi-code"),
    ("Kiro", ".kiro"),
    ("OpenClaw", ".openclaw"),
    ("OpenCode", ".local/share/opencode"),
    ("Qwen Code", ".qwen"),
    ("Windsurf", ".codeium/windsurf"),
    ("Zed", ".local/share/zed/threads"),
];

/// The names of other agents that were used on this machine.
pub fn other_agents(source_config: &SourceConfig) -> Vec<&'static str> {
    let is_read = |name: &str| Agent::ALL.iter().any(|agent| agent.label() == name);
    let is_used = |folder: &str| source_config.home.join(folder).is_dir();
    let others = OTHER_AGENTS.iter().filter(|(name, folder)| !is_read(name) && is_used(folder));
    others.map(|(name, _)| *name).collect()
}
