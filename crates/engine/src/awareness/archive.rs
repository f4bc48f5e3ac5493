//! A period of work that is over, written to the archive. Nothing there is ever overwritten.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rethread_model::Timestamp;
use rethread_recall::{Happening, SessionView};
use rethread_store::{Life, SessionKey};
use serde_json::{Value, json};

use super::view::Own;
use crate::{Engine, home};

/// Tool calls a period must have to be significant.
const SIGNIFICANT: usize = 3;
/// Files and tools that are named, the newest ones.
const NAMED: usize = 5;
/// Names that are tried for one archive.
const TRIES: u32 = 100;

impl Engine {
    /// Writes a period that is over; where to, if it was worth it. An archive that cannot be written stops nobody.
    pub(super) fn archive(
        &self,
        key: SessionKey<'_>,
        life: &Life,
        own: &Own,
        view: &SessionView,
        ended_at: Timestamp,
    ) -> Option<PathBuf> {
        let calls = own.deeds.entries.iter().filter(|entry| entry.tool.is_some()).count();
        let is_wanted = match self.config.text("lifecycle.archive") {
            "none" => false,
            "significant" => calls >= SIGNIFICANT,
            _ => true,
        };
        if !is_wanted {
            return None;
        }
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
            "events": life.events,
            "task": life.task,
            "files": newest(&view.files),
            "tools": newest(&own.tools()),
            "hotMemory": told(&view.hot),
            "recentEvents": told(&view.recent),
        });
        self.write_archive(&view.id, life.period_at, &format!("{archived:#}\n")).ok()
    }

    fn write_archive(&self, id: &str, began: Timestamp, text: &str) -> std::io::Result<PathBuf> {
        let folder = self.folder.join("archive");
        home::prepare(&folder).map_err(std::io::Error::other)?;
        let safe: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let moment = began.to_string();
        let name = format!("{}_{}_{safe}", &moment[..10], moment[11..16].replace(':', "-"));
        for number in 1..=TRIES {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{name}{suffix}.json"));
            let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            match opened {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                opened => return opened?.write_all(text.as_bytes()).map(|()| path),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }
}
