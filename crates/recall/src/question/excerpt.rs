//! Whether what was quoted stands in a text, and how it really reads there.

use std::ops::Range;

use rethread_model::{clip, one_line};

/// Shorter runs of words that agree are chance, unless they are all that was quoted.
const FEWEST_WORDS: usize = 4;
/// Or they are at least so long.
const FEWEST_BYTES: usize = 12;
/// A quote whose words do not all agree must agree in so many of ten, in one run.
const NEARLY: usize = 6;
/// Words that a cut may have damaged: one at each end.
const DAMAGED: usize = 2;

/// The real text of a quote, on one line and at most so many characters long; nothing if it does not stand there. Blanks,
/// case, punctuation and marks of Markdown may differ, and words may be left out where `…` says so.
pub(crate) fn real_excerpt(text: &str, quoted: &str, most: usize) -> Option<String> {
    let line = one_line(text);
    let words = words(&line);
    let quote = quoted.replace("...", "…");
    let longest = quote.split('…').map(|piece| self::words(piece).len()).max()?;
    let asked = self::words(&quote);
    let run = longest_run(&words, &line, &asked, &quote)?;
    let (first, last) = (words.get(run.start)?, words.get(run.end.checked_sub(1)?)?);
    let is_cut = quote.contains('…');
    let is_long = run.len() >= FEWEST_WORDS || last.end - first.start >= FEWEST_BYTES;
    let is_enough = match run.len() {
        length if length == asked.len() => true,
        // Shortened quotes are known by their longest piece; one word of it may be cut at each end.
        length if is_cut => is_long && (length >= longest || (length >= FEWEST_WORDS && length + DAMAGED >= longest)),
        length => length >= FEWEST_WORDS && length * 10 >= asked.len() * NEARLY,
    };
    is_enough.then(|| clip(with_signs(&line, first.start, last.end), most).into_owned())
}

/// The stretch with the signs that touch it, such as quotes, brackets and a full stop.
fn with_signs(line: &str, start: usize, end: usize) -> &str {
    let before = line[..start].rfind(' ').map_or(0, |blank| blank + 1);
    let from = if line[before..start].chars().any(char::is_alphanumeric) { start } else { before };
    let after = line[end..].find(' ').map_or(line.len(), |blank| end + blank);
    let to = if line[end..after].chars().any(char::is_alphanumeric) { end } else { after };
    &line[from..to]
}

/// Where the words stand: runs of letters and digits. Scripts without blanks have one word for each sign.
fn words(text: &str) -> Vec<Range<usize>> {
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

/// The longest run of words of the text that stands in the quote too, as numbers of the text's words.
fn longest_run(words: &[Range<usize>], text: &str, asked: &[Range<usize>], quote: &str) -> Option<Range<usize>> {
    let lower = |text: &str, word: &Range<usize>| text[word.clone()].to_lowercase();
    let quoted: Vec<String> = asked.iter().map(|word| lower(quote, word)).collect();
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
        assert_eq!(real_excerpt(TEXT, quoted, 280).as_deref(), expect, "{quoted}");
    }

    #[test]
    fn what_stands_there_is_told_as_it_stands_there() {
        check("the weekday table is built in src/parser.rs", Some("The weekday table is built in `src/parser.rs`,"));
        check("“Tuesdays are missing”", Some("**Tuesdays** are missing"));
        check("missing (line 42)", Some("missing (line 42)."));
        check("Tuesdays", Some("**Tuesdays**"));
    }

    #[test]
    fn what_was_left_out_of_a_quote_is_no_lie() {
        check("The weekday table is built … line 42", Some("The weekday table is built"));
        check("...the weekday table is bui...", Some("The weekday table is"));
    }

    #[test]
    fn nearly_is_enough_and_the_real_text_is_told() {
        check("the weekday table is constructed", Some("The weekday table is"));
        check("the table of weekdays was made in the parser", None);
    }

    #[test]
    fn what_does_not_stand_there_is_nothing() {
        check("Wednesdays are missing", None);
        check("Mondays", None);
        check("", None);
        check("…", None);
        check("***", None);
        check("… a … the …", None);
    }

    #[test]
    fn scripts_without_blanks_can_be_quoted_in_part() {
        assert_eq!(real_excerpt("曜日の表が壊れている", "曜日の表", 280).as_deref(), Some("曜日の表"));
    }

    #[test]
    fn an_excerpt_is_never_longer_than_allowed() {
        let text = "word ".repeat(200);
        assert_eq!(real_excerpt(&text, &text, 280).map(|excerpt| excerpt.chars().count()), Some(280));
    }

    proptest! {
        #[test]
        fn any_words_of_a_text_are_found_in_it(text in "[a-zà-ü日本 .,\n]{1,80}", from in 0_usize..40, length in 1_usize..40) {
            let part: String = text.chars().skip(from).take(length).collect();
            let whole: Vec<&str> = part.split_whitespace().collect();
            // The first and the last word may be cut, so they are not promised.
            if whole.len() > 2 {
                let quoted = whole[1..whole.len() - 1].join("  ");
                if !words(&quoted).is_empty() {
                    prop_assert!(real_excerpt(&text, &quoted, 280).is_some());
                }
            }
        }

        #[test]
        fn no_quote_makes_it_panic(text in any::<String>(), quoted in any::<String>()) {
            let _ = real_excerpt(&text, &quoted, 280);
        }
    }
}
