//! Removes a text from all tables, and single entries from sessions that stay.

use std::collections::BTreeSet;

use rethread_model::{EntryKind, NativeKey};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

use super::Batch;
use crate::forgetting::{self, KEPT_WHEN_ENTRIES_GO, SESSION_TABLES, TEXT_COLUMNS, TextAction, TextColumns};
use crate::transcripts::{self, TranscriptRow};
use crate::{SessionKey, SessionNumber, StoreError, TextMatcher};

/// Which entries of a session to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextsOf {
    /// Also prompts that were taken back.
    AllEntries,
    /// Only what counts as said.
    Conversation,
}

impl Batch<'_> {
    /// Removes what users and models wrote that contains a text: notes, cards, answers, injections. Entries are not
    /// touched; they are removed by [`Batch::remove_entries`] or by reading the transcript again.
    pub fn remove_text(&mut self, needle: &TextMatcher) -> Result<(), StoreError> {
        for texts in TEXT_COLUMNS {
            match texts.action {
                TextAction::DeleteRow => self.delete_rows(texts, needle)?,
                TextAction::ClearColumn => self.clear_columns(texts, needle)?,
                TextAction::Rebuild | TextAction::Keep => {}
            }
        }
        self.mark_unwiped()
    }

    /// Ignores entries, nodes and titles with these keys from now on, in every transcript. Returns how many are new.
    pub fn add_forgotten_keys(&mut self, keys: impl IntoIterator<Item = NativeKey>) -> Result<u64, StoreError> {
        let mut added = 0;
        for key in keys {
            let sql = "INSERT OR IGNORE INTO forgotten_key (space, key) VALUES (?1, ?2)";
            added += u64::from(self.insert(sql, params![self.space, key.as_stored()])?);
        }
        Ok(added)
    }

    /// The texts of some entries of a session that a user typed.
    pub fn typed_texts(&self, session: SessionNumber, seqs: &BTreeSet<u64>) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        for seq in seqs {
            texts.extend(self.one(
                "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3 AND kind IN ('prompt', 'task')",
                params![self.space, session.0, *seq as i64],
                |row| row.get(0),
            )?);
        }
        Ok(texts)
    }

    /// The transcripts of a session, in the order in which they were first read.
    pub fn session_transcripts(&self, session: SessionNumber) -> Result<Vec<TranscriptRow>, StoreError> {
        let sql = format!(
            "SELECT {} FROM transcript WHERE space = ?1 AND session = ?2 ORDER BY number",
            transcripts::COLUMNS
        );
        Ok(self.all(&sql, params![self.space, session.0], transcripts::from_row)?.into_iter().flatten().collect())
    }

    /// The number of a session, by its external id.
    pub fn session_number(&self, key: SessionKey<'_>) -> Result<Option<SessionNumber>, StoreError> {
        Ok(self.find_session(key.agent, key.external_id)?.map(|found| found.number))
    }

    /// Titles for sessions in other files that contain a text.
    pub fn titles_containing(&self, needle: &TextMatcher) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT title FROM other_session_title WHERE space = ?1";
        let mut titles: Vec<String> = self.all(sql, params![self.space], |row| row.get(0))?;
        titles.retain(|title| needle.matches(title));
        Ok(titles)
    }

    /// Seq, kind and text of the entries of a session, in order.
    pub fn entry_texts(
        &self,
        session: SessionNumber,
        of: TextsOf,
    ) -> Result<Vec<(u64, EntryKind, String)>, StoreError> {
        self.all(
            "SELECT seq, kind, text FROM entry WHERE space = ?1 AND session = ?2 AND (?3 OR NOT is_retracted)
             ORDER BY seq",
            params![self.space, session.0, of == TextsOf::AllEntries],
            |row| Ok((row.get::<_, i64>(0)? as u64, EntryKind::from_stored(row.get_ref(1)?.as_str()?), row.get(2)?)),
        )
    }

    /// Removes entries from a session whose transcript cannot be read again, and renumbers the others. Clears what was
    /// derived from entries; the caller rebuilds the episodes.
    pub fn remove_entries(&mut self, session: SessionNumber, seqs: &BTreeSet<u64>) -> Result<(), StoreError> {
        for table in SESSION_TABLES.iter().filter(|table| !KEPT_WHEN_ENTRIES_GO.contains(table)) {
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
        // In ascending order each entry moves to a seq that is free by then.
        for (new, old) in kept.into_iter().enumerate() {
            self.run(
                "UPDATE entry SET seq = ?4 WHERE space = ?1 AND session = ?2 AND seq = ?3 AND seq <> ?4",
                params![self.space, session.0, old, new as i64],
            )?;
        }
        Ok(())
    }

    /// Lowers the watermarks of readers that are past the end of a session that became shorter.
    pub fn lower_watermarks(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.run(
            "UPDATE watermark SET last_seq =
             min(last_seq, coalesce((SELECT max(seq) FROM entry WHERE space = ?1 AND session = ?2), 0))
             WHERE space = ?1 AND session = ?2",
            params![self.space, session.0],
        )
    }

    /// Removes the card of a session whose content changed.
    pub fn remove_card(&mut self, key: SessionKey<'_>) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM card WHERE space = ?1 AND agent = ?2 AND external_id = ?3",
            params![self.space, key.agent.as_str(), key.external_id],
        )
    }

    fn delete_rows(&mut self, texts: TextColumns, needle: &TextMatcher) -> Result<(), StoreError> {
        for (condition, key) in self.rows_with(texts, needle)? {
            self.run(&format!("DELETE FROM {} WHERE {condition}", texts.table), params_from_iter(key))?;
        }
        Ok(())
    }

    fn clear_columns(&mut self, texts: TextColumns, needle: &TextMatcher) -> Result<(), StoreError> {
        for (condition, key) in self.rows_with(texts, needle)? {
            for column in texts.columns {
                let sql = format!("SELECT {column} FROM {} WHERE {condition}", texts.table);
                let text: Option<String> = self.one(&sql, params_from_iter(&key), |row| row.get(0))?.flatten();
                let Some(text) = text.filter(|text| needle.matches(text)) else { continue };
                // A list with one item per line loses only the matching lines.
                let lines: Vec<&str> = text.lines().filter(|line| !needle.matches(line)).collect();
                let is_list = texts.table == "lifecycle";
                let kept = if is_list { Value::Text(lines.join("\n")) } else { Value::Null };
                let sql = format!("UPDATE {} SET {column} = ?{} WHERE {condition}", texts.table, key.len() + 1);
                self.run(&sql, params_from_iter(key.iter().chain([&kept])))?;
            }
        }
        Ok(())
    }

    /// For each row that contains the text: a condition on its primary key, and the values for it.
    fn rows_with(&self, texts: TextColumns, needle: &TextMatcher) -> Result<Vec<(String, Vec<Value>)>, StoreError> {
        let find = || -> rusqlite::Result<(Vec<String>, Vec<Vec<Value>>)> {
            let key = forgetting::primary_key(self.connection(), texts.table)?;
            Ok((key, forgetting::rows_with(self.connection(), self.space, texts, needle)?))
        };
        let (key, rows) = find().map_err(|cause| self.err(cause))?;
        let parts: Vec<String> = key.iter().zip(1..).map(|(column, at)| format!("{column} = ?{at}")).collect();
        let condition = parts.join(" AND ");
        Ok(rows.into_iter().map(|row| (condition.clone(), row)).collect())
    }
}
