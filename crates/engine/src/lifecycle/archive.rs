//! Writes finished work periods to the archive. An archive file is never overwritten and never left half written.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rethread_model::Timestamp;
use rethread_recall::TimedText;
use rethread_store::{
    LifecycleEvent, LifecycleRow, OWNER_ONLY, PendingArchive, PrivateFolder, ReadStore, SessionKey, Store,
};
use serde_json::{Value, json};

use super::LifecycleService;
use super::state::{last_event_at, was_ended};
use crate::awareness::OwnSession;
use crate::config::ArchivedPeriods;
use crate::{EngineError, home};

/// Minimum number of tool calls of a period that `lifecycle.archive = "significant"` archives.
const SIGNIFICANT_TOOL_CALLS: usize = 3;
/// Number of files and of tools listed in an archive; the newest ones are kept.
const MAX_NAMES: usize = 5;
/// Number of events listed in an archive; the newest ones are kept.
const MAX_EVENTS: u64 = 50;
/// Number of file names tried for one archive before giving up.
const MAX_NAME_ATTEMPTS: u32 = 100;
/// Limit on archives written per call, because a hook is waiting for the result.
const MAX_WRITES_PER_CALL: u64 = 8;

impl LifecycleService<'_> {
    /// The period that an event at `now` would end, ready for the archive. Call this before the event is recorded:
    /// afterwards the hot memory belongs to the next period.
    pub(crate) fn period_about_to_end(
        self,
        store: &ReadStore,
        key: SessionKey<'_>,
        own: &OwnSession,
        last_activity: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Option<PendingArchive>, EngineError> {
        let Some(life) = &own.life else { return Ok(None) };
        let is_over = self.rules().is_period_over(life, last_activity, now);
        if !is_over || was_ended(life) {
            return Ok(None);
        }
        let mut life = life.clone();
        // Recording the event also adds a `session_end` event.
        life.event_count += 1;
        let end = LifecycleEvent::new(last_event_at(&life, last_activity), "session_end", String::new());
        self.build_archive(store, key, &life, &end)
    }

    /// Builds the archive of a period that ends with the event `end`, which is counted in `life` but not stored yet.
    /// Returns `None` if the `lifecycle.archive` setting excludes it, and for a period in which nothing happened.
    pub(super) fn build_archive(
        self,
        store: &ReadStore,
        key: SessionKey<'_>,
        life: &LifecycleRow,
        end: &LifecycleEvent,
    ) -> Result<Option<PendingArchive>, EngineError> {
        let own = OwnSession::load_with_actions(store, key)?.limited_to_period(life);
        let calls = own.actions.entries.iter().filter(|entry| entry.tool.is_some()).count();
        let should_archive = match self.engine.settings().lifecycle.archive {
            ArchivedPeriods::None => false,
            ArchivedPeriods::Significant => calls >= SIGNIFICANT_TOOL_CALLS,
            ArchivedPeriods::All => true,
        };
        if !should_archive {
            return Ok(None);
        }
        let view = own.view(store, key, self.rules(), end.at)?;
        let before_end = life.period_event_count().saturating_sub(1);
        let mut events = store.lifecycle_events(key, before_end.min(MAX_EVENTS - 1))?;
        if events.is_empty() && own.actions.entries.is_empty() && view.hot_memory.is_empty() && view.notes.is_empty() {
            return Ok(None);
        }
        events.push(end.clone());
        let event_json =
            |event: &LifecycleEvent| json!({"at": event.at.to_string(), "kind": event.kind, "text": event.detail});
        let session = own.stored.as_ref().map(|(_, session)| session);
        let newest = |all: &[String]| all[all.len().saturating_sub(MAX_NAMES)..].to_vec();
        let to_json = |all: &[TimedText]| -> Vec<Value> {
            all.iter().map(|one| json!({"at": one.at.to_string(), "text": one.text})).collect()
        };
        let archived = json!({
            "schema": 1,
            "id": session.map(|session| session.id.to_string()),
            "agent": key.agent.as_str(),
            "externalId": key.external_id,
            "source": format!("session:{}", key.external_id),
            "state": "ended",
            "cwd": session.and_then(|session| session.cwd.as_deref()),
            "project": session.and_then(|session| session.project.as_deref()),
            "period": life.period,
            "startedAt": life.period_started_at.to_string(),
            "endedAt": end.at.to_string(),
            "events": life.period_event_count(),
            "eventsInAll": life.event_count,
            "task": own.labels.task,
            "files": newest(&view.files),
            "tools": newest(&own.tools()),
            "entities": life.prompt_entities,
            "hotMemory": to_json(&view.hot_memory),
            "notes": to_json(&view.notes),
            "recentEvents": to_json(&view.recent_events),
            "lastEvents": events.iter().map(event_json).collect::<Vec<_>>(),
        });
        Ok(Some(PendingArchive {
            agent: key.agent,
            external_id: key.external_id.to_owned(),
            period: life.period,
            file_name: archive_name(&view.id, life.period_started_at),
            content: format!("{archived:#}\n"),
        }))
    }

    /// Writes the finished periods that are not archived yet, including those that failed before. A write error is
    /// logged and never fails the caller; the period is tried again later.
    pub(crate) fn write_archives(self, store: &mut Store) -> Vec<(PendingArchive, PathBuf)> {
        let mut written = Vec::new();
        let waiting = match store.pending_archives(MAX_WRITES_PER_CALL) {
            Ok(waiting) => waiting,
            Err(error) => {
                self.engine.journal().error("archive", &error.into());
                return written;
            }
        };
        for period in waiting {
            let done = self.write_archive(&period).and_then(|path| {
                let mut batch = store.begin()?;
                let key = SessionKey { agent: period.agent, external_id: &period.external_id };
                batch.remove_pending_archive(key, period.period)?;
                batch.commit()?;
                Ok(path)
            });
            match done {
                Ok(path) => written.push((period, path)),
                Err(error) => {
                    self.engine.journal().error("archive", &error);
                    break;
                }
            }
        }
        written
    }

    /// The number of archive files and their total size in bytes.
    pub(crate) fn archive_totals(self) -> (u64, u64) {
        let Ok(entries) = fs::read_dir(self.archive_folder()) else { return (0, 0) };
        let archives =
            entries.flatten().filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|it| it == "json"));
        archives
            .fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.metadata().map_or(0, |data| data.len())))
    }

    fn write_archive(self, period: &PendingArchive) -> Result<PathBuf, EngineError> {
        let folder = self.archive_folder();
        home::ensure_private_folder(&folder)?;
        write_new(&folder, &period.file_name, &period.content)
            .map_err(|cause| EngineError::Folder { path: folder, cause })
    }

    pub(crate) fn archive_folder(self) -> PathBuf {
        self.engine.folder.join("archive")
    }
}

