//! Collects the events of one line: assigns each an id and redacts every text before it leaves the parser.

use std::borrow::Cow;

use rethread_model::thread::without_inline_reasoning;
use rethread_model::{EntryKind, EntryLocation, Timestamp};
use serde_json::value::RawValue;

use super::content::{ChatToolCall, MessageBlock};
use super::lenient::LenientText;
use super::own_text::without_own_text;
use super::tool::tool_use;
use super::user_text;
use super::{EventBody, EventScope, PromptDelivery, PromptOrigin, TextSink, TitleRank, TranscriptEvent};

/// Notices and injected texts are stored as one line of at most this many characters.
pub(crate) const MAX_INJECTED_CHARS: usize = 300;

/// The text of an interruption.
pub(super) const INTERRUPTED: &str = "[interrupted by user]";

/// Takes the events of one line. Every text that passes through it is redacted; `push` takes a text as it is.
pub(crate) struct EventBuilder {
    pub(crate) events: Vec<TranscriptEvent>,
    pub(crate) native_id: String,
    pub(crate) copied_entry_id: Option<String>,
    pub(crate) copied_session_id: Option<String>,
    pub(crate) scope: EventScope,
    /// The directory that relative paths of tool calls start from, if the agent does not write absolute ones.
    pub(crate) work_dir: Option<String>,
    location: EntryLocation,
    at: Option<Timestamp>,
    text_count: usize,
}

impl EventBuilder {
    /// `native_id` identifies the line: it is the same when the line is read again, and has no `:`, which separates the
    /// number of a line's further texts. A time that no clock can have shown is dropped.
    pub(crate) fn new(location: EntryLocation, at: Option<Timestamp>, native_id: String) -> Self {
        Self {
            events: Vec::new(),
            native_id,
            copied_entry_id: None,
            copied_session_id: None,
            scope: EventScope::Main,
            work_dir: None,
            location,
            at: at.filter(|at| at.is_plausible()),
            text_count: 0,
        }
    }

    /// A builder for the same line whose texts have ids of their own, for texts that may be added to the line later.
    pub(crate) fn with_id(&self, native_id: String) -> Self {
        Self { scope: self.scope.clone(), ..Self::new(self.location, self.at, native_id) }
    }

    /// Adds an event whose texts are redacted.
    pub(crate) fn push(&mut self, what: EventBody) {
        self.push_with_id(self.native_id.clone(), what);
    }

    fn push_with_id(&mut self, native_id: String, what: EventBody) {
        self.events.push(TranscriptEvent {
            location: self.location,
            at: self.at,
            native_id,
            copied_entry_id: self.copied_entry_id.clone(),
            copied_session_id: self.copied_session_id.clone(),
            scope: self.scope.clone(),
            body: what,
        });
    }

    /// The line's id for its first text, numbered ids for further texts of the same line.
    pub(crate) fn next_id(&mut self) -> String {
        self.text_count += 1;
        if self.text_count == 1 { self.native_id.clone() } else { format!("{}:{}", self.native_id, self.text_count) }
    }

    /// Adds a text unless it is blank. `message` is the id of the model's message. The caller shortens what a program
    /// wrote.
    pub(crate) fn add_text(&mut self, kind: EntryKind, text: String, message: Option<&str>, sink: &mut TextSink<'_>) {
        // Some models write their reasoning into the answer.
        let text = if kind == EntryKind::AssistantText { without_inline_reasoning(&text) } else { text };
        self.add_text_with_delivery(kind, text, message, PromptDelivery::OwnLine, sink);
    }

    /// Adds a text in a user's place, judged by its words. A sub-agent's prompts were written by a model.
    pub(crate) fn add_user_text(&mut self, text: &str, is_subagent: bool, sink: &mut TextSink<'_>) {
        match user_text::classify(text) {
            Some((EntryKind::Prompt, text)) if is_subagent => self.add_text(EntryKind::Task, text, None, sink),
            Some((kind, text)) => self.add_text(kind, text, None, sink),
            None => {}
        }
    }

    /// Adds that the user stopped the agent, for formats that have no words for it.
    pub(crate) fn add_interruption(&mut self, sink: &mut TextSink<'_>) {
        self.add_text(EntryKind::Interruption, INTERRUPTED.to_owned(), None, sink);
    }

    /// Adds text that a program put into the conversation, shortened to one line.
    pub(crate) fn add_injected(&mut self, text: &str, sink: &mut TextSink<'_>) {
        let text = sink.machine_line(&without_own_text(text));
        self.add_text(EntryKind::Injected, text, None, sink);
    }

    pub(crate) fn add_text_with_delivery(
        &mut self,
        kind: EntryKind,
        text: String,
        message: Option<&str>,
        way: PromptDelivery,
        sink: &mut TextSink<'_>,
    ) {
        let text = strip_injections(kind, text);
        let origin = (kind == EntryKind::Prompt).then(|| PromptOrigin::new(&text, way));
        self.push_text(kind, text, message, origin, sink);
    }

