//! Questions about one session: what a model gets of it, what its answer is worth, and an answer without a model.

mod answer;
mod excerpt;
mod extract;
mod serialise;
mod words;

pub use answer::{Answer, Citation, Confidence, LONGEST_EXCERPT, MOST_CITATIONS};
pub use extract::extracted;
pub(crate) use serialise::said;
pub use serialise::{Serialised, serialised};
pub use words::{QuestionRequest, answer_schema, question_request};
