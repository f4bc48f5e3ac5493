//! Questions about one session or a whole project: prompts, checks of a model's answer, and answers without a model.

mod answer;
mod excerpt;
mod extract;
mod project;
mod prompt;
mod serialize;

pub use answer::{Citation, CitedAnswer, Confidence, MAX_CITATIONS, MAX_EXCERPT_CHARS};
pub use extract::extractive_answer;
pub use project::{
    AnswerItem, AnswerSentence, AnswerTimes, Exchange, MemoryKind, MemoryQuestion, PROJECT_SYSTEM_PROMPT,
    ProjectAnswer, ProjectEvidence, PromptAnswer, QuestionShape, RuleEvidence, SentenceSource, SessionEvidence,
    SourcePlace, answer_from_evidence, answer_prompt, decision_key, project_answer_schema, project_prompt,
    without_lead,
};
pub use prompt::{QuestionPrompt, answer_schema, question_prompt};
pub(crate) use serialize::entry_text;
pub use serialize::{SerializedSession, serialize_session};
