//! Turns one transcript line into normalized events. What lines mean together is decided in `assemble`.

mod change;
pub(crate) mod content;
pub(crate) mod derived_header;
pub(crate) mod event_builder;
pub(crate) mod folded;
pub(crate) mod gemini_parts;
pub(crate) mod lenient;
pub(crate) mod machine_text;
pub(crate) mod outcome;
pub(crate) mod own_text;
pub(crate) mod patch;
pub(crate) mod protobuf;
mod repair;
mod shell_report;
mod symbols;
mod tool;
mod tool_arguments;
pub(crate) mod user_shell;
pub(crate) mod user_text;

pub(crate) use change::{FoundChange, describe_change, is_secret_file, is_unified_diff, visit_changes};
pub use machine_text::is_machine_prompt;
pub use shell_report::ShellReport;
use tool::argument_text;
pub(crate) use tool::describe_tool;
pub use tool::{is_own_tool, tool_kind};
pub(crate) use tool_arguments::CONTENT_KEYS;
pub use tool_arguments::CallTarget;
pub use user_text::typed_text;

use std::borrow::Cow;

use rethread_model::{EntryKind, EntryLocation, Timestamp, Tokens, ToolOutcome, ToolUse, clip, one_line};

use serde_json::value::RawValue;

use crate::agents::{Layout, ParseRecord};
use crate::{RedactionFindings, Redactor, TranscriptFilter};

/// One event of a transcript line.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptEvent {
    /// Position of the line.
    pub location: EntryLocation,
    /// Time of the event, if the line has one.
    pub at: Option<Timestamp>,
    /// The agent's id of the line, or one derived from it.
    pub native_id: String,
    /// The native id of the line this one is a copy of, if the agent records it.
    pub copied_entry_id: Option<String>,
    /// The agent's id of the session it was copied from, if the agent records it.
    pub copied_session_id: Option<String>,
    /// The conversation it belongs to: the session's own, or a sub-agent's in the same file.
    pub scope: EventScope,
    /// What happened.
    pub body: EventBody,
}

/// The conversation within a file that a line belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventScope {
    /// The session's own conversation.
    Main,
    /// A sub-agent's conversation, written into its parent's file.
    Subagent {
        /// The sub-agent's id, if the agent's version writes one.
        agent_id: Option<String>,
        /// Id of the previous line in the same conversation.
        parent_id: Option<String>,
    },
}

/// What happened in an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody {
    /// What a line says about the session as a whole.
    Header(SessionHeader),
    /// The current workspace of the session.
    Workspace {
        /// Working directory.
        cwd: Option<String>,
        /// Git branch.
        branch: Option<String>,
    },
    /// A node of the agent's entry tree; sent for each line that has one.
    Node {
        /// The entry's id.
        id: String,
        /// Id of the parent entry.
        parent: Option<String>,
    },
    /// The current leaf of the tree changed to another entry.
    Leaf {
        /// Id of the new leaf.
        target: String,
    },
    /// A text of any kind.
    Text {
        /// Kind of entry.
        kind: EntryKind,
        /// The redacted text.
        text: String,
        /// The API message it belongs to.
        message_id: Option<String>,
        /// For a prompt, or a text of a program that may have been queued like one: how it was delivered.
        prompt_origin: Option<PromptOrigin>,
    },
    /// A tool call.
    ToolCall {
        /// The agent's id of the call.
        id: String,
        /// The API message it belongs to.
        message_id: Option<String>,
        /// The tool and its arguments.
        tool: ToolUse,
    },
    /// The result of a tool call.
    ToolResult {
        /// The agent's id of the call.
        call_id: String,
        /// The measured result.
        outcome: ToolOutcome,
        /// Text of a human in the result: answers to questions, a reason for rejecting.
        answer: Option<String>,
    },
    /// Usage of an API message.
    Usage {
        /// The agent's id of the API message.
        message_id: String,
        /// Tokens of the message.
        tokens: Tokens,
        /// Of the tokens written to the cache, those stored for an hour.
        hour_write_tokens: u64,
        /// The model that answered. The last one becomes the session's.
        model: Option<String>,
        /// Cost in US dollars, if the agent reports it.
        cost_usd: Option<f64>,
    },
    /// A change of the queue of prompts typed while the agent was busy.
    Queue(QueueStep),
    /// The user took back a part of the conversation. Its entries stay, marked as abandoned, and are not counted any
    /// more; its tokens are.
    Undo(UndoStep),
    /// A title for this session, or for the session that `leaf` belongs to.
    Title {
        /// Where the title comes from.
        rank: TitleRank,
        /// The redacted title; empty to remove an earlier one.
        text: String,
        /// An entry of the session to name, if it is another one.
        leaf: Option<String>,
    },
}

