//! Periods of work that are over, written to the archive. Nothing there is ever overwritten, nor half written.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rethread_model::Timestamp;
use rethread_recall::Happening;
use rethread_store::{Life, SessionKey, Store, Unarchived};
use serde_json::{Value, json};

use super::Lifecycle;
use super::lifecycle::{last_of, was_ended};
use super::view::Own;
use crate::{Engine, EngineError, home};

/// Tool calls a period must have to be significant.
const SIGNIFICANT: usize = 3;
/// Files and tools that are named, the newest ones.
const NAMED: usize = 5;
/// Names that are tried for one archive.
const TRIES: u32 = 100;
/// Archives that are written at one touch. Whoever touches is waiting.
const WRITTEN_AT_ONCE: u64 = 8;

impl Engine {
    /// The period that would end by something that happens now, as it will stand in the archive. It is told before it
    /// ends: afterwards what it had at hand makes room for the next one.
    pub(super) fn finished(
        &self,
        store: &Store,
        key: SessionKey<'_>,
        own: &Own,
        last_activity: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Option<Unarchived>, EngineError> {
        let Some(life) = &own.life else { return Ok(None) };
        let is_over = Lifecycle::of(&self.config).is_over(life, last_activity, now);
        if !is_over || was_ended(life) {
            return Ok(None);
        }
        let mut life = life.clone();
        // That it ended is noted with the touch.
        life.events += 1;
        let ended_at = last_of(&life, last_activity);
        self.archive_of(store, key, &life, ended_at)
    }

    /// A period as it will stand in the archive; nothing if it is not worth it.
    pub(super) fn archive_of(
        &self,
        store: &Store,
        key: SessionKey<'_>,
        life: &Life,
        ended_at: Timestamp,
    ) -> Result<Option<Unarchived>, EngineError> {
        let own = Own::read(store, key)?.of_period(life);
        let calls = own.deeds.entries.iter().filter(|entry| entry.tool.is_some()).count();
        let is_wanted = match self.config.text("lifecycle.archive") {
            "none" => false,
            "significant" => calls >= SIGNIFICANT,
            _ => true,
        };
        if !is_wanted {
            return Ok(None);
        }
        let view = own.view(store, key, Lifecycle::of(&self.config), ended_at)?;
        let newest = |all: &[String]| all[all.len().saturating_sub(NAMED)..].to_vec();
        let told = |all: &[Happening]| -> Vec<Value> {
            all.iter().map(|one| json!({"at": one.at.to_string(), "text": one.text})).collect()
        };
        let archived = json!({
            "schema": 1,
            "id": own.stored.as_ref().map(|(_, session)| session.id.to_string()),
            "agent": key.agent.as_str(),
            "externalId": key.external_id,
            "source": format!("session:{}", key.external_id),
            "period": life.period,
            "startedAt": life.period_at.to_string(),
            "endedAt": ended_at.to_string(),
            "events": life.events_of_period(),
            "eventsInAll": life.events,
            "task": life.task,
            "files": newest(&view.files),
            "tools": newest(&own.tools()),
            "entities": life.entities,
            "hotMemory": told(&view.hot),
            "notes": told(&view.notes),
            "recentEvents": told(&view.recent),
        });
        Ok(Some(Unarchived {
            agent: key.agent,
            external_id: key.external_id.to_owned(),
            period: life.period,
            name: name_of(&view.id, life.period_at),
            text: format!("{archived:#}\n"),
        }))
    }

    /// Writes the periods that are over and not yet in the archive, also those that could not be written before. One
    /// that cannot be written stops nobody, and is tried again.
    pub(super) fn write_archives(&self, store: &mut Store) -> Vec<(Unarchived, PathBuf)> {
        let mut written = Vec::new();
        let waiting = match store.unarchived(WRITTEN_AT_ONCE) {
            Ok(waiting) => waiting,
            Err(error) => {
                self.note_trouble("archive", &error.into());
                return written;
            }
        };
        for period in waiting {
            let done = self.write_archive(&period).and_then(|path| {
                let mut batch = store.begin()?;
                let key = SessionKey { agent: period.agent, external_id: &period.external_id };
                batch.archived(key, period.period)?;
                batch.commit()?;
                Ok(path)
            });
            match done {
                Ok(path) => written.push((period, path)),
                Err(error) => {
                    self.note_trouble("archive", &error);
                    break;
                }
            }
        }
        written
    }

    /// How many archives there are, and their bytes.
    pub(crate) fn archives(&self) -> (u64, u64) {
        let Ok(entries) = fs::read_dir(self.archive_folder()) else { return (0, 0) };
        let archives =
            entries.flatten().filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|it| it == "json"));
        archives
            .fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.metadata().map_or(0, |data| data.len())))
    }

    fn write_archive(&self, period: &Unarchived) -> Result<PathBuf, EngineError> {
        let folder = self.archive_folder();
        home::prepare(&folder)?;
        write_new(&folder, &period.name, &period.text).map_err(|cause| EngineError::Folder { path: folder, cause })
    }

    pub(crate) fn archive_folder(&self) -> PathBuf {
        self.folder.join("archive")
    }
}

/// What an archive is called: the minute the period began, and the session.
fn name_of(id: &str, began: Timestamp) -> String {
    let safe: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let moment = began.to_string();
    format!("{}_{}_{safe}", &moment[..10], moment[11..16].replace(':', "-"))
}

/// Writes a whole file under a name that is free. If the very same text is there already, it was written by somebody
/// who could not say so any more.
fn write_new(folder: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| link_under_free_name(&temporary, folder, name, text));
    let _ = fs::remove_file(&temporary);
    if linked.is_ok() {
        File::open(folder)?.sync_all()?;
    }
    linked
}

fn link_under_free_name(temporary: &Path, folder: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    for number in 1..=TRIES {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{name}{suffix}.json"));
        match fs::hard_link(temporary, &path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
                    return Ok(path);
                }
            }
            // Some file systems have no links. There a file of that name is looked for instead.
            Err(_) if !path.exists() => return fs::rename(temporary, &path).map(|()| path),
            Err(_) => {}
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l002_07_l002_10_an_archive_is_whole_or_absent_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        // A temporary file that a killed process left behind is in nobody's way.
        fs::write(folder.path().join(format!(".a.{}.tmp", std::process::id())), "half").unwrap();
        let paths = ["one", "two", "one"].map(|text| write_new(folder.path(), "a", text).unwrap());
        let names = paths.each_ref().map(|path| path.file_name().unwrap().to_str().unwrap());
        assert_eq!(names, ["a.json", "a-2.json", "a.json"], "the same text is not written twice");
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing temporary is left");
    }

    #[test]
    fn l002_10_when_no_name_is_free_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..TRIES {
            write_new(folder.path(), "a", &number.to_string()).unwrap();
        }
        assert!(write_new(folder.path(), "a", "one too many").is_err());
        assert_eq!(fs::read_to_string(folder.path().join("a.json")).unwrap(), "0");
    }

    #[test]
    fn s002_17_the_name_is_the_minute_and_the_session() {
        let began = "2026-03-02T09:07:59.999Z".parse().unwrap();
        assert_eq!(name_of("../evil", began), "2026-03-02_09-07_---evil");
    }
}
