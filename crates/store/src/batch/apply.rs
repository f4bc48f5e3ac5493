//! Writes what the session assembler changed: entries, results, usage, episodes.

use rethread_model::{Episode, MessageUsage, NativeKey, NewEntry, SessionChanges, Timestamp, ToolOutcome, TreeNode};
use rusqlite::params;

use super::{Batch, SessionNumber};
use crate::{StoreError, TranscriptNumber, entries};

/// The session an entry belongs to and the transcript it was read from.
type EntrySource = (SessionNumber, Option<TranscriptNumber>);

impl Batch<'_> {
    /// Stores what a batch of events of a transcript changed in a session, and its open episode.
    pub fn apply_changes(
        &mut self,
        session: SessionNumber,
        transcript: Option<TranscriptNumber>,
        changes: &SessionChanges,
        open: Option<&Episode>,
    ) -> Result<(), StoreError> {
        for new in &changes.entries {
            self.add_entry((session, transcript), new)?;
        }
        for (seq, outcome) in &changes.outcomes {
            self.set_result(session, *seq, outcome)?;
        }
        for path in &changes.edited_paths {
            self.add_edited_file(session, path)?;
        }
        for key in &changes.queue_steps {
            self.run(
                "INSERT OR IGNORE INTO queue_step (space, session, step_key, transcript) VALUES (?1, ?2, ?3, ?4)",
                params![self.space, session.0, key.as_stored(), transcript.map(|transcript| transcript.0)],
            )?;
        }
        for node in &changes.nodes {
            self.add_node((session, transcript), node)?;
        }
        self.add_forgotten_keys(changes.forgotten_calls.iter().copied())?;
        self.add_usages((session, transcript), changes)?;
        for (leaf, text) in &changes.other_session_titles {
            self.add_other_session_title(*leaf, text)?;
        }
        for seq in &changes.retracted {
            self.run(
                "UPDATE entry SET is_retracted = 1 WHERE space = ?1 AND session = ?2 AND seq = ?3",
                params![self.space, session.0, *seq as i64],
            )?;
        }
        for episode in changes.closed_episodes.iter().chain(open) {
            self.put_episode(session, episode)?;
        }
        for (seq, native_id, key) in &changes.renamed_entries {
            self.run(
                "UPDATE entry SET native_id = ?4, native_key = ?5 WHERE space = ?1 AND session = ?2 AND seq = ?3",
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

    /// Replaces the episodes and edited files of a session after its episodes were rebuilt. `placed` holds the episode
    /// of each entry by seq, and whether it is on an abandoned branch.
    pub fn apply_rebuild<'a>(
        &mut self,
        session: SessionNumber,
        episodes: &[Episode],
        placed: &[(u64, Option<u64>, bool)],
        edited: impl Iterator<Item = &'a String>,
    ) -> Result<(), StoreError> {
        for (seq, episode, abandoned) in placed {
            self.run(
                "UPDATE entry SET episode = ?4, is_abandoned = ?5 WHERE space = ?1 AND session = ?2 AND seq = ?3
                 AND (episode IS NOT ?4 OR is_abandoned <> ?5)",
                params![self.space, session.0, *seq as i64, episode.map(|number| number as i64), *abandoned],
            )?;
        }
        for table in ["episode", "edited_file"] {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        self.clear_rule_facts(session)?;
        self.mark_rebuilt(session)?;
        for episode in episodes {
            self.put_episode(session, episode)?;
        }
        for path in edited {
            self.add_edited_file(session, path)?;
        }
        Ok(())
    }

    fn add_entry(&mut self, source: EntrySource, new: &NewEntry) -> Result<(), StoreError> {
        entries::insert(&self.transaction, self.space, source, new).map_err(|cause| self.err(cause))
    }

    fn set_result(&mut self, session: SessionNumber, seq: u64, outcome: &ToolOutcome) -> Result<(), StoreError> {
        self.run(
            "UPDATE entry SET status = ?4, summary = ?5, error = ?6, exit_code = ?7, output_lines = ?8,
             output_bytes = ?9, output = ?10 WHERE space = ?1 AND session = ?2 AND seq = ?3",
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

    fn add_edited_file(&mut self, session: SessionNumber, path: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO edited_file (space, session, path) VALUES (?1, ?2, ?3)",
            params![self.space, session.0, path],
        )
    }

    fn add_node(&mut self, (session, transcript): EntrySource, node: &TreeNode) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO tree_node (space, session, node_key, line, parent_key, lineage_key, transcript)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.space,
                session.0,
                node.id.as_stored(),
                node.line as i64,
                node.parent.map(NativeKey::as_stored),
                node.lineage.as_stored(),
                transcript.map(|transcript| transcript.0),
            ],
        )
    }

    fn add_usages(&mut self, source: EntrySource, changes: &SessionChanges) -> Result<(), StoreError> {
        let (session, _) = source;
        let (mut tokens, mut cost) = ([0; 4], 0);
        for (key, usage) in &changes.usage {
            let (more, price) = self.add_usage(source, *key, usage)?;
            tokens = std::array::from_fn(|at| tokens[at] + more[at]);
            cost += price;
        }
        if changes.usage.is_empty() {
            return Ok(());
        }
        self.run(
            "UPDATE session SET input_tokens = input_tokens + ?3, output_tokens = output_tokens + ?4,
             cache_read_tokens = cache_read_tokens + ?5, cache_write_tokens = cache_write_tokens + ?6,
             cost_nanos = CASE WHEN ?7 <> 0 THEN coalesce(cost_nanos, 0) + ?7 ELSE cost_nanos END
             WHERE space = ?1 AND number = ?2",
            params![self.space, session.0, tokens[0], tokens[1], tokens[2], tokens[3], cost],
        )
    }

    /// Adds the usage of an API message and returns the increase. A message counts in the session that had it first,
    /// with the largest numbers seen.
    fn add_usage(
        &mut self,
        (session, transcript): EntrySource,
        key: NativeKey,
        usage: &MessageUsage,
    ) -> Result<([i64; 4], i64), StoreError> {
        let tokens = [usage.tokens.input, usage.tokens.output, usage.tokens.cache_read, usage.tokens.cache_write];
        let (tokens, hour_writes) = (tokens.map(|count| count as i64), usage.hour_write_tokens as i64);
        // Integers add up to the same sum in any order.
        let cost = usage.cost_usd.map(|cost| (cost * 1e9).round() as i64);
        let is_new = self.insert(
            "INSERT INTO usage (space, message_key, session, at, model, input_tokens, output_tokens, cache_read_tokens,
             cache_write_tokens, hour_write_tokens, cost_nanos, transcript)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING",
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
                hour_writes,
                cost,
                transcript.map(|transcript| transcript.0),
            ],
        )?;
        if is_new {
            Ok((tokens, cost.unwrap_or(0)))
        } else {
            self.raise_usage(session, key, (tokens, hour_writes), cost)
        }
    }

    /// Raises the usage of a message that this session already has and returns the increase.
    fn raise_usage(
        &mut self,
        session: SessionNumber,
        key: NativeKey,
        (tokens, hour_writes): ([i64; 4], i64),
        cost: Option<i64>,
    ) -> Result<([i64; 4], i64), StoreError> {
        let before = self.one(
            "SELECT input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos FROM usage
             WHERE space = ?1 AND message_key = ?2 AND session = ?3",
            params![self.space, key.as_stored(), session.0],
            |row| Ok(([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?], row.get::<_, Option<i64>>(4)?)),
        )?;
        let Some((old, old_cost)): Option<([i64; 4], Option<i64>)> = before else { return Ok(([0; 4], 0)) };
        let new: [i64; 4] = std::array::from_fn(|at| old[at].max(tokens[at]));
        let cost = cost.or(old_cost);
        self.run(
            "UPDATE usage SET input_tokens = ?3, output_tokens = ?4, cache_read_tokens = ?5, cache_write_tokens = ?6,
             cost_nanos = ?7, hour_write_tokens = max(hour_write_tokens, ?8) WHERE space = ?1 AND message_key = ?2",
            params![self.space, key.as_stored(), new[0], new[1], new[2], new[3], cost, hour_writes],
        )?;
        Ok((std::array::from_fn(|at| new[at] - old[at]), cost.unwrap_or(0) - old_cost.unwrap_or(0)))
    }

    fn add_other_session_title(&mut self, leaf: NativeKey, text: &str) -> Result<(), StoreError> {
        // Of several titles for one entry the alphabetically last one wins, whatever the order of reading.
        self.run(
            "INSERT INTO other_session_title (space, leaf_key, title) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET title = excluded.title, is_delivered = 0 WHERE excluded.title > title",
            params![self.space, leaf.as_stored(), text],
        )
    }

    fn put_episode(&mut self, session: SessionNumber, episode: &Episode) -> Result<(), StoreError> {
        let change = self.next_change();
        let span_starts = episode.part_starts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        self.run(
            "INSERT OR REPLACE INTO episode
             (space, session, number, id, first_seq, last_seq, span_starts, first_line, last_line, first_byte,
             last_byte, started_at, ended_at, tool_calls, tool_errors, kept_tokens, is_open, is_abandoned, change)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            params![
                self.space,
                session.0,
                episode.number as i64,
                episode.id,
                episode.first_seq as i64,
                episode.last_seq as i64,
                span_starts,
                episode.lines.0 as i64,
                episode.lines.1 as i64,
                episode.bytes.0 as i64,
                episode.bytes.1 as i64,
                episode.started_at.map(Timestamp::as_millis),
                episode.ended_at.map(Timestamp::as_millis),
                episode.tool_calls as i64,
                episode.tool_errors as i64,
                episode.kept_tokens as i64,
                episode.is_open,
                episode.is_abandoned,
                change,
            ],
        )
    }
}
