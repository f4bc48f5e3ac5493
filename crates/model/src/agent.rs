//! The coding agents whose transcripts we can read: one row each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the agents in display order. Rethread itself comes last.
macro_rules! agents {
    ($($(#[$doc:meta])* $agent:ident {
        name: $name:literal, label: $label:literal, aliases: [$($alias:literal),*] $(, opt_in: $opt_in:literal)?
    })*) => {
        /// A coding agent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Agent {
            $($(#[$doc])* #[serde(rename = $name)] $agent,)*
        }

        impl Agent {
            /// Every agent, in display order.
            pub const ALL: [Agent; [$($name),*].len()] = [$(Agent::$agent),*];

            /// The name in commands, JSON and the store.
            pub const fn as_str(self) -> &'static str {
                match self { $(Agent::$agent => $name,)* }
            }

            /// The name as its makers write it.
            pub const fn label(self) -> &'static str {
                match self { $(Agent::$agent => $label,)* }
            }

            /// Other names that users may type.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Agent::$agent => &[$($alias),*],)* }
            }

            /// Whether it is read only if the user says so: its sessions also contain private conversations.
            pub const fn is_opt_in(self) -> bool {
                match self { $(Agent::$agent => false $(|| $opt_in)?,)* }
            }
        }

        impl FromStr for Agent {
            type Err = UnknownAgent;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($name $(| $alias)* => Ok(Agent::$agent),)*
                    _ => Err(UnknownAgent(text.to_owned())),
                }
            }
        }
    };
}

agents! {
    /// Anthropic's Claude Code.
    ClaudeCode { name: "claude-code", label: "Claude Code", aliases: ["claude"] }
    /// The pi coding agent.
    Pi { name: "pi", label: "pi", aliases: [] }
    /// Aider, pair programming in a terminal.
    Aider { name: "aider", label: "Aider", aliases: [] }
    /// Google's Antigravity.
    Antigravity { name: "antigravity", label: "Antigravity", aliases: ["agy"] }
    /// Augment Code's Auggie.
    Auggie { name: "auggie", label: "Auggie", aliases: ["augment"] }
    /// Claude Desktop, in its agent mode.
    ClaudeDesktop { name: "claude-desktop", label: "Claude Desktop", aliases: ["cowork"] }
    /// Cline: the extension, the CLI and the desktop program.
    Cline { name: "cline", label: "Cline", aliases: [] }
    /// Codex, the coding agent of `OpenAI`.
    Codex { name: "codex", label: "Codex", aliases: [] }
    /// Continue: the extensions and the CLI `cn`.
    Continue { name: "continue", label: "Continue", aliases: ["cn"] }
    /// GitHub Copilot in the terminal.
    Copilot { name: "copilot", label: "Copilot CLI", aliases: ["copilot-cli"] }
    /// Charm's Crush.
    Crush { name: "crush", label: "Crush", aliases: [] }
    /// Cursor: its editor and its CLI.
    Cursor { name: "cursor", label: "Cursor", aliases: [] }
    /// The harness of DeepSeek.
    DeepSeek { name: "deepseek", label: "DeepSeek Harness", aliases: ["dsh"] }
    /// Factory's Droid.
    Droid { name: "droid", label: "Factory Droid", aliases: ["factory-droid"] }
    /// Google's Gemini CLI.
    Gemini { name: "gemini", label: "Gemini CLI", aliases: ["gemini-cli"] }
    /// goose, by Block and the AAIF.
    Goose { name: "goose", label: "goose", aliases: [] }
    /// gptme.
    Gptme { name: "gptme", label: "gptme", aliases: [] }
    /// xAI's Grok Build.
    Grok { name: "grok", label: "Grok Build", aliases: ["grok-build"] }
    /// Nous Research's Hermes.
    Hermes { name: "hermes", label: "Hermes", aliases: [], opt_in: true }
    /// JetBrains' Junie.
    Junie { name: "junie", label: "Junie", aliases: [] }
    /// Kilo, the command line client and the extension on the same code.
    Kilo { name: "kilo", label: "Kilo", aliases: ["kilocode"] }
    /// Moonshot AI's Kimi Code.
    Kimi { name: "kimi", label: "Kimi Code", aliases: ["kimi-code", "kimi-cli"] }
    /// Kiro of AWS, CLI and IDE.
    Kiro { name: "kiro", label: "Kiro", aliases: ["kiro-cli"] }
    /// The assistant that was Clawdbot and Moltbot before.
    OpenClaw { name: "openclaw", label: "OpenClaw", aliases: ["clawdbot", "moltbot"], opt_in: true }
    /// `OpenCode`, by Anomaly.
    OpenCode { name: "opencode", label: "OpenCode", aliases: [] }
    /// The CLI of OpenHands.
    OpenHands { name: "openhands", label: "OpenHands", aliases: [] }
    /// Alibaba's Qwen Code.
    Qwen { name: "qwen", label: "Qwen Code", aliases: ["qwen-code"] }
    /// Roo Code, an extension.
    Roo { name: "roo", label: "Roo Code", aliases: ["roo-code"] }
    /// Atlassian's Rovo Dev.
    RovoDev { name: "rovodev", label: "Rovo Dev", aliases: ["rovo"] }
    /// Mistral Vibe.
    Vibe { name: "vibe", label: "Mistral Vibe", aliases: ["mistral-vibe"] }
    /// GitHub Copilot in VS Code.
    VscodeCopilot { name: "vscode-copilot", label: "VS Code Copilot Chat", aliases: [] }
    /// The agent of the Warp terminal.
    Warp { name: "warp", label: "Warp", aliases: [] }
    /// The agent of the Zed editor.
    Zed { name: "zed", label: "Zed", aliases: [] }
    /// Rethread itself: our own threads.
    Native { name: "native", label: "Rethread", aliases: [] }
}

/// The name is not one of the supported agents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent {0:?}; use {choices}", choices = Agent::any_of(&Agent::ALL))]
pub struct UnknownAgent(pub String);

impl Agent {
    /// Agents other than Rethread: their transcripts are not written by us.
    pub const EXTERNAL: [Agent; Agent::ALL.len() - 1] = {
        let [external @ .., Agent::Native] = Agent::ALL else { panic!("Rethread itself comes last") };
        external
    };

    /// Length of the longest name.
    pub const MAX_NAME_LENGTH: usize = {
        let (mut at, mut longest) = (0, 0);
        while at < Agent::ALL.len() {
            let length = Agent::ALL[at].as_str().len();
            longest = if length > longest { length } else { longest };
            at += 1;
        }
        longest
    };

    /// The names of agents in a sentence: `claude-code, pi or native`.
    pub fn any_of(agents: &[Agent]) -> String {
        let names: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