/// What a line, usually the first one, says about the session as a whole. A sub-agent's parent is not part of it: see
/// `TranscriptPeek` and `SessionIdentity`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SessionHeader {
    /// The agent's id of the session.
    pub external_id: String,
    /// Working directory. The first one of a session is kept.
    pub cwd: Option<String>,
    /// The agent's id of the session that this one was forked from: it begins with a copy of that session's lines.
    pub parent_id: Option<String>,
    /// Path of the transcript that this one was forked from.
    pub parent_path: Option<String>,
}

/// How a prompt was delivered, with a fingerprint that identifies repeats of the same prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptOrigin {
    /// Where in the transcript it was written.
    pub delivery: PromptDelivery,
    /// Hash of the typed text; the text itself may be omitted by the filter.
    pub fingerprint: u64,
}

impl PromptOrigin {
    pub(crate) fn new(text: &str, delivery: PromptDelivery) -> Self {
        Self { delivery, fingerprint: xxhash_rust::xxh3::xxh3_64(text.trim().as_bytes()) }
    }
}

/// How a prompt typed by a human was written into the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptDelivery {
    /// On a separate line.
    OwnLine,
    /// While a tool ran: as a queued command, or beside a tool result.
    Inline,
}

/// A change of the queue of prompts typed while the agent was busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueStep {
    /// A prompt was added.
    Queued {
        /// The redacted text.
        text: String,
        /// Hash of the typed text.
        fingerprint: u64,
    },
    /// Something other than a prompt was added: a notification, a bare command.
    QueuedOther,
    /// The oldest prompt, or the one with this fingerprint, was sent on a separate line.
    Sent(Option<u64>),
    /// The oldest prompt, or the one with this fingerprint, was given to the model during its turn.
    SentMidTurn(Option<u64>),
    /// All waiting prompts went back to the input field.
    Retracted,
}

/// What the user took back: everything up to the current line, beginning with one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoStep {
    /// The last prompts, and what followed each of them.
    LastPrompts(u64),
    /// The entry with this id, and everything after it.
    From(String),
}

/// Where a session's title comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TitleRank {
    /// Written by the user.
    Custom,
    /// Made by the agent as a title.
    Generated,
    /// A summary by the agent that serves as a title.
    Summary,
}

/// The result of parsing one line.
#[derive(Debug, Default)]
pub struct ParsedLine {
    /// The events, in the order of the line.
    pub events: Vec<TranscriptEvent>,
    /// What is wrong with the line, if anything. Events may have been read all the same.
    pub problem: Option<String>,
}

/// Parses lines of one agent's transcript; every returned text is redacted. Its state only avoids repeated events and
/// never changes their meaning.
#[derive(Debug)]
pub struct TranscriptParser<'a> {
    parse: ParseRecord,
    context: ParseContext<'a>,
}

/// What an agent's parser gets besides the line.
#[derive(Debug)]
pub(crate) struct ParseContext<'a> {
    /// Position of the line.
    pub(crate) location: EntryLocation,
    pub(crate) sink: TextSink<'a>,
    pub(crate) last_workspace: LastWorkspace,
    header: Option<String>,
    problem: Option<String>,
}

