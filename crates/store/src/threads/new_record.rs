//! Prepares records for a log: numbers them, checks tool results, limits their length.

use rethread_model::Timestamp;
use rethread_model::thread::{ChatRole, ThreadMetadata, ThreadRecord, ThreadSettings};

use super::ThreadError;

/// Longest record that a thread accepts, in bytes of its line.
pub const MAX_RECORD_BYTES: usize = 8 << 20;

/// The record as it is appended to a log with this metadata, and its line. A tool result must belong to a call that
/// waits for one; it gets the tool's name from the call.
pub(super) fn numbered(
    metadata: &ThreadMetadata,
    mut record: ThreadRecord,
) -> Result<(ThreadRecord, Vec<u8>), ThreadError> {
    record.set_seq(metadata.next_seq);
    if let ThreadRecord::Message(message) = &mut record
        && message.role == ChatRole::ToolResult
    {
        let call = message.tool_call_id.clone().unwrap_or_default();
        let Some(found) = metadata.waiting_calls.iter().find(|waiting| waiting.id == call) else {
            return Err(ThreadError::NoSuchCall { id: metadata.id, call });
        };
        message.tool_name = Some(found.name.clone());
    }
    let line = record.to_line();
    if line.len() > MAX_RECORD_BYTES {
        return Err(ThreadError::TooLong { bytes: line.len(), limit: MAX_RECORD_BYTES });
    }
    Ok((record, line))
}

/// The record of changed settings; `None` if the change changes nothing.
pub(super) fn changed_settings(
    current: &ThreadMetadata,
    now: Timestamp,
    change: impl FnOnce(&mut ThreadMetadata),
) -> Option<ThreadRecord> {
    let mut changed = current.clone();
    change(&mut changed);
    let settings = ThreadSettings::from_metadata(&changed, now);
    (settings != ThreadSettings::from_metadata(current, now)).then_some(ThreadRecord::Settings(settings))
}

/// The first line of a new log: its settings. A thread without any starts with an empty log.
pub(super) fn settings_line(metadata: &ThreadMetadata) -> Vec<u8> {
    let settings = ThreadSettings::from_metadata(metadata, metadata.created_at);
    let defaults = ThreadMetadata::new(metadata.id, metadata.created_at);
    if settings == ThreadSettings::from_metadata(&defaults, metadata.created_at) {
        return Vec::new();
    }
    ThreadRecord::Settings(settings).to_line()
}
