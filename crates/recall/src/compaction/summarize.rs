//! Summarizes a plan's messages with a model, in as many requests as needed.

use rethread_model::clip;
use rethread_model::thread::ChatMessage;

use super::answer::{SummaryError, parse_summary};
use super::flat_text::{clip_middle, flatten_message};
use super::prompt::{SummaryPart, SummaryRequest, summary_request};
use super::{CompactionPlan, split_turn};

/// Minimum tokens of conversation per request, however small the model's window is.
const MIN_PORTION_TOKENS: u64 = 256;
/// Estimated characters per token.
const CHARS_PER_TOKEN: u64 = 4;

impl CompactionPlan {
    /// Asks a model for the summary. What does not fit into one request of `room_tokens` is sent in portions, each
    /// updating
    /// the summary so far.
    pub fn summarize<E>(
        &self,
        focus: Option<&str>,
        room_tokens: u64,
        ask: &mut dyn FnMut(&SummaryRequest) -> Result<String, E>,
    ) -> Result<String, SummaryError<E>> {
        let mut folding = SummaryFold { focus, room_tokens, allowed_tokens: self.max_summary_tokens, ask };
        let history = match folding.fold(SummaryPart::History, &self.history, self.previous_summary.as_deref())? {
            Some(summary) => summary,
            None => self.existing_summary(),
        };
        let prefix =
            folding.fold(SummaryPart::TurnPrefix, &self.turn_prefix, self.earlier_prefix_summary.as_deref())?;
        Ok(prefix.map_or_else(|| history.clone(), |prefix| split_turn::merge(&history, &prefix)))
    }

    /// The existing summary, used when only the beginning of the current turn is new.
    fn existing_summary(&self) -> String {
        match &self.previous_summary {
            Some(previous) if self.earlier_prefix_summary.is_some() => split_turn::split(previous).0.to_owned(),
            Some(previous) => previous.clone(),
            None => self.minimal_summary(),
        }
    }
}

struct SummaryFold<'a, E> {
    focus: Option<&'a str>,
    room_tokens: u64,
    allowed_tokens: u64,
    ask: &'a mut dyn FnMut(&SummaryRequest) -> Result<String, E>,
}

impl<E> SummaryFold<'_, E> {
    /// Summarizes the messages; `None` if they have no readable content.
    fn fold(
        &mut self,
        part: SummaryPart,
        messages: &[ChatMessage],
        previous: Option<&str>,
    ) -> Result<Option<String>, SummaryError<E>> {
        let texts: Vec<String> = messages.iter().map(flatten_message).filter(|text| !text.is_empty()).collect();
        let mut rest = &texts[..];
        let mut so_far = previous.map(str::to_owned);
        while !rest.is_empty() {
            // The previous summary must leave space for the new messages.
            let known = so_far.as_deref().map(|summary| clip(summary, chars_for_tokens(self.room_tokens) / 2));
            let frame = summary_request(part, "", known.as_deref(), self.focus).estimated_tokens();
            let free_tokens = self.room_tokens.saturating_sub(frame).max(MIN_PORTION_TOKENS);
            let (portion, taken) = next_portion(rest, chars_for_tokens(free_tokens));
            let request = summary_request(part, &portion, known.as_deref(), self.focus);
            let answer = (self.ask)(&request).map_err(SummaryError::ModelFailed)?;
            let summary = parse_summary(part, &answer, self.allowed_tokens);
            so_far = Some(summary.map_err(|reason| SummaryError::Unusable { reason })?);
            rest = &rest[taken..];
        }
        Ok(so_far.filter(|_| !texts.is_empty()))
    }
}

fn chars_for_tokens(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(CHARS_PER_TOKEN)).unwrap_or(usize::MAX)
}

/// Joins as many texts as fit; returns the joined text and their count. The first text is always included, cut if
/// needed.
fn next_portion(texts: &[String], characters: usize) -> (String, usize) {
    let mut portion = String::new();
    let mut left = characters;
    for (at, text) in texts.iter().enumerate() {
        let length = text.chars().count() + 1;
        if at == 0 && length > characters {
            return (clip_middle(text, characters.saturating_sub(NOTE_CHARS)).into_owned(), 1);
        }
        if length > left {
            return (portion, at);
        }
        if at > 0 {
            portion.push('\n');
        }
        portion.push_str(text);
        left -= length;
    }
    (portion, texts.len())
}

/// Characters reserved for the note on what was left out.
const NOTE_CHARS: usize = 48;
