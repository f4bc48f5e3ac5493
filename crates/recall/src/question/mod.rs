//! Questions about one session: the prompt, verification of a model's answer, and an answer without a model.

mod answer;
mod excerpt;
mod extract;
mod prompt;
mod serialize;

pub use answer::{Citation, CitedAnswer, Confidence, MAX_CITATIONS, MAX_EXCERPT_CHARS};
pub use extract::extractive_answer;
pub use prompt::{QuestionPrompt, answer_schema, question_prompt};
pub(crate) use serialize::entry_text;
pub use serialize::{SerializedSession, serialize_session};
