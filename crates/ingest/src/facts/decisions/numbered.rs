//! Questions with a number or letter each, and replies that answer them in the same way.

use rethread_model::clip;

use super::forms::{AnsweredForm, answered};
use super::prose::prose_lines;

/// Maximum number of questions in one text.
const MAX_QUESTIONS: usize = 10;
/// Maximum length of a stored question, in characters.
const MAX_TEXT_CHARS: usize = 160;
/// A longer answer is a text of its own.
const MAX_ANSWER_WORDS: usize = 14;
/// Letters count from here, so that `a)` is not `1)`.
const FIRST_LETTER: u32 = 101;

/// A numbered question that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberedQuestion {
    number: u32,
    text: String,
}

/// The numbered questions of a text; none if it has fewer than two.
pub(super) fn numbered_questions(text: &str) -> Vec<NumberedQuestion> {
    if !text.contains(['?', '？']) {
        return Vec::new();
    }
    let mut found: Vec<NumberedQuestion> = Vec::new();
    for line in prose_lines(text) {
        let line = line.trim_start_matches(['*', '#', '-', ' ', '(', 'Q', 'q']);
        let Some((number, rest)) = item_key(line).filter(|(_, rest)| rest.contains(['?', '？'])) else { continue };
        if found.iter().any(|one| one.number == number) {
            return Vec::new();
        }
        let text = clip(&rest.replace("**", ""), MAX_TEXT_CHARS).into_owned();
        found.push(NumberedQuestion { number, text });
    }
    if (2..=MAX_QUESTIONS).contains(&found.len()) { found } else { Vec::new() }
}

/// The answers of a reply to numbered questions, one per line or in one line: `1. yes 2) postgres`, `1 yes, 2 later`.
pub(super) fn numbered_answers(questions: &[NumberedQuestion], reply: &str) -> Vec<AnsweredForm> {
    let mut found: Vec<AnsweredForm> = Vec::new();
    // A reply that begins with something else may quote a list.
    let begins = reply.lines().map(str::trim).find(|line| !line.is_empty());
    if questions.is_empty() || begins.is_none_or(|line| answer_parts(questions, line).is_empty()) {
        return found;
    }
    for line in reply.lines() {
        let parts = answer_parts(questions, line.trim());
        for (at, (number, start)) in parts.iter().enumerate() {
            let end = parts.get(at + 1).map_or(line.trim().len(), |(_, next)| *next);
            let part = line.trim()[*start..end].trim_matches([' ', ',', ';']);
            let Some((_, answer)) = item_key(part).or_else(|| spaced_key(part)) else { continue };
            let answer = answer.trim_end_matches(" and");
            if let Some(question) = questions.iter().find(|question| question.number == *number)
                && answer.split_whitespace().count() <= MAX_ANSWER_WORDS
                && !repeats(&question.text, answer)
                && !found.iter().any(|known| known.question == question.text)
            {
                found.push(answered(&question.text, answer));
            }
        }
    }
    found
}

/// Where the answers in a line start. After the first one, only the number that comes next starts another.
fn answer_parts(questions: &[NumberedQuestion], line: &str) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    let mut follows_gap = true;
    for (at, c) in line.char_indices() {
        let rest = &line[at..];
        let key = follows_gap.then(|| item_key(rest).or_else(|| spaced_key(rest))).flatten();
        follows_gap = matches!(c, ' ' | ',' | ';' | '(' | '*');
        let Some((number, _)) = key.filter(|(number, _)| questions.iter().any(|one| one.number == *number)) else {
            continue;
        };
        let is_next = found
            .last()
            .map_or(at == 0 || line[..at].trim_matches(['(', '*', ' ']).is_empty(), |(last, _)| number == last + 1);
        if is_next {
            found.push((number, at));
        }
    }
    found
}

/// Whether a text consists mostly of words of the question: it was pasted back.
fn repeats(question: &str, answer: &str) -> bool {
    let question = question.to_lowercase();
    let words: Vec<&str> = answer.split_whitespace().collect();
    let known = words.iter().filter(|word| question.contains(&word.to_lowercase())).count();
    words.len() > 3 && known * 3 >= words.len() * 2
}

/// The number or letter at the start of a text, with its mark, and what follows: `2) text`, `b. text`.
fn item_key(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = bare_key(text)?;
    let rest = rest.trim_start_matches(['*', ' ']);
    let rest = rest.strip_prefix(['.', ')', ':', '-', '=', '–', '。', '、'])?;
    let is_version = rest.starts_with(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start_matches([' ', '*', '-', ')']);
    (!rest.is_empty() && !is_version).then_some((number, rest))
}

/// The number at the start of a text without a mark: `2 the small one`.
fn spaced_key(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = bare_key(text).filter(|(number, _)| *number < FIRST_LETTER)?;
    let rest = rest.strip_prefix(' ')?.trim_start();
    (!rest.is_empty()).then_some((number, rest))
}

fn bare_key(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let number = text.get(..digits)?.parse().ok().filter(|number| (1..=30).contains(number))?;
        return Some((number, &text[digits..]));
    }
    let letter =
        text.bytes().next().map(|byte| byte.to_ascii_lowercase()).filter(|byte| (b'a'..=b'h').contains(byte))?;
    Some((FIRST_LETTER + u32::from(letter - b'a'), &text[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(questions: &str, reply: &str) -> Vec<String> {
        numbered_answers(&numbered_questions(questions), reply).into_iter().map(|one| one.answer).collect()
    }

    #[test]
    fn answers_belong_to_the_questions_with_their_number() {
        let asked = "Before I start:\n1. Which database should we use?\n2. **Should we cache?**\n3) Anything else?";
        assert_eq!(numbered_questions(asked).len(), 3);
        for (reply, expected) in [
            ("1. postgres, 2) no", vec!["postgres", "no"]),
            ("1 - sqlite\n3: nothing", vec!["sqlite", "nothing"]),
            ("1 postgres, 2 only for keys, 3 later", vec!["postgres", "only for keys", "later"]),
            ("1. 3.11 is ok\n2. 2.0", vec!["3.11 is ok", "2.0"]),
            ("go ahead", vec![]),
        ] {
            assert_eq!(answers(asked, reply), expected, "{reply}");
        }
        assert_eq!(answers("a) How many?\nb) Should it reopen?", "a) 10\nb) no never"), ["10", "no never"]);
        assert!(numbered_questions("1. Read the file\n2. Is it there?").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_reply_is_accepted(reply in "[1-3a-cé日 .,)(:\n-]{0,30}") {
            answers("1. a?\n2. b?\n3. c?", &reply);
        }
    }
}