/// The file name of an archive: the minute the period began, then the session id.
fn archive_name(id: &str, began: Timestamp) -> String {
    let safe: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let moment = began.to_string();
    format!("{}_{}_{safe}", &moment[..10], moment[11..16].replace(':', "-"))
}

/// Writes a complete file under a free name. If a file with the same text already exists, an earlier process wrote it
/// and was stopped before it could record that; its path is returned.
fn write_new(folder: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    let private = PrivateFolder::open(folder)?;
    for number in 1..=MAX_NAME_ATTEMPTS {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{name}{suffix}.json");
        let path = folder.join(&name);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(path);
        }
        match private.create(&name, text.as_bytes(), OWNER_ONLY) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_complete_or_absent_and_never_overwritten() {
        // L002-07, L002-10
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one", "two", "one"].map(|text| write_new(folder.path(), "a", text).unwrap());
        let names = paths.each_ref().map(|path| path.file_name().unwrap().to_str().unwrap());
        assert_eq!(names, ["a.json", "a-2.json", "a.json"], "the same text is not written twice");
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn nothing_is_written_when_no_name_is_free() {
        // L002-10
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_NAME_ATTEMPTS {
            write_new(folder.path(), "a", &number.to_string()).unwrap();
        }
        assert!(write_new(folder.path(), "a", "one too many").is_err());
        assert_eq!(fs::read_to_string(folder.path().join("a.json")).unwrap(), "0");
    }

    #[test]
    fn the_name_is_the_start_minute_and_the_session_id() {
        // S002-17
        let began = "2026-03-02T09:07:59.999Z".parse().unwrap();
        assert_eq!(archive_name("../evil", began), "2026-03-02_09-07_---evil");
    }
}
