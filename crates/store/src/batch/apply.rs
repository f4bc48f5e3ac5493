//! Writes what the session assembler changed: entries, results, usage, episodes.

use rethread_model::{Episode, MessageUsage, NativeKey, SessionChanges, Tokens, ToolOutcome, TreeNode};

use super::{Batch, SessionNumber};
use crate::sql::{columns, values};
use crate::{StoreError, TranscriptNumber, sessions};

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
            self.insert_entry(session, transcript, new)?;
        }
        for (seq, outcome) in &changes.outcomes {
            self.set_result(session, *seq, outcome)?;
        }
        for path in &changes.edited_paths {
            self.add_edited_file(session, path)?;
        }
        for key in &changes.queue_steps {
            let step = columns! { session: session, step_key: key, transcript: transcript };
            self.insert_unless_known("queue_step", step)?;
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
            self.sql.run(
                "UPDATE entry SET is_retracted = TRUE WHERE space = ?1 AND session = ?2 AND seq = ?3",
                values![session, seq],
            )?;
        }
        for episode in changes.closed_episodes.iter().chain(open) {
            self.put_episode(session, episode)?;
        }
        for (seq, native_id, key) in &changes.renamed_entries {
            self.sql.run(
                "UPDATE entry SET native_id = ?4, native_key = ?5 WHERE space = ?1 AND session = ?2 AND seq = ?3",
                values![session, seq, native_id, key],
            )?;
            self.sql.run(
                "UPDATE episode SET id = ?4 WHERE space = ?1 AND session = ?2 AND first_seq = ?3",
                values![session, seq, native_id],
            )?;
        }
        for (number, errors) in &changes.late_errors {
            let change = self.next_change();
            self.sql.run(
                "UPDATE episode SET tool_errors = tool_errors + ?4, change = ?5
                 WHERE space = ?1 AND session = ?2 AND number = ?3",
                values![session, number, errors, change],
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
            self.sql.run(
                "UPDATE entry SET episode = ?4, is_abandoned = ?5 WHERE space = ?1 AND session = ?2 AND seq = ?3
                 AND (episode IS DISTINCT FROM ?4 OR is_abandoned <> ?5)",
                values![session, seq, episode, abandoned],
            )?;
        }
        self.delete_session_rows(["episode", "edited_file"], session)?;
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

    fn set_result(&mut self, session: SessionNumber, seq: u64, outcome: &ToolOutcome) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE entry SET status = ?4, summary = ?5, error = ?6, exit_code = ?7, output_lines = ?8,
             output_bytes = ?9, output = ?10 WHERE space = ?1 AND session = ?2 AND seq = ?3",
            values![
                session,
                seq,
                outcome.status.as_str(),
                outcome.summary,
                outcome.error,
                outcome.exit_code,
                outcome.lines,
                outcome.bytes,
                outcome.output,
            ],
        )
    }

    fn add_edited_file(&mut self, session: SessionNumber, path: &str) -> Result<(), StoreError> {
        self.insert_unless_known("edited_file", columns! { session: session, path: path })
    }

    fn add_node(&mut self, (session, transcript): EntrySource, node: &TreeNode) -> Result<(), StoreError> {
        let columns = columns! {
            session: session,
            node_key: node.id,
            line: node.line,
            parent_key: node.parent,
            lineage_key: node.lineage,
            transcript: transcript,
        };
        self.insert_unless_known("tree_node", columns)
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
        self.sql.run(
            "UPDATE session SET input_tokens = input_tokens + ?3, output_tokens = output_tokens + ?4,
             cache_read_tokens = cache_read_tokens + ?5, cache_write_tokens = cache_write_tokens + ?6,
             cost_nanos = CASE WHEN ?7 <> 0 THEN coalesce(cost_nanos, 0) + ?7 ELSE cost_nanos END
             WHERE space = ?1 AND number = ?2",
            values![session, tokens[0], tokens[1], tokens[2], tokens[3], cost],
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
        let is_new = self.insert_new(
            "usage",
            columns! {
                message_key: key,
                session: session,
                at: usage.at,
                model: usage.model,
                input_tokens: tokens[0],
                output_tokens: tokens[1],
                cache_read_tokens: tokens[2],
                cache_write_tokens: tokens[3],
                hour_write_tokens: hour_writes,
                cost_nanos: cost,
                transcript: transcript,
            },
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
        let before = self.sql.one(
            "SELECT input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos FROM usage
             WHERE space = ?1 AND message_key = ?2 AND session = ?3",
            values![key, session],
            |row| {
                let Tokens { input, output, cache_read, cache_write } = sessions::tokens(row)?;
                Ok(([input, output, cache_read, cache_write].map(|count| count as i64), row.opt_int("cost_nanos")?))
            },
        )?;
        let Some((old, old_cost)) = before else { return Ok(([0; 4], 0)) };
        let new: [i64; 4] = std::array::from_fn(|at| old[at].max(tokens[at]));
        let cost = cost.or(old_cost);
        self.sql.run(
            "UPDATE usage SET input_tokens = ?3, output_tokens = ?4, cache_read_tokens = ?5, cache_write_tokens = ?6,
             cost_nanos = ?7, hour_write_tokens = CASE WHEN hour_write_tokens > ?8 THEN hour_write_tokens ELSE ?8 END
             WHERE space = ?1 AND message_key = ?2",
            values![key, new[0], new[1], new[2], new[3], cost, hour_writes],
        )?;
        Ok((std::array::from_fn(|at| new[at] - old[at]), cost.unwrap_or(0) - old_cost.unwrap_or(0)))
    }

    fn add_other_session_title(&mut self, leaf: NativeKey, text: &str) -> Result<(), StoreError> {
        // Of several titles for one entry the alphabetically last one wins, whatever the order of reading.
        self.sql.run(
            "INSERT INTO other_session_title (space, leaf_key, title) VALUES (?1, ?2, ?3)
             ON CONFLICT (space, leaf_key) DO UPDATE SET title = excluded.title, is_delivered = FALSE
             WHERE excluded.title > other_session_title.title",
            values![leaf, text],
        )
    }

    fn put_episode(&mut self, session: SessionNumber, episode: &Episode) -> Result<(), StoreError> {
        let change = self.next_change();
        self.upsert(
            "episode",
            columns! { session: session, number: episode.number },
            columns! {
                id: episode.id,
                first_seq: episode.first_seq,
                last_seq: episode.last_seq,
                span_starts: episode.part_starts.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
                first_line: episode.lines.0,
                last_line: episode.lines.1,
                first_byte: episode.bytes.0,
                last_byte: episode.bytes.1,
                started_at: episode.started_at,
                ended_at: episode.ended_at,
                tool_calls: episode.tool_calls,
                tool_errors: episode.tool_errors,
                kept_tokens: episode.kept_tokens,
                is_open: episode.is_open,
                is_abandoned: episode.is_abandoned,
                change: change,
            },
        )
    }
}
