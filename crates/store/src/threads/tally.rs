//! Counts records into metadata, one line at a time: what the log says, whoever wrote it.

use rethread_model::thread::{ChatRole, Message, Metadata, NameOrigin, Record, WaitingCall, first_words};

/// Adds one line of the log, with its newline. A line that is no record only moves the end.
pub(super) fn count_line(metadata: &mut Metadata, line: &[u8]) -> Option<Record> {
    metadata.log_bytes += line.len() as u64;
    let record = Record::parse(line.trim_ascii_end()).ok()?;
    count(metadata, &record);
    Some(record)
}

fn count(metadata: &mut Metadata, record: &Record) {
    // Order is by number, not by time; a number that jumps is kept, so that none is ever given twice.
    if let Some(seq) = record.seq() {
        metadata.next_seq = metadata.next_seq.max(seq.saturating_add(1));
    }
    if let Record::Message(message) = record {
        count_message(metadata, message);
    }
}

fn count_message(metadata: &mut Metadata, message: &Message) {
    metadata.message_count += 1;
    let waited = message.timestamp.millis_since(metadata.last_message_at).max(0) as u64;
    metadata.last_message_at = metadata.last_message_at.max(message.timestamp);
    let metrics = &mut metadata.metrics;
    match message.role {
        ChatRole::User => {
            metrics.turns += 1;
            if metadata.name.is_none() {
                metadata.name = first_words(&message.text());
                metadata.name_from = metadata.name.is_some().then_some(NameOrigin::FirstWords);
            }
        }
        ChatRole::Assistant => {
            metrics.duration_ms = metrics.duration_ms.saturating_add(waited);
            metrics.tokens = metrics.tokens.plus(message.usage.unwrap_or_default());
            // The model has gone on without the results of earlier calls, so nobody waits for them.
            metadata.waiting_calls.clear();
            for (id, name) in message.calls() {
                metrics.tool_calls += 1;
                metadata.waiting_calls.push(WaitingCall { id: id.to_owned(), name: name.to_owned() });
            }
            if let Some(model) = message.model.as_deref().filter(|_| !metadata.model_is_chosen) {
                model.clone_into(&mut metadata.model);
            }
        }
        ChatRole::ToolResult => {
            metrics.duration_ms = metrics.duration_ms.saturating_add(waited);
            metadata.waiting_calls.retain(|call| message.tool_call_id.as_deref() != Some(call.id.as_str()));
        }
    }
}
