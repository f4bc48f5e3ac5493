//! Updates metadata with the lines of a log, one at a time.

use rethread_model::thread::{
    ChatRole, NameOrigin, PendingToolCall, ThreadMessage, ThreadMetadata, ThreadRecord, name_from_first_words,
};

/// Adds one line of the log, newline included. A line that was cut off only adds to `log_bytes`; a damaged one also
/// uses up its number.
pub(super) fn count_line(metadata: &mut ThreadMetadata, line: &[u8]) {
    metadata.log_bytes += line.len() as u64;
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return;
    }
    let parsed = ThreadRecord::parse_line(line);
    let next_after_damage = metadata.next_seq.saturating_add(parsed.used_numbers(line));
    for record in &parsed.records {
        count(metadata, record);
    }
    metadata.next_seq = metadata.next_seq.max(next_after_damage);
}

fn count(metadata: &mut ThreadMetadata, record: &ThreadRecord) {
    // Records are ordered by number, not by time. After a gap numbering continues behind it, so that none is used
    // twice.
    if let Some(seq) = record.seq() {
        metadata.next_seq = metadata.next_seq.max(seq.saturating_add(1));
    }
    match record {
        ThreadRecord::Message(message) => count_message(metadata, message),
        ThreadRecord::Settings(settings) => settings.apply_to(metadata),
        ThreadRecord::Compaction(_) | ThreadRecord::Injection(_) | ThreadRecord::Other(_) => {}
    }
}

fn count_message(metadata: &mut ThreadMetadata, message: &ThreadMessage) {
    metadata.message_count += 1;
    let elapsed = message.timestamp.millis_since(metadata.last_message_at).max(0) as u64;
    metadata.last_message_at = metadata.last_message_at.max(message.timestamp);
    let metrics = &mut metadata.metrics;
    match message.role {
        ChatRole::User => {
            metrics.turns += 1;
            if metadata.name.is_none() {
                metadata.name = name_from_first_words(&message.text());
                metadata.name_from = metadata.name.is_some().then_some(NameOrigin::FirstWords);
            }
        }
        ChatRole::Assistant => {
            metrics.duration_ms = metrics.duration_ms.saturating_add(elapsed);
            metrics.tokens = metrics.tokens.plus(message.usage.unwrap_or_default());
            // The model continued without the results of earlier calls, so they are no longer expected.
            metadata.waiting_calls.clear();
            for (id, name) in message.tool_calls() {
                metrics.tool_calls += 1;
                metadata.waiting_calls.push(PendingToolCall { id: id.to_owned(), name: name.to_owned() });
            }
            if let Some(model) = message.model.as_deref().filter(|_| !metadata.model_is_chosen) {
                model.clone_into(&mut metadata.model);
            }
        }
        ChatRole::ToolResult => {
            metrics.duration_ms = metrics.duration_ms.saturating_add(elapsed);
            metadata.waiting_calls.retain(|call| message.tool_call_id.as_deref() != Some(call.id.as_str()));
        }
    }
}
