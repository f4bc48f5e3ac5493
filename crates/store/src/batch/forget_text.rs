//! Removing a text wherever it stands, and single entries from sessions that stay.

use std::collections::BTreeSet;

use rethread_model::{NativeKey, Speech};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

use super::Batch;
use crate::forgetting::{self, KEPT_IN_PLACE, OF_SESSION, TEXTS, Texts, Then};
use crate::transcripts::{self, TranscriptRow};
use crate::{Needle, SessionKey, SessionNumber, StoreError};

impl Batch<'_> {
    /// Removes what people and models wrote that contains a text: notes, cards, answers, what was told to agents. Entries
    /// stay for now.
    pub fn remove_text(&mut self, needle: &Needle) -> Result<(), StoreError> {
        for texts in TEXTS {
            match texts.then {
                Then::Delete => self.delete_rows(texts, needle)?,
                Then::Clear => self.clear_columns(texts, needle)?,
                Then::Leave | Then::Stay => {}
            }
        }
        self.note_unwiped()
    }

    /// Keeps these out from now on, wherever they are met.
    pub fn keep_out(&mut self, keys: impl IntoIterator<Item = NativeKey>) -> Result<u64, StoreError> {
        let mut added = 0;
        for key in keys {
            let sql = "INSERT OR IGNORE INTO forgotten (space, key) VALUES (?1, ?2)";
            added += u64::from(self.insert(sql, params![self.space, key.as_stored()])?);
        }
        Ok(added)
    }

    /// The keys of some of a session's entries, and the texts of those that somebody typed.
    pub fn keys_of(
        &self,
        session: SessionNumber,
        seqs: &BTreeSet<u64>,
    ) -> Result<Vec<(NativeKey, Option<String>)>, StoreError> {
        let mut keys = Vec::with_capacity(seqs.len());
        for seq in seqs {
            keys.extend(self.one(
                "SELECT native, CASE WHEN speech IN ('prompt', 'task') THEN text END FROM entry
                 WHERE space = ?1 AND session = ?2 AND seq = ?3",
                params![self.space, session.0, *seq as i64],
                |row| Ok((NativeKey::from_stored(row.get(0)?), row.get(1)?)),
            )?);
        }
        Ok(keys)
    }

    /// The transcripts of a session.
    pub fn transcripts_of(&self, session: SessionNumber) -> Result<Vec<TranscriptRow>, StoreError> {
        let sql =
            format!("SELECT {} FROM transcript WHERE space = ?1 AND session = ?2 ORDER BY num", transcripts::COLUMNS);
        Ok(self.all(&sql, params![self.space, session.0], transcripts::from_row)?.into_iter().flatten().collect())
    }

    /// The number of a session, by the agent's id.
    pub fn number_of(&self, key: SessionKey<'_>) -> Result<Option<SessionNumber>, StoreError> {
        Ok(self.find_session(key.agent, key.external_id)?.map(|found| found.number))
    }

    /// Names that files hold for sessions in other files and that contain a text.
    pub fn titles_with(&self, needle: &Needle) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT text FROM title_elsewhere WHERE space = ?1";
        let mut titles: Vec<String> = self.all(sql, params![self.space], |row| row.get(0))?;
        titles.retain(|title| needle.is_in(title));
        Ok(titles)
    }

    /// All entries of a session in their order: number, speech, and what was said.
    pub fn spoken(&self, session: SessionNumber) -> Result<Vec<(u64, Speech, String)>, StoreError> {
        self.all(
            "SELECT seq, speech, text FROM entry WHERE space = ?1 AND session = ?2 ORDER BY seq",
            params![self.space, session.0],
            |row| Ok((row.get::<_, i64>(0)? as u64, Speech::from_stored(row.get_ref(1)?.as_str()?), row.get(2)?)),
        )
    }

    /// Takes entries out of a session that cannot be read again, and numbers the others anew. What was derived from
    /// them goes; the caller tells the story again.
    pub fn remove_entries(&mut self, session: SessionNumber, seqs: &BTreeSet<u64>) -> Result<(), StoreError> {
        for table in OF_SESSION.iter().filter(|table| !KEPT_IN_PLACE.contains(table)) {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        for seq in seqs {
            let sql = "DELETE FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3";
            self.run(sql, params![self.space, session.0, *seq as i64])?;
        }
        let kept: Vec<i64> = self.all(
            "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 ORDER BY seq",
            params![self.space, session.0],
            |row| row.get(0),
        )?;
        // From the first on each moves to a place that is free by then.
        for (new, old) in kept.into_iter().enumerate() {
            self.run(
                "UPDATE entry SET seq = ?4 WHERE space = ?1 AND session = ?2 AND seq = ?3 AND seq <> ?4",
                params![self.space, session.0, old, new as i64],
            )?;
        }
        Ok(())
    }

    /// Lets nobody have seen more of a session than there is, after it has become shorter.
    pub fn shorten_watermarks(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.run(
            "UPDATE seen SET seq = min(seq, coalesce((SELECT max(seq) FROM entry WHERE space = ?1 AND session = ?2), 0))
             WHERE space = ?1 AND session = ?2",
            params![self.space, session.0],
        )
    }

    /// Removes the card of a session: it was made of what is there no more.
    pub fn remove_card(&mut self, key: SessionKey<'_>) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM card WHERE space = ?1 AND agent = ?2 AND external_id = ?3",
            params![self.space, key.agent.as_str(), key.external_id],
        )
    }

    fn delete_rows(&mut self, texts: Texts, needle: &Needle) -> Result<(), StoreError> {
        for (condition, key) in self.rows_with(texts, needle)? {
            self.run(&format!("DELETE FROM {} WHERE {condition}", texts.table), params_from_iter(key))?;
        }
        Ok(())
    }

    fn clear_columns(&mut self, texts: Texts, needle: &Needle) -> Result<(), StoreError> {
        for (condition, key) in self.rows_with(texts, needle)? {
            for column in texts.columns {
                let sql = format!("SELECT {column} FROM {} WHERE {condition}", texts.table);
                let text: Option<String> = self.one(&sql, params_from_iter(&key), |row| row.get(0))?.flatten();
                let Some(text) = text.filter(|text| needle.is_in(text)) else { continue };
                // What stands one a line loses only the lines.
                let lines: Vec<&str> = text.lines().filter(|line| !needle.is_in(line)).collect();
                let is_list = *column == "entities";
                let kept = if is_list { Value::Text(lines.join("\n")) } else { Value::Null };
                let sql = format!("UPDATE {} SET {column} = ?{} WHERE {condition}", texts.table, key.len() + 1);
                self.run(&sql, params_from_iter(key.iter().chain([&kept])))?;
            }
        }
        Ok(())
    }

    /// A condition for each row with a text, and the values it asks for.
    fn rows_with(&self, texts: Texts, needle: &Needle) -> Result<Vec<(String, Vec<Value>)>, StoreError> {
        let find = || -> rusqlite::Result<(Vec<String>, Vec<Vec<Value>>)> {
            let key = forgetting::key_of(self.connection(), texts.table)?;
            Ok((key, forgetting::rows_with(self.connection(), self.space, texts, needle)?))
        };
        let (key, rows) = find().map_err(|cause| self.err(cause))?;
        let parts: Vec<String> = key.iter().zip(1..).map(|(column, at)| format!("{column} = ?{at}")).collect();
        let condition = parts.join(" AND ");
        Ok(rows.into_iter().map(|row| (condition.clone(), row)).collect())
    }
}
