//! One transcript line in, normalised events out. Stateless: what lines mean together is `story`'s business.

mod claude_code;
mod content;
mod human;
mod loose;
mod native;
mod out;
mod outcome;
mod pi;
mod repair;
mod tool;

pub(crate) use tool::describe as describe_tool;
pub use tool::{is_own as is_own_tool, kind_of as tool_kind};

use std::borrow::Cow;

use rethread_model::{Agent, NativeKey, Outcome, Place, Speech, Timestamp, Tokens, ToolUse};

use crate::{Filter, Findings, Redactor};

/// Something a transcript line says.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where the line stands.
    pub place: Place,
    /// When it happened, if the line says so.
    pub at: Option<Timestamp>,
    /// The agent's id of the line.
    pub native_id: String,
    /// The native id of the line this one is a copy of, where the agent says so.
    pub copy_of: Option<String>,
    /// The agent's id of the session it was copied from, where the agent says so.
    pub copied_from: Option<String>,
    /// The conversation it belongs to: the session's own, or a sub-agent's inside the same file.
    pub voice: Voice,
    /// What is said.
    pub what: What,
}

/// Which conversation of a file a line belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The session's own.
    Main,
    /// A sub-agent's, written into its parent's file.
    Side {
        /// The sub-agent's id, where the agent's version writes one.
        agent_id: Option<String>,
        /// The line before it in the same conversation.
        parent: Option<String>,
    },
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The file's first line: who this session is.
    Header(Header),
    /// Where the session works now.
    Surroundings {
        /// Working directory.
        cwd: Option<String>,
        /// Git branch.
        branch: Option<String>,
    },
    /// A node of the agent's own tree of entries, sent for each line that has one.
    Node {
        /// The entry's id.
        id: String,
        /// The entry it follows.
        parent: Option<String>,
    },
    /// The tree's current leaf is set to another entry.
    Leaf {
        /// That entry's id.
        target: String,
    },
    /// A text of any kind.
    Text {
        /// Which kind.
        speech: Speech,
        /// The text.
        text: String,
        /// The API message it is part of.
        message: Option<String>,
        /// For a prompt: how it came in.
        typed: Option<Typed>,
    },
    /// A tool is called.
    Call {
        /// The call's id.
        id: String,
        /// The API message it is part of.
        message: Option<String>,
        /// The tool and its arguments.
        tool: ToolUse,
    },
    /// A tool call's result.
    Result {
        /// The call's id.
        call: String,
        /// How it went.
        outcome: Outcome,
        /// What a human said in it: answers to questions, a reason for refusing.
        answer: Option<String>,
    },
    /// What an API message cost.
    Usage {
        /// The API message.
        message: String,
        /// Its tokens.
        tokens: Tokens,
        /// Its model.
        model: Option<String>,
        /// Its price in US dollars, where the agent notes it.
        cost_usd: Option<f64>,
    },
    /// Something happened to the queue of texts typed while the agent was busy.
    Queue(QueueStep),
    /// A name for the session, or for the one that `leaf` belongs to.
    Title {
        /// Where the name comes from.
        rank: TitleRank,
        /// The name.
        text: String,
        /// An entry of the session that is meant.
        leaf: Option<String>,
    },
}

/// The first line of a pi transcript.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The agent's id of the session.
    pub external_id: String,
    /// Working directory.
    pub cwd: Option<String>,
    /// Transcript that this one was forked from.
    pub parent: Option<String>,
}

/// How a prompt came in, by which it is recognised as one that was typed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Where it stands.
    pub way: EntryWay,
    /// What was typed, as a number: the text itself may be left out by the filter.
    pub fingerprint: u64,
}

impl Typed {
    pub(crate) fn new(text: &str, way: EntryWay) -> Self {
        Self { way, fingerprint: xxhash_rust::xxh3::xxh3_64(text.trim().as_bytes()) }
    }
}

/// How a text typed by a human entered the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryWay {
    /// On a line of its own.
    Line,
    /// While a tool ran: as a queued command, or beside a tool's result.
    Aside,
}

/// A step of the queue of texts typed while the agent was busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueStep {
    /// A text was typed.
    Typed {
        /// The text.
        text: String,
        /// What was typed, as a number.
        fingerprint: u64,
    },
    /// Something that is no prompt took a place in the queue: a notification, a bare command.
    Filled,
    /// The oldest text, or the one with this fingerprint, was sent as a line of its own.
    Sent(Option<u64>),
    /// The oldest text, or the one with this fingerprint, was given to the model in the middle of its turn.
    Slipped(Option<u64>),
    /// All waiting texts went back to the input field.
    TakenBack,
}