impl ParseContext<'_> {
    /// Reports what is wrong with a part of the record. The rest of it is read.
    pub(crate) fn report(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// Whether the record is the header: what is stored about the session as a whole.
    pub(crate) fn is_header(&self) -> bool {
        self.location.line == 0
    }

    /// The header, for what a single record cannot know.
    pub(crate) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Whether the header names the session that started this one as its sub-agent, in the field `parentSessionId`.
    pub(crate) fn is_subagent(&self) -> bool {
        self.header().is_some_and(|header| header.contains("\"parentSessionId\":\""))
    }
}

/// Start of the text that an approved plan becomes.
pub(crate) const APPROVED_PLAN: &str = "Approved this plan:";

/// The directory and branch that were reported last, so that they are not repeated with every line.
pub(crate) type LastWorkspace = (Option<String>, Option<String>);

/// Applies filter and redaction to every text that is stored.
#[derive(Debug)]
pub(crate) struct TextSink<'a> {
    pub(crate) filter: &'a TranscriptFilter,
    redactor: &'a Redactor,
    findings: RedactionFindings,
    /// The calls as they were written, while a transcript is read again for what was not stored.
    originals: Option<Vec<CallArguments>>,
}

/// A tool call as the model wrote it. Neither redacted nor shortened: not to be stored.
#[derive(Debug)]
pub(crate) struct CallArguments {
    /// The agent's id of the call.
    pub(crate) id: String,
    /// The arguments: JSON, or in rare cases a plain text such as a patch.
    pub(crate) text: String,
}