    /// Adds text of a program that the queue of prompts may contain.
    pub(crate) fn add_text_with_origin(
        &mut self,
        kind: EntryKind,
        text: String,
        origin: Option<PromptOrigin>,
        sink: &mut TextSink<'_>,
    ) {
        self.push_text(kind, strip_injections(kind, text), None, origin, sink);
    }

    fn push_text(
        &mut self,
        kind: EntryKind,
        text: String,
        message: Option<&str>,
        prompt_origin: Option<PromptOrigin>,
        sink: &mut TextSink<'_>,
    ) {
        if text.trim().is_empty() {
            return;
        }
        let kept = match kind {
            EntryKind::Prompt | EntryKind::Task | EntryKind::Answer => sink.filter.keep_user_messages,
            EntryKind::AssistantText => sink.filter.keep_agent_responses,
            _ => true,
        };
        let text = if kept { sink.redact(text) } else { String::new() };
        let id = self.next_id();
        let message_id = message.map(str::to_owned);
        self.push_with_id(id, EventBody::Text { kind, text, message_id, prompt_origin });
    }

    /// Adds a tool call of the model, from a block of its message.
    pub(crate) fn add_call(&mut self, block: MessageBlock<'_>, message: &str, sink: &mut TextSink<'_>) {
        self.add_tool_call(block.id, block.name.as_str(), block.input, message, sink);
    }

    /// Adds a tool call as chat models write it.
    pub(crate) fn add_function_call(&mut self, call: ChatToolCall<'_>, message: &str, sink: &mut TextSink<'_>) {
        let (id, called) = call.into_parts();
        self.add_tool_call(id, called.name.as_str(), called.arguments, message, sink);
    }

    /// Adds a tool call of the model. `input` is the object with its arguments; `message` the id of the model's message,
    /// or of the line if the call has its own. Messages are counted by these ids.
    pub(crate) fn add_tool_call(
        &mut self,
        id: LenientText<'_>,
        name: &str,
        input: Option<&RawValue>,
        message: &str,
        sink: &mut TextSink<'_>,
    ) {
        let mut tool = tool_use(name, input, sink);
        if let Some(work_dir) = &self.work_dir {
            tool.paths = tool.paths.iter().map(|path| sink.redact(absolute_path(work_dir, path))).collect();
        }
        let id = id.non_empty().map_or_else(|| self.next_id(), Into::into);
        sink.keep_call(&id, name, input);
        self.push(EventBody::ToolCall { id, message_id: Some(message.to_owned()), tool });
    }

    /// Adds the model's reasoning, if the filter keeps it.
    pub(crate) fn add_reasoning(&mut self, block: &MessageBlock<'_>, sink: &mut TextSink<'_>) {
        if sink.filter.keep_reasoning {
            let thought = block.thinking.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
            self.add_text(EntryKind::Reasoning, thought, None, sink);
        }
    }

    /// Adds a title for this session, or for the one that `leaf` belongs to.
    pub(crate) fn add_title(
        &mut self,
        rank: TitleRank,
        title: LenientText<'_>,
        leaf: Option<String>,
        sink: &mut TextSink<'_>,
    ) {
        // An empty title removes the one set before.
        if let Some(text) = title.0 {
            // Some agents take the first words that the model got for a title.
            let named = user_text::strip_added_tags(&text);
            if named.trim().is_empty() && !text.trim().is_empty() {
                return;
            }
            let text = sink.redact(named.into_owned());
            self.push(EventBody::Title { rank, text, leaf });
        }
    }
}

/// The text without what we injected. A model may write about our tag.
fn strip_injections(kind: EntryKind, text: String) -> String {
    if matches!(kind, EntryKind::AssistantText | EntryKind::Reasoning) {
        return text;
    }
    match without_own_text(&text) {
        Cow::Borrowed(kept) if kept.len() == text.len() => text,
        kept => kept.into_owned(),
    }
}

/// A path as seen from a directory. An agent that writes the same file in both ways means one file.
fn absolute_path(work_dir: &str, path: &str) -> String {
    if path.starts_with(['/', '~']) || path.contains(':') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = work_dir.trim_end_matches('/').split('/').collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.len() > 1 => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_from_the_working_directory() {
        for (path, expect) in [
            ("src/a.rs", "/app/src/a.rs"),
            ("./a.rs", "/app/a.rs"),
            ("../lib/a.rs", "/lib/a.rs"),
            ("/b.rs", "/b.rs"),
            ("C:\\b.rs", "C:\\b.rs"),
        ] {
            assert_eq!(absolute_path("/app/", path), expect);
        }
    }
}
