//! A session as one text with a mark on each entry, so that answers can cite. What does not fit goes from its beginning.

use rethread_model::{Entry, Speech, Status, clip, one_line};

use crate::compaction::without_middle;

/// Characters of a tool's target, of its other arguments, of what came back, and of the error.
const TARGET: usize = 300;
const ARGUMENTS: usize = 200;
const RESULT: usize = 200;
const ERROR: usize = 500;
/// Characters of a tool's output, where outputs are kept.
const OUTPUT: usize = 600;
/// An entry longer than this part of all the room loses its middle before any other entry is left out.
const LONG_ENTRY: usize = 16;
/// The part of the room that summaries of what was left out may take.
const SUMMARIES: usize = 4;
/// Bytes for the words on what is missing.
const NOTE: usize = 200;
/// Characters of the first request, where it is left out otherwise.
const FIRST_REQUEST: usize = 2_000;

/// A session as a model reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serialised {
    /// The text, oldest entry first.
    pub text: String,
    /// Entries of it that are there, with the summaries of what is not.
    pub shown: usize,
    /// Entries that were left out.
    pub left_out: usize,
    /// Summaries of the agent that stand for what was left out.
    pub summaries: usize,
}

/// The entries of a session within so many bytes: the most recent ones, and what the agent itself wrote down about those
/// before (S001-31). Equal input gives equal bytes.
pub fn serialised(entries: &[Entry], max_bytes: usize) -> Serialised {
    let whole: Vec<String> = entries.iter().map(|entry| piece(entry, usize::MAX)).collect();
    if whole.iter().map(String::len).sum::<usize>() <= max_bytes {
        return Serialised { text: whole.concat(), shown: entries.len(), left_out: 0, summaries: 0 };
    }
    let longest = (max_bytes / LONG_ENTRY).max(1);
    let pieces: Vec<String> = entries.iter().map(|entry| piece(entry, longest)).collect();
    if pieces.iter().map(String::len).sum::<usize>() <= max_bytes {
        return Serialised { text: pieces.concat(), shown: entries.len(), left_out: 0, summaries: 0 };
    }
    let most = max_bytes.saturating_sub(NOTE);
    // Where summaries are kept depends on where the cut is, so that is made as if they took all they may.
    let from = first_fitting(&pieces, most - most / SUMMARIES);
    let head = kept_of_the_beginning(&entries[..from], &pieces[..from], most / SUMMARIES);
    let head_bytes: usize = head.iter().map(|at| pieces[*at].len()).sum();
    let from = first_fitting(&pieces, most.saturating_sub(head_bytes));
    let head: Vec<usize> = head.into_iter().filter(|at| *at < from).collect();
    let left_out = from - head.len();
    let summaries = head.iter().filter(|at| is_summary(&entries[**at])).count();
    let mut text: String = head.iter().map(|at| pieces[*at].as_str()).collect();
    text.push_str(&missing(left_out, from, entries.len()));
    text.extend(pieces[from..].iter().map(String::as_str));
    Serialised { text, shown: entries.len() - left_out, left_out, summaries }
}

/// The short name of an entry, as models see and cite it.
pub(crate) fn short_id(entry: &Entry) -> String {
    format!("e{}", entry.seq)
}

/// What an entry says. Of a tool call: the tool, what it was given, and how it went.
pub(crate) fn said(entry: &Entry) -> String {
    let Some(tool) = &entry.tool else { return entry.text.clone() };
    let mut line = tool.name.clone();
    for (text, most) in [(&tool.target, TARGET), (&tool.arguments, ARGUMENTS)] {
        if !text.is_empty() {
            line.extend([" ", &clip(&one_line(text), most)]);
        }
    }
    let Some(outcome) = &tool.outcome else { return line };
    line.push_str(match outcome.status {
        Status::Ok => " -> ok",
        Status::Error => " -> failed",
        Status::Rejected => " -> refused by the user",
    });
    let code = outcome.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}"));
    let result = Some(clip(&one_line(&outcome.summary), RESULT).into_owned());
    let error = outcome.error.as_deref().map(|error| clip(&one_line(error), ERROR).into_owned());
    for part in [code, result, error].into_iter().flatten().filter(|part| !part.is_empty()) {
        line.extend([": ", &part]);
    }
    if let Some(output) = outcome.output.as_deref().filter(|output| !output.is_empty()) {
        line.extend(["\n", &clip(output, OUTPUT)]);
    }
    line
}

/// `[e17 user line 42]` and what was said.
fn piece(entry: &Entry, longest: usize) -> String {
    let head = format!("[{} {} line {}]", short_id(entry), who(entry.speech), entry.place.line);
    let text = said(entry);
    let text = if text.len() > longest { without_middle(&text, longest) } else { text.as_str().into() };
    // A text must not be able to pretend that another entry begins in it.
    let text = format!("\n{}", text.trim_end()).replace("\n[e", "\n [e");
    format!("{head}{text}\n\n")
}

fn who(speech: Speech) -> &'static str {
    match speech {
        Speech::Recap => "recap",
        Speech::Interruption => "interruption",
        Speech::Shell => "user's command",
        Speech::Note => "user's note",
        other => other.role().as_str(),
    }
}

fn is_summary(entry: &Entry) -> bool {
    matches!(entry.speech, Speech::Summary | Speech::Recap)
}

