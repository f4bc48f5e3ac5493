//! Which transcripts agents will delete soon. What was read of them stays stored.

use std::collections::BTreeMap;
use std::path::Path;

use rethread_ingest::agents::{AgentFormat, Retention};
use rethread_ingest::source::TranscriptFile;
use rethread_model::clip;
use rethread_store::ReadStore;

use super::{Diagnosis, FindingLevel};
use crate::ReportService;

const DAY_NANOS: i64 = 24 * 60 * 60 * 1_000_000_000;
/// Transcripts that are deleted within this time are named.
const WARNING_DAYS: i64 = 7;
/// Sessions named in one finding.
const MAX_NAMES: usize = 5;
/// Characters of a session's name.
const NAME_CHARS: usize = 40;

/// A transcript that its agent deletes soon.
struct ExpiringTranscript<'a> {
    found: &'a TranscriptFile,
    /// When, as the end of a sentence.
    when: String,
}

impl ReportService<'_> {
    /// Warns about transcripts of an agent that it deletes within a week.
    pub(super) fn check_retention(
        self,
        format: &AgentFormat,
        found: &[TranscriptFile],
        store: Option<&ReadStore>,
        diagnosis: &mut Diagnosis,
    ) {
        let (expiring, rule) = match format.retention {
            Retention::Kept => return,
            Retention::Days(days) => match days(&self.engine.source_config()) {
                None => return,
                Some(days) => (self.expiring_by_age(found, days), format!("after {days} days without a change")),
            },
            Retention::Newest(count) => (expiring_by_number(found, count), format!("all but the newest {count}")),
        };
        if expiring.is_empty() {
            return;
        }
        let (mut named, mut unread) = (Vec::new(), 0);
        for one in &expiring {
            let name = stored_name(store, &one.found.path);
            unread += usize::from(name.is_none());
            let file = || one.found.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            named.push(format!("{} ({})", clip(&name.unwrap_or_else(file), NAME_CHARS), one.when));
        }
        let more = named.len().saturating_sub(MAX_NAMES);
        named.truncate(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let count = if expiring.len() == 1 { "1 session".to_owned() } else { format!("{} sessions", expiring.len()) };
        let label = format.agent.label();
        let message = format!("{label} deletes transcripts {rule}; this week {count}: {}{more}", named.join(", "));
        let (kept, hint) = match unread {
            0 => ("Rethread keeps what it has read of them".to_owned(), None),
            unread => (format!("{unread} of them not read yet"), Some("run: rethread sync")),
        };
        diagnosis.add(format.agent.as_str(), FindingLevel::Info, format!("{message}. {kept}"), hint);
    }

    fn expiring_by_age(self, found: &[TranscriptFile], days: u64) -> Vec<ExpiringTranscript<'_>> {
        let now = self.engine.now().as_millis().saturating_mul(1_000_000);
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        let mut expiring: Vec<(i64, &TranscriptFile)> = found
            .iter()
            .map(|one| (days - now.saturating_sub(one.stamp.mtime) / DAY_NANOS, one))
            .filter(|(left, _)| *left <= WARNING_DAYS)
            .collect();
        expiring.sort_by_key(|(left, _)| *left);
        let when = |left: i64| match left {
            ..=0 => "any time now".to_owned(),
            1 => "in 1 day".to_owned(),
            days => format!("in {days} days"),
        };
        expiring.into_iter().map(|(left, found)| ExpiringTranscript { found, when: when(left) }).collect()
    }
}

/// In each folder that is full, the oldest transcript: the next session replaces it.
fn expiring_by_number(found: &[TranscriptFile], count: usize) -> Vec<ExpiringTranscript<'_>> {
    let mut folders: BTreeMap<Option<&Path>, Vec<&TranscriptFile>> = BTreeMap::new();
    for one in found {
        folders.entry(one.path.parent()).or_default().push(one);
    }
    let full = folders.into_values().filter(|folder| folder.len() >= count);
    let oldest = full.filter_map(|folder| folder.into_iter().min_by_key(|one| one.stamp.mtime));
    oldest.map(|found| ExpiringTranscript { found, when: "with the next session".to_owned() }).collect()
}

/// The name or id of the stored session of a transcript; `None` if it was not read.
fn stored_name(store: Option<&ReadStore>, path: &Path) -> Option<String> {
    let store = store?;
    let session = store.transcript(&path.to_string_lossy()).ok()??.session?;
    let session = store.session_by_number(session).ok()??;
    Some(session.alias.or(session.name).unwrap_or(session.external_id))
}
