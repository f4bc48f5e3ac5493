//! Verifies that a quote occurs in a text, and returns the text's own wording.

use std::ops::Range;

use rethread_model::{clip, one_line};

/// Minimum length of a matching run, in words, unless it is the whole quote; shorter runs are chance.
const MIN_RUN_WORDS: usize = 4;
/// Minimum length of a matching run, in bytes, as an alternative to [`MIN_RUN_WORDS`].
const MIN_RUN_BYTES: usize = 12;
/// If not the whole quote matches, one run must cover this many tenths of its words.
const MIN_MATCH_TENTHS: usize = 6;
/// Words that an ellipsis may have cut: one at each end.
const CUT_WORDS: usize = 2;

/// The text's own wording of a quote, on one line and at most `limit` characters long; `None` if the quote does not
/// occur.
/// Whitespace, case, punctuation and Markdown may differ, and `…` may stand for omitted words.
pub(crate) fn verify_excerpt(text: &str, quoted: &str, limit: usize) -> Option<String> {
    let line = one_line(text);
    let words = word_ranges(&line);
    let quote = quoted.replace("...", "…");
    let longest = quote.split('…').map(|piece| self::word_ranges(piece).len()).max()?;
    let quote_words = self::word_ranges(&quote);
    let run = longest_run(&words, &line, &quote_words, &quote)?;
    let (first, last) = (words.get(run.start)?, words.get(run.end.checked_sub(1)?)?);
    let is_cut = quote.contains('…');
    let is_long = run.len() >= MIN_RUN_WORDS || last.end - first.start >= MIN_RUN_BYTES;
    let is_enough = match run.len() {
        length if length == quote_words.len() => true,
        // A shortened quote matches by its longest part, in which one word at each end may be cut.
        length if is_cut => {
            is_long && (length >= longest || (length >= MIN_RUN_WORDS && length + CUT_WORDS >= longest))
        }
        length => length >= MIN_RUN_WORDS && length * 10 >= quote_words.len() * MIN_MATCH_TENTHS,
    };
    is_enough.then(|| clip(with_punctuation(&line, first.start, last.end), limit).into_owned())
}

/// Extends the range to adjacent punctuation, such as quotes, brackets and a period.
fn with_punctuation(line: &str, start: usize, end: usize) -> &str {
    let before = line[..start].rfind(' ').map_or(0, |blank| blank + 1);
    let from = if line[before..start].chars().any(char::is_alphanumeric) { start } else { before };
    let after = line[end..].find(' ').map_or(line.len(), |blank| end + blank);
    let to = if line[end..after].chars().any(char::is_alphanumeric) { end } else { after };
    &line[from..to]
}

/// Byte ranges of the words: runs of letters and digits. In scripts without spaces every character is a word.
fn word_ranges(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let stands_alone = c >= '\u{2e80}';
        match words.last_mut() {
            _ if !c.is_alphanumeric() => is_open = false,
            Some(last) if is_open && !stands_alone => last.end = end,
            _ => {
                words.push(at..end);
                is_open = !stands_alone;
            }
        }
    }
    words
}

/// The longest run of words that also occurs in the quote, as a range of word indexes.
fn longest_run(words: &[Range<usize>], text: &str, quote_words: &[Range<usize>], quote: &str) -> Option<Range<usize>> {
    let lower = |text: &str, word: &Range<usize>| text[word.clone()].to_lowercase();
    let quoted: Vec<String> = quote_words.iter().map(|word| lower(quote, word)).collect();
    let mut lengths = vec![0_usize; quoted.len() + 1];
    let mut best: Option<Range<usize>> = None;
    for (at, word) in words.iter().enumerate() {
        let word = lower(text, word);
        for place in (0..quoted.len()).rev() {
            lengths[place + 1] = if quoted[place] == word { lengths[place] + 1 } else { 0 };
            let length = lengths[place + 1];
            if length > best.as_ref().map_or(0, Range::len) {
                best = Some(at + 1 - length..at + 1);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "The weekday table is built\n  in `src/parser.rs`, and **Tuesdays** are\tmissing (line 42).";

    fn check(quoted: &str, expect: Option<&str>) {
        assert_eq!(verify_excerpt(TEXT, quoted, 280).as_deref(), expect, "{quoted}");
    }

    #[test]
    fn a_quote_is_returned_in_the_texts_wording() {
        check("the weekday table is built in src/parser.rs", Some("The weekday table is built in `src/parser.rs`,"));
        check("“Tuesdays are missing”", Some("**Tuesdays** are missing"));
        check("missing (line 42)", Some("missing (line 42)."));
        check("Tuesdays", Some("**Tuesdays**"));
    }

    #[test]
    fn omissions_in_a_quote_are_accepted() {
        check("The weekday table is built … line 42", Some("The weekday table is built"));
        check("...the weekday table is bui...", Some("The weekday table is"));
    }

    #[test]
    fn a_nearly_correct_quote_is_corrected() {
        check("the weekday table is constructed", Some("The weekday table is"));
        check("the table of weekdays was made in the parser", None);
    }

    #[test]
    fn a_quote_that_does_not_occur_is_rejected() {
        check("Wednesdays are missing", None);
        check("Mondays", None);
        check("", None);
        check("…", None);
        check("***", None);
        check("… a … the …", None);
    }

    #[test]
    fn scripts_without_spaces_can_be_quoted_in_part() {
        assert_eq!(verify_excerpt("曜日の表が壊れている", "曜日の表", 280).as_deref(), Some("曜日の表"));
    }

    #[test]
    fn an_excerpt_never_exceeds_its_limit() {
        let text = "word ".repeat(200);
        assert_eq!(verify_excerpt(&text, &text, 280).map(|excerpt| excerpt.chars().count()), Some(280));
    }

    proptest! {
        #[test]
        fn any_words_of_a_text_are_found_in_it(text in "[a-zà-ü日本 .,\n]{1,80}", from in 0_usize..40, length in 1_usize..40) {
            let part: String = text.chars().skip(from).take(length).collect();
            let whole: Vec<&str> = part.split_whitespace().collect();
            // The first and the last word may be cut, so they are not guaranteed to match.
            if whole.len() > 2 {
                let quoted = whole[1..whole.len() - 1].join("  ");
                if !word_ranges(&quoted).is_empty() {
                    prop_assert!(verify_excerpt(&text, &quoted, 280).is_some());
                }
            }
        }

        #[test]
        fn no_quote_panics(text in any::<String>(), quoted in any::<String>()) {
            let _ = verify_excerpt(&text, &quoted, 280);
        }
    }
}
