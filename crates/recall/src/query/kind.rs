//! The kinds of entries a search can return.

use std::fmt;
use std::str::FromStr;

/// What kind of entry a hit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HitKind {
    /// Typed by a human.
    Prompt,
    /// Written by the assistant.
    Answer,
    /// A tool call.
    Tool,
    /// A failed tool call or a failure of the agent.
    Error,
    /// A summary of earlier entries.
    Summary,
    /// The assistant's reasoning.
    Reasoning,
    /// Everything else.
    Note,
}

/// The given name is not a kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind {0:?}; use one of: {known}", known = HitKind::ALL.map(HitKind::as_str).join(", "))]
pub struct UnknownHitKind(pub String);

impl HitKind {
    /// All kinds, in display order.
    pub const ALL: [HitKind; 7] = [
        HitKind::Prompt,
        HitKind::Answer,
        HitKind::Tool,
        HitKind::Error,
        HitKind::Summary,
        HitKind::Reasoning,
        HitKind::Note,
    ];

    /// The name in queries and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            HitKind::Prompt => "prompt",
            HitKind::Answer => "answer",
            HitKind::Tool => "tool",
            HitKind::Error => "error",
            HitKind::Summary => "summary",
            HitKind::Reasoning => "reasoning",
            HitKind::Note => "note",
        }
    }
}

impl fmt::Display for HitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for HitKind {
    type Err = UnknownHitKind;

    /// Accepts the names in any case, and the role names used in transcripts.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.to_ascii_lowercase();
        match name.as_str() {
            "user" | "human" => Ok(HitKind::Prompt),
            "assistant" => Ok(HitKind::Answer),
            "thinking" => Ok(HitKind::Reasoning),
            _ => HitKind::ALL
                .into_iter()
                .find(|kind| kind.as_str() == name)
                .ok_or_else(|| UnknownHitKind(text.to_owned())),
        }
    }
}
