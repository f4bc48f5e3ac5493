//! One pass over a transcript that finds entries and the results of their calls.

use std::io;

use rethread_model::{Entry, EntryLocation, ToolKind};

use super::OriginalEntry;
use super::call::{FoundResult, WaitingCall};
use crate::parse::CallArguments;
use crate::source::lines::TranscriptLine;
use crate::source::{ReadPosition, TranscriptReader};
use crate::{EventBody, QueueStep, Redactor, TranscriptEvent, TranscriptFilter, TranscriptParser};

/// Bytes that are searched for a result after the last entry.
const MAX_SEARCHED_BYTES: u64 = 64 << 20;
/// A longer line is not read: a user waits.
const MAX_LINE_BYTES: u64 = 256 << 20;

pub(super) struct OriginalSearch<'a, 'v> {
    transcript: &'a TranscriptReader,
    parser: TranscriptParser<'a>,
    /// Calls whose result was not found yet.
    waiting: Vec<WaitingCall<'a>>,
    visit: &'v mut dyn FnMut(&Entry, OriginalEntry),
}

impl<'a, 'v> OriginalSearch<'a, 'v> {
    pub(super) fn new(
        transcript: &'a TranscriptReader,
        filter: &'a TranscriptFilter,
        visit: &'v mut dyn FnMut(&Entry, OriginalEntry),
    ) -> Self {
        let mut parser = TranscriptParser::for_originals(transcript.layout, filter, Redactor::shared());
        if let Some(header) = transcript.header() {
            parser.parse_header(header);
        }
        Self { transcript, parser, waiting: Vec::new(), visit }
    }

    /// Reads on from a line until everything is found. `wanted` is in the order of lines.
    pub(super) fn read_from(&mut self, from: EntryLocation, wanted: &[&'a Entry]) -> io::Result<()> {
        let lines = from.line.saturating_sub(1);
        let start = ReadPosition { offset: from.offset, lines, ..ReadPosition::default() };
        let mut records = self.transcript.records(start)?.with_max_line(MAX_LINE_BYTES);
        let (mut rest, mut searched) = (wanted, 0);
        while let Some(record) = records.next_line()? {
            let line = record.location.line;
            rest = &rest[rest.partition_point(|entry| entry.location.line < line)..];
            let (here, later) = rest.split_at(rest.partition_point(|entry| entry.location.line == line));
            rest = later;
            searched = if here.is_empty() { searched + record.location.length } else { 0 };
            if here.is_empty() && rest.is_empty() && (!self.expects_results() || searched > MAX_SEARCHED_BYTES) {
                break;
            }
            if !here.is_empty() || !self.waiting.is_empty() {
                self.take_record(&record, here);
            }
        }
        Ok(())
    }

    /// Looks for results that were written before the calls.
    pub(super) fn read_results_before(&mut self, end: EntryLocation) -> io::Result<()> {
        let mut records = self.transcript.records(ReadPosition::default())?.with_max_line(MAX_LINE_BYTES);
        while self.expects_results()
            && let Some(record) = records.next_line()?
            && record.location.line < end.line
            && record.location.offset < MAX_SEARCHED_BYTES
        {
            self.take_record(&record, &[]);
        }
        Ok(())
    }

    /// Gives the calls that have no result.
    pub(super) fn finish(&mut self) {
        for call in std::mem::take(&mut self.waiting) {
            self.give_call(call, None);
        }
    }

    /// Whether a call has a result that was not found yet.
    fn expects_results(&self) -> bool {
        self.waiting.iter().any(|call| call.entry.tool.as_ref().is_some_and(|tool| tool.outcome.is_some()))
    }

    fn take_record(&mut self, record: &TranscriptLine<'_>, here: &[&'a Entry]) {
        let events = self.parser.parse_line(record.bytes, record.location).events;
        let mut calls = self.parser.take_calls();
        for entry in here {
            if entry.tool.is_some() {
                self.waiting.extend(find_call(entry, record, &events, &mut calls));
            } else if let Some(text) = find_text(entry, &events) {
                (self.visit)(entry, OriginalEntry { text, call: None });
            }
        }
        for event in events {
            let EventBody::ToolResult { call_id, outcome, .. } = event.body else { continue };
            let Some(at) = self.waiting.iter().rposition(|call| call.entry.native_id == call_id) else { continue };
            let call = self.waiting.remove(at);
            self.give_call(
                call,
                Some(FoundResult { outcome, record: record.bytes, is_truncated: record.is_truncated() }),
            );
        }
    }

    fn give_call(&mut self, call: WaitingCall<'_>, result: Option<FoundResult<'_>>) {
        let entry = call.entry;
        let call = call.complete(result, self.parser.sink());
        (self.visit)(entry, OriginalEntry { text: String::new(), call: Some(call) });
    }
}

/// The call of an entry among the events of its record.
fn find_call<'a>(
    entry: &'a Entry,
    record: &TranscriptLine<'_>,
    events: &[TranscriptEvent],
    calls: &mut Vec<CallArguments>,
) -> Option<WaitingCall<'a>> {
    let tool = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCall { id, tool, .. } if *id == entry.native_id => Some(tool.clone()),
        _ => None,
    })?;
    let at = calls.iter().position(|call| call.id == entry.native_id);
    let arguments = at.map_or_else(String::new, |at| calls.remove(at).text);
    let is_edit = tool.kind.is_some_and(ToolKind::changes_files);
    let record = if is_edit { record.bytes.to_vec() } else { Vec::new() };
    Some(WaitingCall { entry, tool, arguments, record })
}

/// The text of an entry among the events of its record.
fn find_text(entry: &Entry, events: &[TranscriptEvent]) -> Option<String> {
    let answered_call = entry.native_id.strip_suffix(":answer");
    events.iter().find_map(|event| match &event.body {
        EventBody::Text { text, .. } if event.native_id == entry.native_id => Some(text.clone()),
        EventBody::ToolResult { call_id, answer, .. } if answered_call == Some(call_id) => answer.clone(),
        // A prompt that waited has the id of the line on which it was sent later.
        EventBody::Queue(QueueStep::Queued { text, .. }) if *text == entry.text => Some(text.clone()),
        _ => None,
    })
}
