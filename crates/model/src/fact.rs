//! What is known of the world from what happened: subject, predicate, object, and what it rests on.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What kind of thing a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityKind {
    /// A file, relative to its project.
    File,
    /// A program and its subcommand, without arguments.
    Command,
    /// An error, by its signature.
    Error,
    /// What was chosen, or chosen against.
    Choice,
    /// A standing wish of the user.
    Rule,
    /// A commit, by the first line of its message.
    Commit,
    /// A git branch.
    Branch,
    /// A package that a project depends on.
    Package,
}

impl EntityKind {
    /// All kinds.
    pub const ALL: [Self; 8] =
        [Self::File, Self::Command, Self::Error, Self::Choice, Self::Rule, Self::Commit, Self::Branch, Self::Package];

    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Command => "command",
            Self::Error => "error",
            Self::Choice => "choice",
            Self::Rule => "rule",
            Self::Commit => "commit",
            Self::Branch => "branch",
            Self::Package => "package",
        }
    }

    /// From the name in the store.
    pub fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A thing that facts are about. Two facts are about the same thing when kind and name are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entity {
    /// What it is.
    pub kind: EntityKind,
    /// Its canonical name.
    pub name: String,
}

impl Entity {
    /// The thing of that kind and name.
    pub fn new(kind: EntityKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// What a fact says of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// A file was read.
    Read,
    /// A file was changed.
    Edited,
    /// A file was written as a whole.
    Created,
    /// A file was removed.
    Deleted,
    /// A file got the name of the object.
    Renamed,
    /// A command was run.
    Ran,
    /// A command failed with the object, an error.
    FailedWith,
    /// An error went away after what the detail tells; the object is the command that shows it.
    FixedBy,
    /// An error stayed in spite of what the detail tells: a dead end.
    NotFixedBy,
    /// A choice was made; the object is what was chosen against.
    Decided,
    /// The user wants it so, always.
    Prefers,
    /// The user never wants it.
    Forbids,
    /// A commit was made, on the branch that is the object.
    Committed,
    /// A commit or a file was taken back.
    Reverted,
    /// A branch was made.
    Branched,
    /// A branch was merged.
    Merged,
    /// A package was added.
    Added,
    /// A package was removed.
    Removed,
    /// The commands of a stretch of work, in order, as the detail lists them; the subject is the first.
    Sequence,
}

impl Predicate {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Read,
        Self::Edited,
        Self::Created,
        Self::Deleted,
        Self::Renamed,
        Self::Ran,
        Self::FailedWith,
        Self::FixedBy,
        Self::NotFixedBy,
        Self::Decided,
        Self::Prefers,
        Self::Forbids,
        Self::Committed,
        Self::Reverted,
        Self::Branched,
        Self::Merged,
        Self::Added,
        Self::Removed,
        Self::Sequence,
    ];

    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edited => "edited",
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Ran => "ran",
            Self::FailedWith => "failed_with",
            Self::FixedBy => "fixed_by",
            Self::NotFixedBy => "not_fixed_by",
            Self::Decided => "decided",
            Self::Prefers => "prefers",
            Self::Forbids => "forbids",
            Self::Committed => "committed",
            Self::Reverted => "reverted",
            Self::Branched => "branched",
            Self::Merged => "merged",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Sequence => "sequence",
        }
    }

    /// From the name in the store.
    pub fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|predicate| predicate.as_str() == name)
    }
}

/// How sure a fact is. A decision's states have names of their own: proposed, accepted, rejected, superseded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactState {
    /// It may be so; of a decision: proposed.
    Hypothesis,
    /// It was seen; of a decision: accepted.
    #[default]
    Confirmed,
    /// It was seen to be wrong; of a decision: rejected.
    Refuted,
    /// Something else took its place.
    Superseded,
}

impl FactState {
    /// The name in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hypothesis => "hypothesis",
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Superseded => "superseded",
        }
    }

    /// The name of a decision's state.
    pub const fn of_decision(self) -> &'static str {
        match self {
            Self::Hypothesis => "proposed",
            Self::Confirmed => "accepted",
            Self::Refuted => "rejected",
            Self::Superseded => "superseded",
        }
    }

    /// The name readers know, which depends on what is said.
    pub const fn named(self, predicate: Predicate) -> &'static str {
        if matches!(predicate, Predicate::Decided) { self.of_decision() } else { self.as_str() }
    }

    /// From the name in the store; anything unknown is only a hypothesis.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "confirmed" => Self::Confirmed,
            "refuted" => Self::Refuted,
            "superseded" => Self::Superseded,
            _ => Self::Hypothesis,
        }
    }
}

/// Whose word a fact rests on: the least trusted of its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Text from the web.
    Web,
    /// Output of a tool.
    Tool,
    /// A model's words.
    Assistant,
    /// A human's words.
    Human,
}

impl Trust {
    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Tool => "tool",
            Self::Assistant => "assistant",
            Self::Human => "human",
        }
    }

    /// From the name in the store; anything unknown is trusted least.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "human" => Self::Human,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            _ => Self::Web,
        }
    }
}

/// One thing that was learned from a stretch of a session. What later stretches say of the same thing is told apart
/// from it, and both are put together when somebody asks: so nothing need be undone when a session is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What is said.
    pub predicate: Predicate,
    /// Of what.
    pub subject: Entity,
    /// And of what else.
    pub object: Option<Entity>,
    /// In words: the command as typed, the sentence of a decision, what was done about an error.
    pub detail: String,
    /// Why, where a reason was given.
    pub reason: Option<String>,
    /// The words of an output it is about, such as the line of an error.
    pub quote: Option<String>,
    /// How sure it is.
    pub state: FactState,
    /// How often it went well.
    pub succeeded: u64,
    /// How often it did not.
    pub failed: u64,
    /// Whose word it is.
    pub trust: Trust,
    /// The transcript's line that says it.
    pub line: u64,
    /// Other lines it rests on.
    pub evidence: Vec<u64>,
    /// Since when it holds in the world.
    pub at: Option<Timestamp>,
    /// The model that added it; nothing for a rule.
    pub model: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_back() {
        for predicate in Predicate::ALL {
            assert_eq!(Predicate::from_stored(predicate.as_str()), Some(predicate));
            let json = serde_json::to_string(&predicate).unwrap();
            assert_eq!(json, format!("\"{}\"", predicate.as_str()));
        }
        for kind in EntityKind::ALL {
            assert_eq!(EntityKind::from_stored(kind.as_str()), Some(kind));
        }
        for state in [FactState::Hypothesis, FactState::Confirmed, FactState::Refuted, FactState::Superseded] {
            assert_eq!(FactState::from_stored(state.as_str()), state);
        }
        for trust in [Trust::Web, Trust::Tool, Trust::Assistant, Trust::Human] {
            assert_eq!(Trust::from_stored(trust.as_str()), trust);
        }
    }

    #[test]
    fn trust_is_ordered_from_the_web_to_the_human() {
        assert!(Trust::Web < Trust::Tool && Trust::Tool < Trust::Assistant && Trust::Assistant < Trust::Human);
    }
}
