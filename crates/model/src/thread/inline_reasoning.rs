//! Removes inline reasoning: `<think>…</think>` blocks that some models write at the start of an answer.
//!
//! Only blocks at the start count. An answer may well write about such tags further down.

/// Opening and closing tags.
const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Removes inline reasoning from a text that arrives in chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InlineReasoningFilter {
    state: FilterState,
    /// Text that may belong to a tag.
    held: String,
    has_removed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FilterState {
    /// Nothing but white space and reasoning so far.
    #[default]
    Start,
    /// Inside a block that ends with this tag.
    Inside(&'static str),
    /// In the text itself.
    Text,
}

impl InlineReasoningFilter {
    /// The part of the next chunk that is not reasoning. May hold text back until it is clear what it is.
    pub fn push(&mut self, chunk: &str) -> String {
        if self.state == FilterState::Text {
            return chunk.to_owned();
        }
        self.held.push_str(chunk);
        loop {
            match self.state {
                FilterState::Text => return std::mem::take(&mut self.held),
                FilterState::Inside(end) => {
                    let Some(at) = find_ignoring_case(&self.held, end) else {
                        // Only the beginning of the closing tag can still matter.
                        let keep = self.held.floor_char_boundary(self.held.len().saturating_sub(end.len()));
                        self.held.drain(..keep);
                        return String::new();
                    };
                    self.held.drain(..at + end.len());
                    (self.state, self.has_removed) = (FilterState::Start, true);
                }
                FilterState::Start => {
                    let text = self.held.trim_start();
                    let opened = TAGS.iter().find(|(start, _)| starts_ignoring_case(text, start));
                    if let Some((start, end)) = opened {
                        self.held = text[start.len()..].to_owned();
                        self.state = FilterState::Inside(end);
                    } else if TAGS.iter().any(|(start, _)| starts_ignoring_case(start, text)) {
                        return String::new();
                    } else {
                        self.end_start();
                    }
                }
            }
        }
    }

    /// What was held back, at the end of the text.
    pub fn finish(&mut self) -> String {
        match self.state {
            FilterState::Inside(_) => String::new(),
            FilterState::Start | FilterState::Text => {
                self.end_start();
                std::mem::take(&mut self.held)
            }
        }
    }

    fn end_start(&mut self) {
        if self.has_removed {
            self.held = self.held.trim_start().to_owned();
        }
        self.state = FilterState::Text;
    }
}

/// The text without inline reasoning. Also removes what precedes a closing tag on a line of its own, because some
/// servers leave out the opening one.
pub fn without_inline_reasoning(text: &str) -> String {
    let mut filter = InlineReasoningFilter::default();
    let mut rest = filter.push(text);
    rest.push_str(&filter.finish());
    for (start, end) in TAGS {
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            at += line.len();
            if line.trim().eq_ignore_ascii_case(end) && find_ignoring_case(&rest[..at], start).is_none() {
                return rest[at..].trim_start().to_owned();
            }
        }
    }
    rest
}

/// Whether a text starts with `start`; an empty text starts every text.
fn starts_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes().windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasoning_at_the_start_is_removed() {
        // D59, L004-04
        for (text, expect) in [
            ("<think>\nhm, 2 + 2\n</think>\n\nFour.", "Four."),
            ("\n<THINK>a</think><thinking>b</thinking>c", "c"),
            ("<think>never closed", ""),
            ("reasoning without a start\n</think>\n\nFour.", "Four."),
            ("Use `<think>` like <think>this</think>.", "Use `<think>` like <think>this</think>."),
            ("The tag </think> ends it.", "The tag </think> ends it."),
            ("  indented\n", "  indented\n"),
            ("<thin", "<thin"),
            ("", ""),
        ] {
            assert_eq!(without_inline_reasoning(text), expect, "{text:?}");
        }
    }

    #[test]
    fn chunks_of_any_size_give_the_same_text() {
        // D59
        for text in ["<think>läuft 日本</think>\n Ja.", "<b>bold</b>", " <think></think> x <think>y</think>", "<think>"]
        {
            let whole = {
                let mut filter = InlineReasoningFilter::default();
                filter.push(text) + &filter.finish()
            };
            let mut filter = InlineReasoningFilter::default();
            let mut parts: String = text.chars().map(|c| filter.push(&c.to_string())).collect();
            parts.push_str(&filter.finish());
            assert_eq!(parts, whole, "{text:?}");
            assert!(!parts.contains("läuft"));
        }
    }
}