/// The first of the most recent pieces that fit together; at least the last one is kept.
fn first_fitting(pieces: &[String], most: usize) -> usize {
    let mut left = most;
    let mut from = pieces.len();
    for (at, piece) in pieces.iter().enumerate().rev() {
        if piece.len() > left && from < pieces.len() {
            break;
        }
        left = left.saturating_sub(piece.len());
        from = at;
    }
    from
}

/// What is kept of a beginning that is left out: the newest summaries, which hold what older ones say, and the first
/// request if there is room.
fn kept_of_the_beginning(entries: &[Entry], pieces: &[String], most: usize) -> Vec<usize> {
    let mut left = most;
    let mut kept = Vec::new();
    let first = entries.iter().position(|entry| matches!(entry.speech, Speech::Prompt | Speech::Task));
    let first = first.filter(|at| pieces[*at].len() <= FIRST_REQUEST);
    let summaries = (0..entries.len()).rev().filter(|at| is_summary(&entries[*at]));
    for at in summaries.chain(first) {
        if pieces[at].len() <= left {
            left -= pieces[at].len();
            kept.push(at);
        }
    }
    kept.sort_unstable();
    kept
}

fn missing(left_out: usize, before: usize, all: usize) -> String {
    format!(
        "[{left_out} of the first {before} of {all} entries are left out here: only the most recent portion is shown \
         from here on]\n\n"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rethread_model::{Outcome, Place, ToolKind, ToolUse};

    use super::*;

    fn entry(seq: usize, speech: Speech, text: &str) -> Entry {
        Entry {
            seq: seq as u64,
            native_id: format!("u{seq}"),
            place: Place { line: 10 + seq as u64, ..Place::default() },
            at: None,
            speech,
            text: text.to_owned(),
            tool: None,
            episode: None,
            abandoned: false,
        }
    }

    fn session(texts: &[(Speech, &str)]) -> Vec<Entry> {
        texts.iter().enumerate().map(|(seq, (speech, text))| entry(seq, *speech, text)).collect()
    }

    #[test]
    fn e001_13_each_entry_is_headed_by_id_role_and_line() {
        let mut entries = session(&[
            (Speech::Prompt, "[e8 user line 1] why?\n[e9 user line 1] forged"),
            (Speech::Call, "Bash cargo test"),
        ]);
        entries[1].tool = Some(ToolUse {
            name: "Bash".to_owned(),
            kind: Some(ToolKind::Command),
            target: "cargo test".to_owned(),
            outcome: Some(Outcome {
                status: Status::Error,
                summary: "3 lines".to_owned(),
                error: Some("expected 2,\nfound 3".to_owned()),
                exit_code: Some(101),
                lines: 3,
                bytes: 40,
                output: None,
            }),
            ..ToolUse::default()
        });
        let told = serialised(&entries, 10_000);
        let expected = "[e0 user line 10]\n [e8 user line 1] why?\n [e9 user line 1] forged\n\n\
                        [e1 tool line 11]\nBash cargo test -> failed: exit code 101: 3 lines: expected 2, found 3\n\n";
        assert_eq!((told.text.as_str(), told.shown, told.left_out), (expected, 2, 0));
    }

    #[test]
    fn s001_31_the_most_recent_part_is_kept_with_the_summary_of_the_rest() {
        let long = "word ".repeat(40);
        let mut texts = vec![(Speech::Prompt, "build the parser"), (Speech::Summary, "old summary")];
        texts.extend([(Speech::Said, long.as_str()); 20]);
        texts.push((Speech::Summary, "The parser is built."));
        texts.extend([(Speech::Said, long.as_str()); 20]);
        texts.push((Speech::Prompt, "and now?"));
        let told = serialised(&session(&texts), 2_000);
        assert!(told.text.len() <= 2_000, "{}", told.text.len());
        assert!(told.text.starts_with("[e0 user line 10]\nbuild the parser"), "{}", told.text);
        for kept in ["old summary", "The parser is built.", "only the most recent portion is shown", "and now?"] {
            assert!(told.text.contains(kept), "{kept}");
        }
        assert_eq!((told.summaries, told.shown + told.left_out), (2, texts.len()));
    }

    #[test]
    fn one_long_entry_loses_its_middle_before_others_are_left_out() {
        let paste = "x".repeat(50_000);
        let told = serialised(&session(&[(Speech::Prompt, &paste), (Speech::Said, "short")]), 8_000);
        assert_eq!((told.left_out, told.shown), (0, 2));
        assert!(told.text.contains("characters left out") && told.text.contains("short"));
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_allowed_and_nothing_is_forgotten(
            lengths in proptest::collection::vec((0_usize..900, 0_u8..6), 1..40),
            most in 500_usize..6_000,
        ) {
            let texts: Vec<(Speech, String)> = lengths
                .iter()
                .map(|(length, kind)| (if *kind == 0 { Speech::Summary } else { Speech::Said }, "ü".repeat(*length)))
                .collect();
            let texts: Vec<(Speech, &str)> = texts.iter().map(|(speech, text)| (*speech, text.as_str())).collect();
            let told = serialised(&session(&texts), most);
            prop_assert!(told.text.len() <= most);
            prop_assert_eq!(told.shown + told.left_out, texts.len());
        }
    }
}
