//! Facts extracted from sessions: subject, predicate, object, and the evidence for them.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityKind {
    /// A file, relative to its project.
    File,
    /// A program and its subcommand, without arguments.
    Command,
    /// An error, identified by its signature.
    Error,
    /// An option that was decided for or against.
    Decision,
    /// A preference or prohibition of the user.
    Preference,
    /// A commit, identified by the first line of its message.
    Commit,
    /// A git branch.
    Branch,
    /// A package that a project depends on.
    Package,
    /// An option in a configuration, an environment variable or a flag.
    Setting,
    /// What a diagnosis is about, in a few words.
    Topic,
}

impl EntityKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::File,
        Self::Command,
        Self::Error,
        Self::Decision,
        Self::Preference,
        Self::Commit,
        Self::Branch,
        Self::Package,
        Self::Setting,
        Self::Topic,
    ];

    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Command => "command",
            Self::Error => "error",
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Commit => "commit",
            Self::Branch => "branch",
            Self::Package => "package",
            Self::Setting => "setting",
            Self::Topic => "topic",
        }
    }

    /// Parses the stored name.
    pub fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What a fact is about. Two entities are the same if kind and name are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entity {
    /// Kind of entity.
    pub kind: EntityKind,
    /// Canonical name, as compared and stored.
    pub name: String,
}

impl Entity {
    /// An entity of that kind and name.
    pub fn new(kind: EntityKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// What a fact states about its subject.
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
    /// A file was renamed to the object.
    Renamed,
    /// A command was run.
    Ran,
    /// A command failed with the object, which is an error.
    FailedWith,
    /// An error was fixed by what the detail describes; the object is the command that verified it.
    FixedBy,
    /// An error remained despite what the detail describes: a failed attempt.
    NotFixedBy,
    /// A decision was made; the object is the rejected option.
    Decided,
    /// The user always wants it this way.
    Prefers,
    /// The user never wants it.
    Forbids,
    /// A commit was made, on the branch that is the object.
    Committed,
    /// A commit or a file was reverted.
    Reverted,
    /// A branch was created.
    Branched,
    /// A branch was merged.
    Merged,
    /// A package was added.
    Added,
    /// A package was removed.
    Removed,
    /// The commands of a span, in order, as listed in the detail; the subject is the first command.
    Sequence,
    /// The subject happens because of the object.
    CausedBy,
    /// The subject works only with the object.
    Requires,
    /// The subject does not work together with the object.
    ConflictsWith,
}

impl Predicate {
    /// Every predicate.
    pub const ALL: [Self; 22] = [
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
        Self::CausedBy,
        Self::Requires,
        Self::ConflictsWith,
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
            Self::CausedBy => "caused_by",
            Self::Requires => "requires",
            Self::ConflictsWith => "conflicts_with",
        }
    }

    /// Parses the stored name.
    pub fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|predicate| predicate.as_str() == name)
    }
}

/// How certain a fact is. Decisions have their own names: proposed, accepted, rejected, superseded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactState {
    /// Possible but not verified; for a decision: proposed.
    Hypothesis,
    /// Observed; for a decision: accepted.
    #[default]
    Confirmed,
    /// Observed to be wrong; for a decision: rejected.
    Refuted,
    /// Replaced by a later fact.
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

    /// The name of this state for a decision.
    pub const fn decision_name(self) -> &'static str {
        match self {
            Self::Hypothesis => "proposed",
            Self::Confirmed => "accepted",
            Self::Refuted => "rejected",
            Self::Superseded => "superseded",
        }
    }

    /// The name shown to users, which depends on the predicate.
    pub const fn display_name(self, predicate: Predicate) -> &'static str {
        if matches!(predicate, Predicate::Decided) { self.decision_name() } else { self.as_str() }
    }

    /// Parses the stored name; unknown names become `Hypothesis`.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "confirmed" => Self::Confirmed,
            "refuted" => Self::Refuted,
            "superseded" => Self::Superseded,
            _ => Self::Hypothesis,
        }
    }
}

/// The source a fact relies on; the least trusted of its evidence counts. Ordered from least to most trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Text from the web.
    Web,
    /// Output of a tool.
    Tool,
    /// Text written by a model.
    Assistant,
    /// Text written by a human.
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

    /// Parses the stored name; unknown names get the lowest trust.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "human" => Self::Human,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            _ => Self::Web,
        }
    }
}

/// One fact extracted from a span of a session. Facts of later spans about the same entity are stored separately and
/// merged when queried, so nothing has to be undone when a session is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What is stated.
    pub predicate: Predicate,
    /// The entity it is about.
    pub subject: Entity,
    /// The second entity, if the predicate has one.
    pub object: Option<Entity>,
    /// In words: the command as typed, the sentence of a decision, the steps taken against an error.
    pub detail: String,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// The quoted output it is about, such as the line of an error.
    pub quote: Option<String>,
    /// How certain it is.
    pub state: FactState,
    /// Number of successes.
    pub success_count: u64,
    /// Number of failures.
    pub failure_count: u64,
    /// The least trusted source it relies on.
    pub trust: Trust,
    /// The transcript line that states it.
    pub line: u64,
    /// Other transcript lines that support it.
    pub evidence_lines: Vec<u64>,
    /// When it became true.
    pub at: Option<Timestamp>,
    /// The model that extracted it; `None` if it was extracted by rules.
    pub model: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_round_trip() {
        for predicate in Predicate::ALL {
            assert_eq!(Predicate::from_stored(predicate.as_str()), Some(predicate));
            let json = serde_json::to_string(&predicate).unwrap();
            assert_eq!(json, format!("\"{}\"", predicate.as_str()));
        }
        for kind in EntityKind::ALL {
            assert_eq!(EntityKind::from_stored(kind.as_str()), Some(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.as_str()));
        }
        for state in [FactState::Hypothesis, FactState::Confirmed, FactState::Refuted, FactState::Superseded] {
            assert_eq!(FactState::from_stored(state.as_str()), state);
        }
        for trust in [Trust::Web, Trust::Tool, Trust::Assistant, Trust::Human] {
            assert_eq!(Trust::from_stored(trust.as_str()), trust);
        }
    }

    #[test]
    fn trust_is_ordered_from_web_to_human() {
        assert!(Trust::Web < Trust::Tool && Trust::Tool < Trust::Assistant && Trust::Assistant < Trust::Human);
    }
}
