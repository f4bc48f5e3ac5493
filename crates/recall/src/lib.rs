//! From a question to ranked, cited answers. The only crate with ranking.
//!
//! Also what a model gets of a thread: its [context](build_context), and a [plan] to shorten it. Models are asked by
//! others.
//!
//! ```
//! use rethread_recall::{Kind, Query};
//!
//! let now = "2026-03-18T15:30:00[UTC]".parse()?;
//! let query = Query::parse(r#"flaky test "borrow checker" -windows kind:error last week"#, &now);
//! assert_eq!(query.words, "flaky test borrow checker last week");
//! assert_eq!(query.phrases, ["borrow checker"]);
//! assert_eq!(query.excluded, ["windows"]);
//! assert_eq!(query.kinds, [Kind::Error]);
//! assert_eq!(query.times.len(), 1);
//! # Ok::<(), jiff::Error>(())
//! ```

mod activity;
mod alike;
mod allowed;
mod candidates;
mod card;
mod compaction;
mod compose;
mod context;
mod cues;
mod entities;
mod facts;
mod handoff;
mod likeness;
mod matches;
mod memory;
mod page;
mod pairs;
mod query;
mod question;
mod quote;
mod rank;
mod reference;
mod remedy;
mod search;
mod session_context;
mod snippet;
mod terms;
mod told;
mod weights;
mod when;

pub use activity::{ACTIVITY_CHARS, ACTIVITY_HEADER, Activity, OtherSession, activity};
pub use card::{CARD_SYSTEM, CardFields, CardPrompt, CardSource, card_by_rules, card_fields, card_prompt, card_schema};
pub use compaction::{CompactionSettings, Plan, SummaryError, SummaryRequest, plan, plan_within};
pub use compose::{Composed, Part, PartKind, compose};
pub use context::{Context, build_context};
pub use entities::{ENTITIES_KEPT, entities, remember_entities};
pub use facts::{
    ALIKE_ENOUGH, CitedFact, CitedFacts, CommandUse, Decision, Deed, Edge, FACTS_SYSTEM, FactsPiece, Fix, Fixes, Graph,
    Limits, MOST_FACTS, Node, Pattern, Source, Thing, Touch, Workflow, around, cited_facts, decisions, facts_pieces,
    facts_schema, fixes, mentions, names_of, share_of_words, telling_words, touches, workflows,
};
pub use handoff::{Handoff, handoff};
pub use likeness::Likeness;
pub use memory::{
    Memory, WARM_DAYS, WARM_MEMORIES, may_call_for_memory, memory_block, memory_line, memory_unavailable,
};
pub use pairs::pair_up;
pub use query::{Kind, Query, UnknownKind};
pub use question::{
    Answer, Citation, Confidence, LONGEST_EXCERPT, MOST_CITATIONS, QuestionRequest, Serialised, answer_schema,
    extracted, question_request, serialised,
};
pub use quote::{age, short};
pub use reference::{
    Candidate, MOST_REFERENCES, Outcome, REFERENCE_BYTES, REFERENCE_CUT, REFERENCE_HEADER, Reference, Referenced,
    reference_block, reference_reminder, references,
};
pub use remedy::{best_remedy, decision_line, remedy_line};
pub use search::{Found, Hit, Request, SearchError, search};
pub use session_context::{
    Happening, NOTE_CHARS, RESUME_TOKENS, SessionView, resume_context, session_context, session_news,
};
pub use snippet::{Snippet, marked, snippet};
pub use told::told;
pub use weights::{PARTS, TABLE, Weight, Weights, Why};
pub use when::{Span, When};
