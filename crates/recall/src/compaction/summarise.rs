//! Has a plan's messages summarised, in as many requests as it takes.

use rethread_model::clip;
use rethread_model::thread::ChatMessage;

use super::answer::{SummaryError, summary_in};
use super::flat::{flat, without_middle};
use super::prompt::{Part, SummaryRequest, request};
use super::{Plan, turn};

/// Tokens of conversation a request holds at least, however little room there is.
const SMALLEST_PORTION: u64 = 256;
/// Characters a token is taken for.
const CHARACTERS: u64 = 4;

impl Plan {
    /// Asks for the summary. What does not fit into one request of `room_tokens` is asked for in portions, each an
    /// update of the summary so far.
    pub fn summarise<E>(
        &self,
        focus: Option<&str>,
        room_tokens: u64,
        ask: &mut dyn FnMut(&SummaryRequest) -> Result<String, E>,
    ) -> Result<String, SummaryError<E>> {
        let mut folding = Folding { focus, room_tokens, allowed_tokens: self.summary_tokens, ask };
        let history = match folding.fold(Part::History, &self.history, self.previous.as_deref())? {
            Some(summary) => summary,
            None => self.summary_of_no_history(),
        };
        let prefix = folding.fold(Part::TurnPrefix, &self.prefix, self.earlier_prefix.as_deref())?;
        Ok(prefix.map_or_else(|| history.clone(), |prefix| turn::merged(&history, &prefix)))
    }

    /// What stands above the summary of a turn's beginning when nothing before that turn is new.
    fn summary_of_no_history(&self) -> String {
        match &self.previous {
            Some(previous) if self.earlier_prefix.is_some() => turn::parted(previous).0.to_owned(),
            Some(previous) => previous.clone(),
            None => self.barest_summary(),
        }
    }
}

struct Folding<'a, E> {
    focus: Option<&'a str>,
    room_tokens: u64,
    allowed_tokens: u64,
    ask: &'a mut dyn FnMut(&SummaryRequest) -> Result<String, E>,
}

impl<E> Folding<'_, E> {
    /// The summary of the messages, or none if there is nothing in them to read.
    fn fold(
        &mut self,
        part: Part,
        messages: &[ChatMessage],
        previous: Option<&str>,
    ) -> Result<Option<String>, SummaryError<E>> {
        let texts: Vec<String> = messages.iter().map(flat).filter(|text| !text.is_empty()).collect();
        let mut rest = &texts[..];
        let mut so_far = previous.map(str::to_owned);
        while !rest.is_empty() {
            // The summary must leave room for what it is to be updated with.
            let known = so_far.as_deref().map(|summary| clip(summary, characters(self.room_tokens) / 2));
            let frame = request(part, "", known.as_deref(), self.focus).estimated_tokens();
            let room = self.room_tokens.saturating_sub(frame).max(SMALLEST_PORTION);
            let (portion, taken) = portion(rest, characters(room));
            let asked = request(part, &portion, known.as_deref(), self.focus);
            let answer = (self.ask)(&asked).map_err(SummaryError::Asked)?;
            let summary = summary_in(part, &answer, self.allowed_tokens);
            so_far = Some(summary.map_err(|reason| SummaryError::Unusable { reason })?);
            rest = &rest[taken..];
        }
        Ok(so_far.filter(|_| !texts.is_empty()))
    }
}

fn characters(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(CHARACTERS)).unwrap_or(usize::MAX)
}

/// As many of the texts as fit, and how many they are. The first always does; if it has to, it is cut.
fn portion(texts: &[String], characters: usize) -> (String, usize) {
    let mut portion = String::new();
    let mut left = characters;
    for (at, text) in texts.iter().enumerate() {
        let length = text.chars().count() + 1;
        if at == 0 && length > characters {
            return (without_middle(text, characters.saturating_sub(NOTE)).into_owned(), 1);
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

/// Characters for the note on what was left out.
const NOTE: usize = 48;
