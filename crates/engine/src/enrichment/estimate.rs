//! Estimates what model-based fact extraction would cost for the transcripts a sync would read.

use std::collections::BTreeMap;

use rethread_model::{Tokens, estimate_byte_tokens};
use rethread_store::{ReadStore, UsageFilter, WorkCounts};

use super::ask_model::{CHUNK_BYTES, INSTRUCTION_TOKENS};
use crate::sync::{JobStart, TranscriptJob};
use crate::{EngineError, EnrichmentService, NanoUsd, SessionType};

/// Tokens kept per thousand transcript tokens when there is no data yet; measured, see the README.
const DEFAULT_KEPT_PER_MILLE: u64 = 34;
/// Typical tokens per answer.
const TYPICAL_ANSWER_TOKENS: u64 = 600;

/// Estimated cost for sessions of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrichmentEstimate {
    /// The kind of work; `None` if unknown before the sessions are read. Those are estimated with the average of all.
    pub kind: Option<SessionType>,
    /// Number of sessions.
    pub sessions: u64,
    /// Input plus output tokens.
    pub tokens: u64,
    /// Cost; `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
}

impl EnrichmentService<'_> {
    /// Estimates by kind of session for transcripts that would be read. `None` if no model is usable.
    pub(crate) fn estimates(
        self,
        store: Option<&ReadStore>,
        jobs: &[TranscriptJob],
    ) -> Result<Option<Vec<EnrichmentEstimate>>, EngineError> {
        let Ok(model) = self.model() else { return Ok(None) };
        let work = store.map(|store| store.work_counts(&UsageFilter::default())).transpose()?.unwrap_or_default();
        let mut by_kind: BTreeMap<Option<SessionType>, (u64, Tokens)> = BTreeMap::new();
        for job in jobs {
            let kind = match (&job.start, store) {
                (JobStart::Known(row) | JobStart::Reread(row), Some(store)) => match row.session {
                    Some(session) => store.session_work_counts(session)?.as_ref().map(SessionType::classify),
                    None => None,
                },
                _ => None,
            };
            let kept = expected_kept_tokens(&work, kind, estimate_byte_tokens(job.bytes_to_read()));
            let pieces = (kept * 4).div_ceil(CHUNK_BYTES).max(1);
            let (sessions, tokens) = by_kind.entry(kind).or_default();
            *sessions += 1;
            tokens.input += kept + pieces * INSTRUCTION_TOKENS;
            tokens.output += pieces * TYPICAL_ANSWER_TOKENS;
        }
        let price = model.chat.price();
        let estimates = by_kind.into_iter().map(|(kind, (sessions, tokens))| EnrichmentEstimate {
            kind,
            sessions,
            tokens: tokens.total(),
            cost: price.map(|price| price.cost(tokens)),
        });
        Ok(Some(estimates.collect()))
    }
}

/// Expected kept tokens out of `raw`, from measured sessions of the same kind, else of all sessions.
fn expected_kept_tokens(work: &[WorkCounts], kind: Option<SessionType>, raw: u64) -> u64 {
    let sums = |kind: Option<SessionType>| {
        let alike = work.iter().filter(|work| kind.is_none_or(|kind| SessionType::classify(work) == kind));
        alike.fold((0, 0), |(raw, kept), work| (raw + work.raw_tokens, kept + work.kept_tokens))
    };
    let measured = [kind, None].into_iter().map(sums).find(|(raw, _)| *raw > 0);
    let (of, kept) = measured.unwrap_or((1_000, DEFAULT_KEPT_PER_MILLE));
    let share = u128::from(raw) * u128::from(kept) / u128::from(of);
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_share_comes_from_the_same_kind_then_from_all_then_from_the_default() {
        // L003-17
        let talk = WorkCounts { messages: 4, raw_tokens: 1_000, kept_tokens: 200, ..WorkCounts::default() };
        let look = WorkCounts { messages: 4, tool_calls: 9, raw_tokens: 3_000, kept_tokens: 200, ..talk };
        let both = [talk, look];
        assert_eq!(expected_kept_tokens(&both, Some(SessionType::Chat), 500), 100);
        assert_eq!(expected_kept_tokens(&both, None, 500), 50);
        assert_eq!(
            expected_kept_tokens(&both, Some(SessionType::Debugging), 500),
            50,
            "no session of that kind was measured"
        );
        assert_eq!(expected_kept_tokens(&[], Some(SessionType::Chat), 1_000), DEFAULT_KEPT_PER_MILLE);
    }
}
