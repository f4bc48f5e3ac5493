//! Turns any agent's transcript into normalized, redacted entries and episodes.
//!
//! `source` finds and reads files, `parse` turns one line into events, `redact` removes secrets from them, `assemble`
//! combines the events of many lines into one session. `agents` has what differs between agents.
//!
//! ```
//! use rethread_ingest::{EventBody, Redactor, TranscriptFilter, TranscriptParser};
//! use rethread_model::{Agent, EntryLocation};
//!
//! let (filter, redactor) = (TranscriptFilter::default(), Redactor::new());
//! let layout = &rethread_ingest::agents::format_of(Agent::ClaudeCode).layouts[0];
//! let mut parser = TranscriptParser::new(layout, &filter, &redactor);
//! let line = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"fix the parser"}}"#;
//! let parsed = parser.parse_line(line, EntryLocation { line: 1, offset: 0, length: line.len() as u64 });
//! assert!(matches!(&parsed.events[0].body, EventBody::Text { text, .. } if text == "fix the parser"));
//! ```

pub mod agents;
mod assemble;
pub mod facts;
mod filter;
mod original;
mod parse;
mod redact;
pub mod source;

pub use assemble::{
    KeptEntries, PART_TOKENS, RebuiltEpisodes, RemainingEntry, SessionAssembler, SessionInfo, StoredState,
    blocked_keys, queued_prompt_key, rebuild_episodes, state_texts, subagent_conversation, title_key,
};
pub use filter::TranscriptFilter;
pub use original::{
    DiffHunk, DiffKind, DiffRow, DiffSign, FileDiff, OriginalArgument, OriginalCall, OriginalEntry, read_originals,
};
pub use parse::{
    CallTarget, EventBody, EventScope, ParsedLine, PromptDelivery, PromptOrigin, QueueStep, SessionHeader, ShellReport,
    TitleRank, TranscriptEvent, TranscriptParser, UndoStep, is_machine_prompt, is_own_tool, tool_kind, typed_text,
};
pub use redact::{RedactionFindings, Redactor};
