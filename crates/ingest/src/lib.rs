//! From the bytes of any agent's transcript to normalised, redacted entries and episodes.
//!
//! `source` finds and reads files, `parse` turns one line into events, `redact` keeps secrets out of them,
//! `story` makes the events of many lines one session. Only `source` touches the file system.
//!
//! ```
//! use rethread_ingest::{Filter, Parser, Redactor, What};
//! use rethread_model::{Agent, Place};
//!
//! let (filter, redactor) = (Filter::default(), Redactor::new());
//! let mut parser = Parser::new(Agent::ClaudeCode, &filter, &redactor);
//! let line = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"fix the parser"}}"#;
//! let parsed = parser.line(line, Place { line: 1, offset: 0, length: line.len() as u64 });
//! assert!(matches!(&parsed.events[0].what, What::Text { text, .. } if text == "fix the parser"));
//! ```

pub mod facts;
mod filter;
mod parse;
mod redact;
pub mod source;
mod story;

pub use filter::Filter;
pub use parse::{
    EntryWay, Event, Header, Parsed, Parser, QueueStep, TitleRank, Typed, Voice, What, is_own_tool, tool_kind,
};
pub use redact::{Findings, Redactor};
pub use story::{
    KeptEntry, Known, PART_TOKENS, Retold, Setting, Story, given_title, keys_of_memory, remembered_texts, retell,
    side_name, title_key, typed_key,
};
