//! Questions about a whole project: which memory a question is for, and an answer from facts, sessions and passages.
//!
//! Several memories are asked, and the best evidence wins: wording only says what is more likely. Every sentence of an
//! answer has a source. Nothing here calls a model; [`ProjectAnswer::from_model_json`] checks the answer of one.

mod choose;
mod events;
mod fact_items;
mod model_answer;
mod passages;
mod prompt_answer;
mod prompt_question;
mod quotes;
mod rule_items;
mod session_items;
mod shape;
mod source;
mod terms;
#[cfg(test)]
mod tests;
mod wording;

use super::Confidence;

pub use choose::{ProjectEvidence, answer_from_evidence};
pub use fact_items::decision_key;
pub use model_answer::{PROJECT_SYSTEM_PROMPT, project_answer_schema, project_prompt};
pub use passages::Exchange;
pub use prompt_answer::{PromptAnswer, answer_prompt};
pub use prompt_question::{MemoryQuestion, without_lead};
pub use rule_items::RuleEvidence;
pub use session_items::SessionEvidence;
pub use shape::QuestionShape;
pub use source::{SentenceSource, SourcePlace};
pub use wording::AnswerTimes;

/// What was asked for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// What fixed an error.
    Fix,
    /// What was decided, and why.
    Decision,
    /// What the user always or never wants.
    Preference,
    /// Why something happens.
    Cause,
    /// What something needs or does not work with.
    Requirement,
    /// What was done to a file.
    File,
    /// Commits, branches and packages.
    Event,
    /// What a session was about and how it ended.
    Session,
    /// A prompt and the reply to it.
    Passage,
}

impl MemoryKind {
    /// Every kind, in the order of the weights of a [`QuestionShape`].
    pub const ALL: [Self; 9] = [
        Self::Fix,
        Self::Decision,
        Self::Preference,
        Self::Cause,
        Self::Requirement,
        Self::File,
        Self::Event,
        Self::Session,
        Self::Passage,
    ];

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Cause => "cause",
            Self::Requirement => "requirement",
            Self::File => "file",
            Self::Event => "event",
            Self::Session => "session",
            Self::Passage => "passage",
        }
    }
}

/// A sentence of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerSentence {
    /// The sentence, on one line.
    pub text: String,
    /// Where it comes from; a model may give several.
    pub sources: Vec<SentenceSource>,
}

impl AnswerSentence {
    fn new(text: String, source: SentenceSource) -> Self {
        Self { text, sources: vec![source] }
    }
}

/// One piece of an answer: what one memory knows.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerItem {
    /// The memory it comes from.
    pub memory: MemoryKind,
    /// What it says, most important first.
    pub sentences: Vec<AnswerSentence>,
    /// How well it fits the question, 0 to about 1.
    pub score: f32,
}

/// An answer to a question about a project.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectAnswer {
    /// Best first; empty if nothing is known.
    pub items: Vec<AnswerItem>,
    /// How reliable it is.
    pub confidence: Confidence,
    /// What is missing or uncertain.
    pub notes: Vec<String>,
}

impl ProjectAnswer {
    /// The answer if nothing is known.
    pub fn nothing() -> Self {
        Self { items: Vec::new(), confidence: Confidence::Low, notes: Vec::new() }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The answer as Markdown: one paragraph per item, each sentence with its citations.
    pub fn to_markdown(&self) -> String {
        self.items.iter().map(AnswerItem::to_line).collect::<Vec<_>>().join("\n\n")
    }
}

impl AnswerItem {
    /// All sentences on one line, each with its citations.
    pub fn to_line(&self) -> String {
        let cited = self.sentences.iter().map(|sentence| {
            let sources: Vec<String> = sentence.sources.iter().map(SentenceSource::citation).collect();
            format!("{} [{}]", sentence.text, sources.join(", "))
        });
        cited.collect::<Vec<_>>().join(" ")
    }
}