/// Where a session's name comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TitleRank {
    /// Given by the user.
    Custom,
    /// Made by the agent.
    Generated,
    /// The last prompt, as the agent noted it.
    LastPrompt,
    /// A summary the agent made.
    Summary,
}

/// What one line gave.
#[derive(Debug, Default)]
pub struct Parsed {
    /// In the order of the line.
    pub events: Vec<Event>,
    /// Why the line could not be read, if it could not.
    pub problem: Option<String>,
}

/// Reads lines of one agent's transcript; every text it returns is redacted. Keeps only what spares repeating itself, nothing that changes a meaning.
#[derive(Debug)]
pub struct Parser<'a> {
    agent: Agent,
    scribe: Scribe<'a>,
    surroundings: (Option<String>, Option<String>),
}

/// What a parser needs to write a text down: what to keep, and what must never be kept.
#[derive(Debug)]
pub(crate) struct Scribe<'a> {
    filter: &'a Filter,
    redactor: &'a Redactor,
    found: Findings,
}

impl Scribe<'_> {
    fn clean(&mut self, text: String) -> String {
        match self.redactor.clean(&text, &mut self.found) {
            Cow::Borrowed(_) => text,
            Cow::Owned(cleaned) => cleaned,
        }
    }

    #[cfg(test)]
    fn with_defaults<T>(use_it: impl FnOnce(&mut Scribe<'_>) -> T) -> T {
        Self::with_filter(&Filter::default(), use_it)
    }

    #[cfg(test)]
    fn with_filter<T>(filter: &Filter, use_it: impl FnOnce(&mut Scribe<'_>) -> T) -> T {
        let redactor = Redactor::new();
        use_it(&mut Scribe { filter, redactor: &redactor, found: Findings::default() })
    }
}

impl<'a> Parser<'a> {
    /// A parser for transcripts of that agent.
    pub fn new(agent: Agent, filter: &'a Filter, redactor: &'a Redactor) -> Self {
        Self { agent, scribe: Scribe { filter, redactor, found: Findings::default() }, surroundings: (None, None) }
    }

    /// The secrets found since the last time this was asked.
    pub fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.scribe.found)
    }

    /// Reads one line, without its newline. Any bytes are accepted.
    pub fn line(&mut self, bytes: &[u8], place: Place) -> Parsed {
        let trimmed = repair::trim(bytes);
        if trimmed.is_empty() {
            return Parsed::default();
        }
        match std::str::from_utf8(trimmed).ok().and_then(|line| self.events(line, place).ok()) {
            Some(events) => Parsed { events, problem: None },
            None => self.repaired(trimmed, place),
        }
    }

    fn repaired(&mut self, bytes: &[u8], place: Place) -> Parsed {
        let line = repair::repair(bytes);
        match self.events(&line, place) {
            Ok(events) => Parsed { events, problem: None },
            Err(error) => Parsed { events: Vec::new(), problem: Some(describe(&error)) },
        }
    }

    fn events(&mut self, line: &str, place: Place) -> Result<Vec<Event>, serde_json::Error> {
        if !line.starts_with('{') {
            // Valid JSON that is not an object says nothing; anything else is a broken line.
            return serde_json::from_str::<serde::de::IgnoredAny>(line).map(|_| Vec::new());
        }
        match self.agent {
            Agent::ClaudeCode => claude_code::events(line, place, &mut self.scribe, &mut self.surroundings),
            Agent::Pi => pi::events(line, place, &mut self.scribe),
            Agent::Native => native::events(line, place, &mut self.scribe),
        }
    }
}

fn describe(error: &serde_json::Error) -> String {
    format!("not JSON ({error}); the line was skipped")
}

/// A stand-in for a missing native id: the line's own content, so that reading it again gives the same id.
fn id_by_content(line: &str) -> String {
    format!("line-{:016x}", xxhash_rust::xxh3::xxh3_64(line.as_bytes()))
}

/// Whether an id is unique among all sessions of an agent, so that meeting it twice means a copy.
fn is_globally_unique(id: &str) -> bool {
    is_uuid(id) || (id.len() >= 20 && (id.starts_with("toolu_") || id.starts_with("msg_")))
}

/// Whether a text has the shape of a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The key of a native id: for all sessions if the id is unique enough, else for this one.
pub(crate) fn native_key(agent: Agent, session: &str, id: &str) -> NativeKey {
    if is_globally_unique(id) { NativeKey::global(agent, id) } else { NativeKey::within(agent, session, id) }
}
