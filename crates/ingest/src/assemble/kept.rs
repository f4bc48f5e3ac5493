//! Completes a session with entries that its transcripts no longer have.

use std::collections::BTreeMap;

use rethread_model::{EntryKind, Timestamp};

use super::{AssemblerState, SessionAssembler, SessionInfo};

/// What a session keeps although it was not read again.
#[derive(Debug)]
pub struct KeptEntries<'a> {
    /// The assembler state before the transcripts were read again, as JSON.
    pub earlier_state: Option<&'a str>,
    /// The new `seq` of each entry that was read again.
    pub new_seqs: &'a BTreeMap<u64, u64>,
    /// Number of entries of the session.
    pub entries: u64,
    /// Whether entries of a transcript that was not read are among them, so that what that transcript said of the
    /// session still counts.
    pub has_unread: bool,
    /// All prompts, tasks and commands, in order.
    pub spoken: &'a [(EntryKind, String, Option<Timestamp>)],
}

impl SessionAssembler {
    /// Continues with the kept entries in place. Episodes have to be rebuilt afterwards.
    pub fn adopt_kept(&mut self, kept: &KeptEntries<'_>) {
        let new_seq = |seq: u64| kept.new_seqs.get(&seq).copied();
        let state = &mut self.state;
        state.next_seq = kept.entries;
        state.calls = std::mem::take(&mut state.calls)
            .into_iter()
            .filter_map(|(call, seq, episode)| Some((call, new_seq(seq)?, episode)))
            .collect();
        state.prompt_queue.renumber(&new_seq);
        if !kept.has_unread {
            return;
        }
        let earlier: AssemblerState =
            kept.earlier_state.and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default();
        let info = std::mem::take(&mut state.info);
        state.info = merge_info(earlier.info, info);
        state.leaf = state.leaf.or(earlier.leaf);
        // What was read now is a part of what was read then.
        state.orphan_errors = state.orphan_errors.max(earlier.orphan_errors);
        for (line, conversation) in earlier.subagent_conversations {
            state.subagent_conversations.entry(line).or_insert(conversation);
        }
        state.titles.complete_from(earlier.titles);
        (state.real_prompts, state.warm_ups) = (0, 0);
        for (kind, text, at) in kept.spoken {
            if matches!(kind, EntryKind::Prompt | EntryKind::Task) {
                self.count_prompt(text);
            }
            let info = &mut self.state.info;
            info.started_at = info.started_at.map_or(*at, |start| Some(at.map_or(start, |at| start.min(at))));
            info.last_activity_at = info.last_activity_at.max(*at);
        }
    }
}

/// The start comes from the part that began first, the latest state from the part that ended last.
fn merge_info(earlier: SessionInfo, now: SessionInfo) -> SessionInfo {
    let started_first = |info: &SessionInfo| info.started_at.map_or(i64::MAX, Timestamp::as_millis);
    let (first, second) = if started_first(&earlier) <= started_first(&now) { (earlier, now) } else { (now, earlier) };
    let is_second_later = second.last_activity_at >= first.last_activity_at;
    let later = |first: Option<String>, second: Option<String>| {
        if is_second_later { second.or(first) } else { first.or(second) }
    };
    SessionInfo {
        cwd: first.cwd.or(second.cwd),
        branch: later(first.branch, second.branch),
        model: later(first.model, second.model),
        started_at: first.started_at.or(second.started_at),
        last_activity_at: first.last_activity_at.max(second.last_activity_at),
        forked_from: first.forked_from.or(second.forked_from),
        parent_id: first.parent_id.or(second.parent_id),
        copied_entry: first.copied_entry.or(second.copied_entry),
    }
}
