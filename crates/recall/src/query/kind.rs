//! The kinds of things that can be asked for.

use std::fmt;
use std::str::FromStr;

/// What a found entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// What a human typed.
    Prompt,
    /// What the assistant said.
    Answer,
    /// A tool call.
    Tool,
    /// A failed tool call or a failure of the agent.
    Error,
    /// A summary of what went before.
    Summary,
    /// What the assistant thought.
    Reasoning,
    /// Everything else.
    Note,
}

/// No kind has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind {0:?}; known are: {known}", known = Kind::ALL.map(Kind::as_str).join(", "))]
pub struct UnknownKind(pub String);

impl Kind {
    /// All of them, in the order they are shown.
    pub const ALL: [Kind; 7] =
        [Kind::Prompt, Kind::Answer, Kind::Tool, Kind::Error, Kind::Summary, Kind::Reasoning, Kind::Note];

    /// The name in queries and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Prompt => "prompt",
            Kind::Answer => "answer",
            Kind::Tool => "tool",
            Kind::Error => "error",
            Kind::Summary => "summary",
            Kind::Reasoning => "reasoning",
            Kind::Note => "note",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    /// Takes the names in any case, and the roles that transcripts use.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.to_ascii_lowercase();
        match name.as_str() {
            "user" | "human" => Ok(Kind::Prompt),
            "assistant" => Ok(Kind::Answer),
            "thinking" => Ok(Kind::Reasoning),
            _ => Kind::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| UnknownKind(text.to_owned())),
        }
    }
}
