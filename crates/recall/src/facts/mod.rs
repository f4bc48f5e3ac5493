//! What is known now: folds over what single stretches of sessions say, made when somebody asks.
//!
//! Nothing here is stored. What was forgotten is therefore undone by itself, and what was known at some moment is the
//! same fold over what was said until then.

mod around;
mod ask;
mod decisions;
mod files;
mod fixes;
mod likeness;
#[cfg(test)]
mod testing;
mod workflows;

use rethread_model::{Agent, SessionId, Timestamp};
use rethread_store::KnownFact;

pub use around::{Edge, Graph, Limits, Node, Thing, around};
pub use ask::{CitedFact, CitedFacts, FACTS_SYSTEM, FactsPiece, MOST_FACTS, cited_facts, facts_pieces, facts_schema};
pub use decisions::{Decision, decisions};
pub use files::{Deed, Touch, mentions, names_of, touches};
pub use fixes::{Fix, Fixes, fixes};
pub use likeness::{ALIKE_ENOUGH, share_of_words, telling_words};
pub use workflows::{CommandUse, Pattern, Workflow, workflows};

/// Where a fact stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The session that says it.
    pub session: SessionId,
    /// Whose session.
    pub agent: Agent,
    /// Its name.
    pub session_name: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// The episode of that session.
    pub episode: u64,
    /// The line that says it.
    pub line: u64,
    /// Other lines it rests on.
    pub evidence: Vec<u64>,
    /// When it was.
    pub at: Option<Timestamp>,
}

impl Source {
    /// Where this fact stands.
    pub fn of(known: &KnownFact) -> Self {
        Self {
            session: known.session,
            agent: known.agent,
            session_name: known.session_name.clone(),
            project: known.project.clone(),
            episode: known.episode,
            line: known.fact.line,
            evidence: known.fact.evidence.clone(),
            at: known.fact.at,
        }
    }

    /// As `show` takes it: `SESSION:LINE`.
    pub fn citation(&self) -> String {
        format!("{}:{}", self.session, self.line)
    }
}

/// Facts in the order they became true; those of unknown time first. They come newest first, which decides where nothing
/// else does.
fn oldest_first(facts: &[KnownFact]) -> Vec<&KnownFact> {
    let mut sorted: Vec<&KnownFact> = facts.iter().rev().collect();
    sorted.sort_by_key(|known| (known.fact.at, known.session, known.fact.line));
    sorted
}

/// A text by which two ways to say the same are recognised: case, blanks and the full stop at the end do not matter.
fn normal(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!', ';', ',']).to_owned()
}
