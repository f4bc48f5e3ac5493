//! A name for a thread, made by a model from what was said first. Nobody waits for it.

use rethread_llm::{ChatLimits, Request};
use rethread_model::thread::{ChatMessage, ChatRole, NameOrigin, Record, ThreadId};
use rethread_model::{clip, one_line};
use serde_json::json;

use crate::{Engine, EngineError};

const SYSTEM: &str = "You name conversations. Answer with a title of at most six words for the conversation you are \
                      given: no quotation marks, no full stop, nothing else. Do not continue the conversation.";
/// Words of a title.
const MOST_WORDS: usize = 6;
/// Characters of what was said that are shown to the model.
const LONGEST_TEXT: usize = 2_000;

impl Engine {
    /// Whether a model should name the thread: it was answered, and nobody has named it.
    pub fn thread_wants_title(&self, id: ThreadId) -> Result<bool, EngineError> {
        if !self.config.flag("threads.titles") || self.model_name().is_empty() {
            return Ok(false);
        }
        let metadata = self.threads().metadata(id)?;
        Ok(!metadata.title_was_asked && metadata.name_from < Some(NameOrigin::Model))
    }

    /// Asks the model for a name; nothing if there is no need, or no usable answer.
    pub fn thread_title(&self, id: ThreadId) -> Result<Option<String>, EngineError> {
        if !self.thread_wants_title(id)? {
            return Ok(None);
        }
        let Some(prompt) = first_exchange(&self.threads().read(id)?.records) else { return Ok(None) };
        let log = self.threads().open(id)?;
        let mut was_asked = false;
        // Several turns may end before the first of those they started gets here; one of them asks.
        let metadata = log.change(|metadata| was_asked = std::mem::replace(&mut metadata.title_was_asked, true))?;
        if was_asked {
            return Ok(None);
        }
        let chosen = metadata.model_is_chosen.then_some(metadata.model);
        let model = self.model(chosen.as_deref(), ChatLimits::PATIENT)?;
        let request = Request {
            system: Some(super::turn::marked(SYSTEM)),
            messages: vec![ChatMessage::user(prompt)],
            tools: Vec::new(),
            max_output_tokens: 256.min(model.max_output_tokens),
            purpose: "title",
        };
        let answer = model.chat.complete(&request, &self.books()?)?;
        let text: String = answer.content.iter().filter_map(|block| block.as_text()).collect::<Vec<_>>().join(" ");
        let Some(title) = usable(&text) else { return Ok(None) };
        let mut is_renamed = false;
        log.change(|metadata| {
            // The user may have named it meanwhile.
            if metadata.name_from < Some(NameOrigin::Model) {
                metadata.name = Some(title.clone());
                metadata.name_from = Some(NameOrigin::Model);
                is_renamed = true;
            }
        })?;
        drop(log);
        if !is_renamed {
            return Ok(None);
        }
        self.note("session_renamed", Some(id), &[("name", json!(title))]);
        self.thread_remember(id)?;
        Ok(Some(title))
    }
}

/// What was asked first, and what was answered.
fn first_exchange(records: &[Record]) -> Option<String> {
    let messages = || records.iter().filter_map(Record::message);
    let first = |role: ChatRole| messages().find(|message| message.role == role && !message.text().trim().is_empty());
    let asked = first(ChatRole::User)?.text();
    let answered = first(ChatRole::Assistant)?.text();
    Some(format!(
        "[User]: {}\n[Assistant]: {}\n\nGive the title of this conversation.",
        clip(&asked, LONGEST_TEXT),
        clip(&answered, LONGEST_TEXT)
    ))
}

/// A title as a name: one line, without quotes, not longer than it should be; nothing if that leaves nothing.
fn usable(text: &str) -> Option<String> {
    let line = text.trim().lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = one_line(line.trim_start_matches(['#', '*', ' ']).trim_start_matches("Title:"));
    let bare = line.trim_matches(|c: char| c.is_whitespace() || "\"'`*“”‘’.".contains(c));
    let words: Vec<&str> = bare.split(' ').filter(|word| !word.is_empty()).collect();
    // Whoever writes sentences instead of a title has not understood; the first words said are the better name.
    (1..=2 * MOST_WORDS).contains(&words.len()).then(|| words[..words.len().min(MOST_WORDS)].join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(usable(text).as_deref(), expect, "{text:?}");
    }

    #[test]
    fn e004_01_a_title_is_at_most_six_words() {
        check("\"Parser fails on Tuesdays.\"\n", Some("Parser fails on Tuesdays"));
        check("**Title: Weekday table**", Some("Weekday table"));
        check("One two three four five six seven", Some("One two three four five six"));
        check("", None);
        check(&"word ".repeat(40), None);
    }
}
