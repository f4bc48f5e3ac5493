//! Derives current knowledge (fixes, decisions, file history, workflows) from facts, on demand.
//!
//! Nothing here is stored. Forgetting a session therefore needs no cleanup here, and the knowledge at an earlier time
//! is
//! the same computation over the facts up to then.

mod causes;
mod decisions;
mod extraction_prompt;
mod file_history;
mod fixes;
mod graph;
mod known_errors;
mod names;
mod ruled_out;
mod sequences;
#[cfg(test)]
pub(crate) mod testing;
mod tool_kinds;
mod tool_packages;
mod word_overlap;
mod workflows;

use rethread_model::{Agent, SessionId, Timestamp};
use rethread_store::FactRow;

pub use causes::{CAUSE_PREDICATES, Cause, causes};
pub use decisions::{DECISION_PREDICATES, Decision, decisions};
pub use extraction_prompt::{
    CitedFact, CitedFacts, FACTS_SYSTEM_PROMPT, FactPromptChunk, MAX_FACTS, fact_prompt_chunks, facts_schema,
    parse_cited_facts,
};
pub use file_history::{FileAction, FileTouch, all_file_names, file_touches, mentions_file, mentions_path};
pub use fixes::{Fix, KnownFixes, known_fixes};
pub use graph::{
    EntityGraph, GraphEdge, GraphItem, GraphLimits, GraphNode, KNOWLEDGE_PREDICATES, entity_graph, knowledge_rank,
};
pub use known_errors::{KnownError, errors_with_code, known_errors, similar_errors, with_other_values};
pub(crate) use names::{NameForm, name_form, position_of_name, words_around_name};
pub(crate) use ruled_out::declined_tool;
pub use ruled_out::{RuledOut, ruled_out};
pub use sequences::StepSequence;
pub(crate) use tool_kinds::{is_same_kind, kinds_of, names_kind, tools_in};
pub use workflows::{CommandStats, Workflow, workflows};

/// Where a fact was stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSource {
    /// Session that states it.
    pub session: SessionId,
    /// Agent that ran the session.
    pub agent: Agent,
    /// Name of the session.
    pub session_name: Option<String>,
    /// Project of the session.
    pub project: Option<String>,
    /// Episode in the session.
    pub episode: u64,
    /// Transcript line that states it.
    pub line: u64,
    /// Other lines it is based on.
    pub evidence: Vec<u64>,
    /// Time of the entry.
    pub at: Option<Timestamp>,
}

impl FactSource {
    /// The source of a stored fact.
    pub fn of_fact(known: &FactRow) -> Self {
        Self {
            session: known.session,
            agent: known.agent,
            session_name: known.session_name.clone(),
            project: known.project.clone(),
            episode: known.episode,
            line: known.fact.line,
            evidence: known.fact.evidence_lines.clone(),
            at: known.fact.at,
        }
    }

    /// `SESSION:LINE`, as accepted by `show`.
    pub fn citation(&self) -> String {
        format!("{}:{}", self.session, self.line)
    }
}

/// Facts in the order they became true, those of unknown time first. The input is newest first, which breaks ties.
fn oldest_first(facts: &[FactRow]) -> Vec<&FactRow> {
    let mut sorted: Vec<&FactRow> = facts.iter().rev().collect();
    sorted.sort_by_key(|known| (known.fact.at, known.session, known.fact.line));
    sorted
}

/// Normalizes a text for comparison: ignores case, whitespace and trailing punctuation.
fn normalize(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!', ';', ',']).to_owned()
}
