//! Writing what a session's story changed: entries, results, usage, episodes.

use rethread_model::{Changes, Episode, NativeKey, NewEntry, NodeRow, Outcome, Timestamp, UsageRow};
use rusqlite::params;

use super::{Batch, SessionNumber};
use crate::{StoreError, entries};

impl Batch<'_> {
    /// Stores what a batch of events changed in a session, and the episode that is still open.
    pub fn apply(
        &mut self,
        session: SessionNumber,
        changes: &Changes,
        open: Option<&Episode>,
    ) -> Result<(), StoreError> {
        for new in &changes.entries {
            self.add_entry(session, new)?;
        }
        for (seq, outcome) in &changes.outcomes {
            self.settle_call(session, *seq, outcome)?;
        }
        for path in &changes.edited {
            self.add_edited(session, path)?;
        }
        for key in &changes.queued {
            self.run(
                "INSERT OR IGNORE INTO queued (space, session, step) VALUES (?1, ?2, ?3)",
                params![self.space, session.0, key.as_stored()],
            )?;
        }
        for node in &changes.nodes {
            self.add_node(session, node)?;
        }
        self.add_usages(session, changes)?;
        for (leaf, text) in &changes.titles_elsewhere {
            self.add_title_elsewhere(*leaf, text)?;
        }
        for seq in &changes.taken_back {
            self.run(
                "UPDATE entry SET taken_back = 1 WHERE space = ?1 AND session = ?2 AND seq = ?3",
                params![self.space, session.0, *seq as i64],
            )?;
        }
        for episode in changes.closed.iter().chain(open) {
            self.put_episode(session, episode)?;
        }
        for (seq, native_id, key) in &changes.renamed {
            self.run(
                "UPDATE entry SET native_id = ?4, native = ?5 WHERE space = ?1 AND session = ?2 AND seq = ?3",
                params![self.space, session.0, *seq as i64, native_id, key.as_stored()],
            )?;
            self.run(
                "UPDATE episode SET id = ?4 WHERE space = ?1 AND session = ?2 AND first_seq = ?3",
                params![self.space, session.0, *seq as i64, native_id],
            )?;
        }
        for (number, errors) in &changes.late_errors {
            let change = self.next_change();
            self.run(
                "UPDATE episode SET tool_errors = tool_errors + ?4, change = ?5
                 WHERE space = ?1 AND session = ?2 AND number = ?3",
                params![self.space, session.0, *number as i64, *errors as i64, change],
            )?;
        }
        Ok(())
    }

    /// Replaces a session's episodes and what was edited by a story told again.
    pub fn apply_retelling<'a>(
        &mut self,
        session: SessionNumber,
        episodes: &[Episode],
        placed: &[(u64, Option<u64>, bool)],
        edited: impl Iterator<Item = &'a String>,
    ) -> Result<(), StoreError> {
        for (seq, episode, abandoned) in placed {
            self.run(
                "UPDATE entry SET episode = ?4, abandoned = ?5 WHERE space = ?1 AND session = ?2 AND seq = ?3
                 AND (episode IS NOT ?4 OR abandoned <> ?5)",
                params![self.space, session.0, *seq as i64, episode.map(|number| number as i64), *abandoned],
            )?;
        }
        for table in ["episode", "edited_file"] {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        self.clear_facts(session)?;
        self.note_retold(session)?;
        for episode in episodes {
            self.put_episode(session, episode)?;
        }
        for path in edited {
            self.add_edited(session, path)?;
        }
        Ok(())
    }

    fn add_entry(&mut self, session: SessionNumber, new: &NewEntry) -> Result<(), StoreError> {
        entries::insert(&self.transaction, self.space, session, new).map_err(|cause| self.err(cause))
    }

    fn settle_call(&mut self, session: SessionNumber, seq: u64, outcome: &Outcome) -> Result<(), StoreError> {
        self.run(
            "UPDATE entry SET status = ?4, summary = ?5, error = ?6, exit_code = ?7, out_lines = ?8, out_bytes = ?9,
             output = ?10 WHERE space = ?1 AND session = ?2 AND seq = ?3",
            params![
                self.space,
                session.0,
                seq as i64,
                outcome.status.as_str(),
                outcome.summary,
                outcome.error,
                outcome.exit_code,
                outcome.lines as i64,
                outcome.bytes as i64,
                outcome.output,
            ],
        )
    }

    fn add_edited(&mut self, session: SessionNumber, path: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO edited_file (space, session, path) VALUES (?1, ?2, ?3)",
            params![self.space, session.0, path],
        )
    }

    fn add_node(&mut self, session: SessionNumber, node: &NodeRow) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO node (space, session, id, line, parent, lineage) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                self.space,
                session.0,
                node.id.as_stored(),
                node.line as i64,
                node.parent.map(NativeKey::as_stored),
                node.lineage.as_stored(),
            ],
        )
    }

    fn add_usages(&mut self, session: SessionNumber, changes: &Changes) -> Result<(), StoreError> {
        let (mut tokens, mut cost) = ([0; 4], 0);
        for (key, usage) in &changes.usage {
            let (more, price) = self.add_usage(session, *key, usage)?;
            tokens = std::array::from_fn(|at| tokens[at] + more[at]);
            cost += price;
        }
        if changes.usage.is_empty() {
            return Ok(());
        }
        self.run(
            "UPDATE session SET tokens_input = tokens_input + ?3, tokens_output = tokens_output + ?4,
             cache_read = cache_read + ?5, cache_write = cache_write + ?6,
             cost_nanos = CASE WHEN ?7 <> 0 THEN coalesce(cost_nanos, 0) + ?7 ELSE cost_nanos END
             WHERE space = ?1 AND num = ?2",
            params![self.space, session.0, tokens[0], tokens[1], tokens[2], tokens[3], cost],
        )
    }

    /// Adds what an API message cost; how much more that is than was known. A message counts in the session
    /// that had it first, with the largest numbers seen.
    fn add_usage(
        &mut self,
        session: SessionNumber,
        key: NativeKey,
        usage: &UsageRow,
    ) -> Result<([i64; 4], i64), StoreError> {
        let tokens = [usage.tokens.input, usage.tokens.output, usage.tokens.cache_read, usage.tokens.cache_write];
        let tokens = tokens.map(|count| count as i64);
        // Whole billionths of a dollar add up to the same sum in any order.
        let cost = usage.cost_usd.map(|cost| (cost * 1e9).round() as i64);
        let is_new = self.insert(
            "INSERT INTO usage (space, message, session, at, model, input, output, cache_read, cache_write, cost_nanos)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
            params![
                self.space,
                key.as_stored(),
                session.0,
                usage.at.map(Timestamp::as_millis),
                usage.model,
                tokens[0],
                tokens[1],
                tokens[2],
                tokens[3],
                cost,
            ],
        )?;
        if is_new { Ok((tokens, cost.unwrap_or(0))) } else { self.raise_usage(session, key, tokens, cost) }
    }

    /// Raises the numbers of a message that was met before, in this session; how much more that is.
    fn raise_usage(
        &mut self,
        session: SessionNumber,
        key: NativeKey,
        tokens: [i64; 4],
        cost: Option<i64>,
    ) -> Result<([i64; 4], i64), StoreError> {
        let before = self.one(
            "SELECT input, output, cache_read, cache_write, cost_nanos FROM usage
             WHERE space = ?1 AND message = ?2 AND session = ?3",
            params![self.space, key.as_stored(), session.0],
            |row| Ok(([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?], row.get::<_, Option<i64>>(4)?)),
        )?;
        let Some((old, old_cost)): Option<([i64; 4], Option<i64>)> = before else { return Ok(([0; 4], 0)) };
        let new: [i64; 4] = std::array::from_fn(|at| old[at].max(tokens[at]));
        let cost = cost.or(old_cost);
        self.run(
            "UPDATE usage SET input = ?3, output = ?4, cache_read = ?5, cache_write = ?6, cost_nanos = ?7
             WHERE space = ?1 AND message = ?2",
            params![self.space, key.as_stored(), new[0], new[1], new[2], new[3], cost],
        )?;
        Ok((std::array::from_fn(|at| new[at] - old[at]), cost.unwrap_or(0) - old_cost.unwrap_or(0)))
    }

    fn add_title_elsewhere(&mut self, leaf: NativeKey, text: &str) -> Result<(), StoreError> {
        // Of several names for one entry the last in the alphabet wins, so that the order of reading does not matter.
        self.run(
            "INSERT INTO title_elsewhere (space, leaf, text) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET text = max(text, excluded.text)",
            params![self.space, leaf.as_stored(), text],
        )
    }

    fn put_episode(&mut self, session: SessionNumber, episode: &Episode) -> Result<(), StoreError> {
        let change = self.next_change();
        let parts = episode.parts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        self.run(
            "INSERT OR REPLACE INTO episode
             (space, session, number, id, first_seq, last_seq, parts, first_line, last_line, first_byte, last_byte,
              started_at, ended_at, tool_calls, tool_errors, kept_tokens, open, abandoned, change)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            params![
                self.space,
                session.0,
                episode.number as i64,
                episode.id,
                episode.first_seq as i64,
                episode.last_seq as i64,
                parts,
                episode.lines.0 as i64,
                episode.lines.1 as i64,
                episode.bytes.0 as i64,
                episode.bytes.1 as i64,
                episode.started_at.map(Timestamp::as_millis),
                episode.ended_at.map(Timestamp::as_millis),
                episode.tool_calls as i64,
                episode.tool_errors as i64,
                episode.kept_tokens as i64,
                episode.open,
                episode.abandoned,
                change,
            ],
        )
    }
}