impl TextSink<'_> {
    pub(crate) fn redact(&mut self, text: String) -> String {
        match self.redactor.redact(&text, &mut self.findings) {
            Cow::Borrowed(_) => text,
            Cow::Owned(cleaned) => cleaned,
        }
    }

    /// Text that a program put into the conversation: one line of it, unless originals are read.
    pub(crate) fn machine_line(&mut self, text: &str) -> String {
        if self.originals.is_some() {
            return self.redact(text.to_owned());
        }
        // Redact before cutting: half a key would not match the rules.
        clip(&self.redact(one_line(text)), event_builder::MAX_INJECTED_CHARS).into_owned()
    }

    /// Keeps a call as it was written, if originals are read.
    pub(crate) fn keep_call(&mut self, id: &str, name: &str, input: Option<&RawValue>) {
        // Queries to our own tools are shown nowhere.
        if let Some(calls) = self.originals.as_mut().filter(|_| !is_own_tool(name)) {
            calls.push(CallArguments { id: id.to_owned(), text: argument_text(input).into_owned() });
        }
    }

    /// Whether texts are wanted as they were written.
    pub(crate) fn reads_originals(&self) -> bool {
        self.originals.is_some()
    }

    #[cfg(test)]
    pub(crate) fn with_defaults<T>(use_it: impl FnOnce(&mut TextSink<'_>) -> T) -> T {
        Self::with_filter(&TranscriptFilter::default(), use_it)
    }

    #[cfg(test)]
    fn with_filter<T>(filter: &TranscriptFilter, use_it: impl FnOnce(&mut TextSink<'_>) -> T) -> T {
        let redactor = Redactor::new();
        use_it(&mut TextSink { filter, redactor: &redactor, findings: RedactionFindings::default(), originals: None })
    }
}

impl<'a> TranscriptParser<'a> {
    /// A parser for transcripts of one layout.
    pub fn new(layout: &Layout, filter: &'a TranscriptFilter, redactor: &'a Redactor) -> Self {
        let sink = TextSink { filter, redactor, findings: RedactionFindings::default(), originals: None };
        let location = EntryLocation::default();
        let context = ParseContext { location, sink, last_workspace: (None, None), header: None, problem: None };
        Self { parse: layout.parse, context }
    }

    /// A parser that also keeps calls as they were written, and does not shorten texts.
    pub(crate) fn for_originals(layout: &Layout, filter: &'a TranscriptFilter, redactor: &'a Redactor) -> Self {
        let mut parser = Self::new(layout, filter, redactor);
        parser.context.sink.originals = Some(Vec::new());
        parser
    }

    /// Takes the calls of the lines since the last time.
    pub(crate) fn take_calls(&mut self) -> Vec<CallArguments> {
        self.context.sink.originals.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What redacts the texts of this parser.
    pub(crate) fn sink(&mut self) -> &mut TextSink<'a> {
        &mut self.context.sink
    }

    /// The events of a header. Later records are parsed with it at hand.
    pub fn parse_header(&mut self, header: &str) -> Vec<TranscriptEvent> {
        let events = self.parse_line(header.as_bytes(), EntryLocation::default()).events;
        self.context.header = Some(header.to_owned());
        events
    }

    /// Takes the secrets found since the last call.
    pub fn take_findings(&mut self) -> RedactionFindings {
        std::mem::take(&mut self.context.sink.findings)
    }

    /// Parses one line, without its newline. Accepts any bytes.
    pub fn parse_line(&mut self, bytes: &[u8], location: EntryLocation) -> ParsedLine {
        self.context.location = location;
        let trimmed = repair::trim(bytes);
        if trimmed.is_empty() {
            return ParsedLine::default();
        }
        match std::str::from_utf8(trimmed).ok().and_then(|line| self.parse_events(line).ok()) {
            Some(events) => ParsedLine { events, problem: self.context.problem.take() },
            None => self.parse_repaired(trimmed),
        }
    }

    fn parse_repaired(&mut self, bytes: &[u8]) -> ParsedLine {
        let line = repair::repair(bytes);
        match self.parse_events(&line) {
            Ok(events) => ParsedLine { events, problem: None },
            Err(error) => self.parse_pieces(&line, &error),
        }
    }

    /// Reads the objects of a line that is not one object: a writer that was stopped leaves no line break before the
    /// next object, whole or torn.
    fn parse_pieces(&mut self, line: &str, error: &serde_json::Error) -> ParsedLine {
        let entries = repair::whole_entries(line).into_iter();
        let read: Vec<_> = entries.filter_map(|entry| Some((entry.len(), self.parse_events(entry).ok()?))).collect();
        let bytes: usize = read.iter().map(|(length, _)| length).sum();
        let problem = match read.len() {
            0 => describe_error(error),
            count if bytes + count > line.len() => format!("{count} JSON objects on one line; all were read"),
            count => format!("invalid JSON ({error}); whole objects read from the line: {count}"),
        };
        let events = read.into_iter().flat_map(|(_, events)| events).collect();
        ParsedLine { events, problem: Some(problem) }
    }

    fn parse_events(&mut self, line: &str) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
        if !line.starts_with('{') {
            // Valid JSON that is not an object has no events; anything else is a broken line.
            return serde_json::from_str::<serde::de::IgnoredAny>(line).map(|_| Vec::new());
        }
        (self.parse)(line, &mut self.context)
    }
}

fn describe_error(error: &serde_json::Error) -> String {
    format!("invalid JSON ({error}); line skipped")
}

/// Replaces a missing native id with a hash of the line, so that reading it again gives the same id.
pub(crate) fn content_id(line: &str) -> String {
    format!("line-{:016x}", xxhash_rust::xxh3::xxh3_64(line.as_bytes()))
}

/// Whether an id is a UUID or was assigned by a model's API.
pub(crate) fn is_globally_unique(id: &str) -> bool {
    is_uuid(id) || (id.len() >= 20 && (id.starts_with("toolu_") || id.starts_with("msg_")))
}

/// Whether a text has the form of a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
