//! Ranking and recall: turns a query into ranked, cited results. The only crate that ranks.
//!
//! Also builds the [context](build_context) a model gets of a thread, and the [plan](plan_compaction) to compact it.
//! Calls
//! no model itself.
//!
//! ```
//! use rethread_recall::{HitKind, SearchQuery};
//!
//! let now = "2026-03-18T15:30:00[UTC]".parse()?;
//! let query = SearchQuery::parse(r#"flaky test "borrow checker" -windows kind:error last week"#, &now);
//! assert_eq!(query.words, "flaky test borrow checker last week");
//! assert_eq!(query.phrases, ["borrow checker"]);
//! assert_eq!(query.excluded, ["windows"]);
//! assert_eq!(query.kinds, [HitKind::Error]);
//! assert_eq!(query.times.len(), 1);
//! # Ok::<(), jiff::Error>(())
//! ```

mod activity;
mod candidates;
mod card;
mod collision_line;
mod compaction;
mod compose;
mod context;
mod cues;
mod decision_lines;
mod entities;
mod event_commands;
mod event_evidence;
mod event_time;
mod facts;
mod features;
mod fix_lines;
mod handoff;
mod hits;
mod injection_detail;
mod last_session;
mod matches;
mod memory_tool;
mod name_lookup;
mod neutralize;
mod newest;
mod pairs;
mod query;
mod question;
mod quote;
mod rank;
mod recent_memory;
mod reference;
mod related;
mod result_order;
mod search;
mod search_filters;
mod session_context;
mod session_groups;
mod session_scores;
mod shell_words;
mod similar_candidates;
mod similar_work;
mod similarity;
mod snippet;
mod terms;
#[cfg(test)]
mod testing;
mod thread_title;
mod timed_search;
mod tool_call_summary;
mod weights;
mod when;
mod word_list;
mod word_vectors;
mod wrap_for_model;

pub use activity::{
    ACTIVITY_CHARS, ACTIVITY_HEADER, ActivityBlock, ActivityReader, OtherSession, activity_block, turn_list,
};
pub use card::{
    CARD_SYSTEM_PROMPT, CardFields, CardPrompt, CardSource, StoppingPoint, card_by_rules, card_prompt, card_schema,
    derive_name, parse_card_fields,
};
pub use collision_line::{CollidingChange, collision_line};
pub use compaction::{
    CompactionPlan, CompactionSettings, SummaryError, SummaryRequest, plan_compaction, plan_compaction_within,
};
pub use compose::{ComposedInjection, InjectionSection, SectionKind, compose_injection};
pub use context::{DEFAULT_SYSTEM_PROMPT, ModelContext, build_context};
pub use decision_lines::{decision_line, ruled_out_line};
pub use entities::{MAX_ENTITIES, add_recent_entities, extract_entities};
pub use facts::{
    CAUSE_PREDICATES, Cause, CitedFact, CitedFacts, CommandStats, DECISION_PREDICATES, Decision, EntityGraph,
    FACTS_SYSTEM_PROMPT, FactPromptChunk, FactSource, FileAction, FileTouch, Fix, GraphEdge, GraphItem, GraphLimits,
    GraphNode, KNOWLEDGE_PREDICATES, KnownError, KnownFixes, MAX_FACTS, RuledOut, StepSequence, Workflow,
    all_file_names, causes, decisions, entity_graph, errors_with_code, fact_prompt_chunks, facts_schema, file_touches,
    knowledge_rank, known_errors, known_fixes, mentions_file, mentions_path, parse_cited_facts, ruled_out,
    similar_errors, with_other_values, workflows,
};
pub use fix_lines::{best_fix, fix_line};
pub use handoff::{HandoffSource, handoff_prompt, write_handoff};
pub use hits::SearchHit;
pub use injection_detail::InjectionDetail;
pub use last_session::{LAST_SESSION_BYTES, LastSession, asks_for_last_session, last_session_block};
pub use memory_tool::{SEARCH_MEMORY_DESCRIPTION, hit_line};
pub use name_lookup::{NameLookup, NameMatch, ReferenceForm, ReferenceMatch, ReferenceOrigin, sessions_about, slug};
pub use pairs::pair_tool_results;
pub use query::{HitKind, SearchQuery, UnknownHitKind};
pub use question::{
    AnswerItem, AnswerSentence, AnswerTimes, Citation, CitedAnswer, Confidence, Exchange, MAX_CITATIONS,
    MAX_EXCERPT_CHARS, MemoryKind, MemoryQuestion, PROJECT_SYSTEM_PROMPT, ProjectAnswer, ProjectEvidence, PromptAnswer,
    QuestionPrompt, QuestionShape, RuleEvidence, SentenceSource, SerializedSession, SessionEvidence, SourcePlace,
    answer_from_evidence, answer_prompt, answer_schema, decision_key, extractive_answer, project_answer_schema,
    project_prompt, question_prompt, serialize_session, without_lead,
};
pub use quote::{format_age, quote_short};
pub use recent_memory::{
    MAX_RECENT_MEMORIES, RECENT_MEMORY_DAYS, RecentMemory, memory_block, memory_line, memory_unavailable_block,
    should_search_memory,
};
pub use reference::{
    MAX_REFERENCES, REFERENCE_BYTES, REFERENCE_CUT_MARK, REFERENCE_HEADER, ReferenceCandidate, ReferenceOutcome,
    ReferencedSession, SessionReference, find_references, reference_block,
};
pub use search::{SearchError, SearchInput, SearchResults};
pub use session_context::{
    NOTE_CHARS, RESUME_TOKENS, SessionView, TimedText, resume_context, resume_greeting, session_context, session_update,
};
pub use similar_work::{SimilarSession, similar_sessions};
pub use similarity::SimilarityScores;
pub use snippet::{Snippet, highlight, snippet};
pub use thread_title::{TITLE_SYSTEM_PROMPT, clean_title, title_prompt};
pub use timed_search::search;
pub use tool_call_summary::ToolCallSummary;
pub use weights::{FEATURE_COUNT, FEATURE_TABLE, FeatureWeight, FeatureWeights, ScoreContribution};
pub use when::{EventPhrase, TimeBounds, TimePhrase, TimeSpan};
pub use wrap_for_model::wrap_for_model;
