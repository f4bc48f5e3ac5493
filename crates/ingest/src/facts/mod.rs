//! Extracts facts from a span of a session by rules, without a model.
//!
//! Facts are extracted span by span; state that the next span needs is in [`ExtractionState`]. So a growing session is
//! processed incrementally, with the same result as if it were processed at once.

mod command;
mod command_kind;
mod decisions;
mod diagnoses;
mod error_codes;
mod error_forms;
mod error_place;
mod errors;
mod fixes;
mod git;
mod git_calls;
mod imports;
mod packages;
mod pasted_console;
mod pattern;
mod script;
pub mod sentence_model;
mod shell;
mod shell_keywords;
mod sink;
mod steps;
mod tables;
mod word_counts;
mod work;
mod wrappers;

use rethread_model::{Entry, Fact};
use serde::{Deserialize, Serialize};

use self::decisions::DecisionExtractor;
pub use self::decisions::{ConversationSentence, conversation_sentences};
use self::diagnoses::DiagnosisTracker;
use self::sink::FactSink;
pub(crate) use self::work::{INTERRUPTED, STILL_RUNNING};
use self::work::{WorkExtractor, WorkState};

pub use self::command::{command_name, is_read_only, runs_command};
pub use self::decisions::{StatedRule, preference_in};
pub use self::error_codes::{error_codes, is_distinctive_code, queried_codes};
pub use self::error_forms::{ErrorContent, concrete_form, error_content, is_same_error, signature};
pub use self::error_place::{error_places, may_fix};
pub(crate) use self::errors::is_agent_message;
pub use self::errors::{failure_line, identifying_line};
pub(crate) use self::fixes::bypass_marker;
pub use self::fixes::is_bypass;
pub use self::git::git_note;
pub use self::git_calls::{GitCall, git_calls};
pub use self::imports::imported_packages;
pub use self::packages::installed_packages;
pub(crate) use self::script::shorten_script;

/// Increased when the rules change, so that facts are extracted again.
pub const RULES_VERSION: u64 = 5;

/// The state carried from one span of a session to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractionState {
    work: WorkState,
    decisions: DecisionExtractor,
    diagnoses: DiagnosisTracker,
}

/// The result of extracting facts from one span.
#[derive(Clone, Debug, Default)]
pub struct ExtractedFacts {
    /// The facts, in transcript order.
    pub facts: Vec<Fact>,
    /// The state for the next span.
    pub state: ExtractionState,
}

/// Extracts the facts of a span: a pure function of its entries and the state before it. Paths below one of the roots
/// are shortened to the relative path.
pub fn extract(mut carry: ExtractionState, roots: &[&str], entries: &[&Entry]) -> ExtractedFacts {
    let mut sink = FactSink::default();
    let mut work = WorkExtractor::new(&mut carry.work, roots);
    for entry in entries {
        let before = sink.facts_mut().len();
        work.push(entry, &mut sink);
        carry.diagnoses.confirm_by_fixes(before, sink.facts_mut());
        if !entry.is_abandoned {
            carry.diagnoses.extract(entry, work.open_error().as_ref(), sink.facts_mut());
        }
        carry.decisions.extract(entry, sink.facts_mut());
    }
    work.finish(&mut sink);
    ExtractedFacts { facts: sink.into_facts(), state: carry }
}
