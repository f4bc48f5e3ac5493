//! Removes a text from all tables, and single entries from sessions that stay.

use std::collections::BTreeSet;

use rethread_model::{EntryKind, NativeKey};

use super::Batch;
use crate::forgetting::{KEPT_WHEN_ENTRIES_GO, SESSION_TABLES, TEXT_COLUMNS, TextAction, TextColumns};
use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{AsValue, OwnedValue, SqlValue, columns, values};
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
        self.clear_hook_names(needle)?;
        self.mark_unwiped()
    }

    /// Clears names that came from a hook: the transcript was not read, so nothing derives them again.
    fn clear_hook_names(&mut self, needle: &TextMatcher) -> Result<(), StoreError> {
        let sql = "SELECT number, name FROM session WHERE space = ?1 AND assembler_state IS NULL AND name IS NOT NULL";
        let named = self.sql.all(sql, &[], |row| Ok((SessionNumber(row.int("number")?), row.string("name")?)))?;
        for (session, _) in named.into_iter().filter(|(_, name)| needle.matches(name)) {
            let change = self.next_change();
            self.sql.run(
                "UPDATE session SET name = NULL, change = ?3 WHERE space = ?1 AND number = ?2",
                values![session, change],
            )?;
        }
        Ok(())
    }

    /// Ignores entries, nodes and titles with these keys from now on, in every transcript. Returns how many are new.
    pub fn add_forgotten_keys(&mut self, keys: impl IntoIterator<Item = NativeKey>) -> Result<u64, StoreError> {
        let mut added = 0;
        for key in keys {
            added += u64::from(self.insert_new("forgotten_key", columns! { key: key })?);
            self.tombstones.reset();
        }
        Ok(added)
    }

    /// The texts of some entries of a session that a user typed.
    pub fn typed_texts(&self, session: SessionNumber, seqs: &BTreeSet<u64>) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        for seq in seqs {
            texts.extend(self.sql.one(
                "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3 AND kind IN ('prompt', 'task')",
                values![session, seq],
                |row| row.string("text"),
            )?);
        }
        Ok(texts)
    }

    /// Titles for sessions in other files that contain a text.
    pub fn titles_containing(&self, needle: &TextMatcher) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT title FROM other_session_title WHERE space = ?1";
        let mut titles = self.sql.all(sql, &[], |row| row.string("title"))?;
        titles.retain(|title| needle.matches(title));
        Ok(titles)
    }

    /// Seq, kind and text of the entries of a session, in order.
    pub fn entry_texts(
        &self,
        session: SessionNumber,
        of: TextsOf,
    ) -> Result<Vec<(u64, EntryKind, String)>, StoreError> {
        self.sql.all(
            "SELECT seq, kind, text FROM entry WHERE space = ?1 AND session = ?2 AND (?3 OR NOT is_retracted)
             ORDER BY seq",
            values![session, of == TextsOf::AllEntries],
            |row| Ok((row.u64("seq")?, EntryKind::from_stored(row.text("kind")?), row.string("text")?)),
        )
    }

    /// Removes entries from a session whose transcript cannot be read again, and renumbers the others. Clears what was
    /// derived from entries; the caller rebuilds the episodes.
    pub fn remove_entries(&mut self, session: SessionNumber, seqs: &BTreeSet<u64>) -> Result<(), StoreError> {
        let cleared = SESSION_TABLES.into_iter().filter(|table| !KEPT_WHEN_ENTRIES_GO.contains(table));
        self.delete_session_rows(cleared, session)?;
        for seq in seqs {
            let sql = "DELETE FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3";
            self.sql.run(sql, values![session, seq])?;
        }
        let sql = "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 ORDER BY seq";
        let kept = self.sql.all(sql, values![session], |row| row.u64("seq"))?;
        // In ascending order each entry moves to a seq that is free by then.
        for (new, old) in (0_u64..).zip(kept) {
            self.sql.run(
                "UPDATE entry SET seq = ?4 WHERE space = ?1 AND session = ?2 AND seq = ?3 AND seq <> ?4",
                values![session, old, new],
            )?;
        }
        Ok(())
    }

    /// Lowers the watermarks of readers that are past the end of a session that became shorter.
    pub fn lower_watermarks(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let last = "SELECT max(seq) FROM entry WHERE space = ?1 AND session = ?2";
        let last = self.sql.count(last, values![session])?;
        self.sql.run(
            "UPDATE watermark SET last_seq = ?3 WHERE space = ?1 AND session = ?2 AND last_seq > ?3",
            values![session, last],
        )
    }

    /// Removes the card of a session whose content changed.
    pub fn remove_card(&mut self, key: SessionKey<'_>) -> Result<(), StoreError> {
        self.sql.run(&format!("DELETE FROM card WHERE {BY_EXTERNAL_ID}"), values![key.agent, key.external_id])
    }

    fn delete_rows(&mut self, texts: TextColumns, needle: &TextMatcher) -> Result<(), StoreError> {
        let condition = self.key_condition(texts.table)?;
        for key in self.rows_with(texts, needle)? {
            self.sql.run(&format!("DELETE FROM {} WHERE {condition}", texts.table), &borrowed(&key))?;
        }
        Ok(())
    }

    fn clear_columns(&mut self, texts: TextColumns, needle: &TextMatcher) -> Result<(), StoreError> {
        let condition = self.key_condition(texts.table)?;
        for key in self.rows_with(texts, needle)? {
            for column in texts.columns {
                let sql = format!("SELECT {column} FROM {} WHERE {condition}", texts.table);
                let text = self.sql.one(&sql, &borrowed(&key), |row| Ok(row.text_at(0)?.map(str::to_owned)))?;
                let Some(text) = text.flatten().filter(|text| needle.matches(text)) else { continue };
                // A list with one item per line loses only the matching lines.
                let lines: Vec<&str> = text.lines().filter(|line| !needle.matches(line)).collect();
                let is_list = texts.table == "lifecycle" || *column == "tags";
                let kept = is_list.then(|| lines.join("\n"));
                let sql = format!("UPDATE {} SET {column} = ?{} WHERE {condition}", texts.table, key.len() + 2);
                let mut values = borrowed(&key);
                values.push(kept.as_value());
                self.sql.run(&sql, &values)?;
            }
        }
        Ok(())
    }

    /// A condition on the primary key of a table, which starts with the space.
    fn key_condition(&self, table: &str) -> Result<String, StoreError> {
        let key = self.sql.primary_key(table)?;
        let parts: Vec<String> = key.iter().zip(1..).map(|(column, at)| format!("{column} = ?{at}")).collect();
        Ok(parts.join(" AND "))
    }
}

fn borrowed(key: &[OwnedValue]) -> Vec<SqlValue<'_>> {
    key.iter().map(AsValue::as_value).collect()
}
