//! Our own log: one JSON line per event, one file per day, kept for thirty days.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use rethread_ingest::{RedactionFindings, Redactor};
use rethread_model::thread::ThreadId;
use serde_json::{Map, Value};

use crate::{EngineError, JournalService, home};

/// Files older than this are deleted.
const RETENTION_DAYS: i64 = 30;
/// Size limit of a day's file; further events of that day are dropped, so that a log cannot fill the disk.
const MAX_DAY_BYTES: u64 = 64 << 20;
/// Fields whose values are always redacted, by the end of their names.
const SECRET_FIELDS: [&str; 5] = ["key", "token", "secret", "password", "authorization"];

impl JournalService<'_> {
    /// Logs an event. Errors are ignored: a log that cannot be written must not stop anything.
    pub fn event(self, event: &str, thread: Option<ThreadId>, fields: &[(&str, Value)]) {
        let now = self.engine.now();
        let mut line = Map::new();
        line.insert("at".to_owned(), now.to_string().into());
        line.insert("event".to_owned(), event.into());
        line.extend(thread.map(|id| ("sessionId".to_owned(), id.to_string().into())));
        for (name, value) in fields {
            line.insert((*name).to_owned(), redact_field(name, value));
        }
        let _ = self.append(now, &Value::Object(line));
    }

    /// Logs an error that cannot be reported to the user.
    pub fn error(self, place: &str, error: &EngineError) {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let fields = [("place", place.into()), ("error", error.to_string().into()), ("cause", cause.into())];
        self.event("trouble", None, &fields);
    }

    fn append(self, now: rethread_model::Timestamp, line: &Value) -> std::io::Result<()> {
        let folder = self.engine.folder.join("logs");
        if self.engine.is_memory_deleted() {
            return Ok(());
        }
        home::ensure_private_folder(&folder).map_err(std::io::Error::other)?;
        let day = |moment: rethread_model::Timestamp| format!("{}.jsonl", &moment.to_string()[..10]);
        let path = folder.join(day(now));
        let is_new = !path.exists();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        if file.metadata()?.len() < MAX_DAY_BYTES {
            file.write_all(format!("{line}\n").as_bytes())?;
        }
        if is_new {
            let oldest = day(rethread_model::Timestamp::from_millis(now.as_millis() - RETENTION_DAYS * 86_400_000));
            let names = std::fs::read_dir(&folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            for name in names.filter(|name| name.len() == oldest.len() && *name < oldest) {
                std::fs::remove_file(folder.join(name))?;
            }
        }
        Ok(())
    }
}

/// The value without secrets.
fn redact_field(name: &str, value: &Value) -> Value {
    let name = name.to_lowercase();
    match value {
        Value::String(_) if SECRET_FIELDS.iter().any(|end| name.ends_with(end)) => "[REDACTED]".into(),
        Value::String(text) => Redactor::shared().redact(text, &mut RedactionFindings::default()).into_owned().into(),
        other => other.clone(),
    }
}
