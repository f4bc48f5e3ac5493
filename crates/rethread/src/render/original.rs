//! What a transcript has about a tool call, below its line: diffs, the whole command, output folded to head and tail.

use std::collections::{BTreeMap, HashMap};

use rethread_engine::{DiffHunk, DiffKind, DiffSign, FileDiff, OriginalCall, OriginalEntry, OriginalProblem};
use rethread_model::{Entry, Session, ToolKind, ToolUse, counted};

use super::format::{count, number};
use super::highlighted_diff::{code_line, highlighted_rows};
use super::show::relative_path;
use super::syntax::SyntaxKind;
use super::{TextPage, Tone, sanitize_line};

/// Lines of an output that are shown from its start and from its end.
const SHOWN_OUTPUT_LINES: usize = 12;
/// Rows of a file's diff that are shown.
pub(crate) const SHOWN_DIFF_ROWS: usize = 120;
/// Lines of a command or an argument that are shown.
const SHOWN_ARGUMENT_LINES: usize = 20;
/// Characters of a line. Longer ones are mostly data.
pub(crate) const MAX_ROW_CHARS: usize = 400;
const INDENT: &str = "    ";

/// A text without its middle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoldedText {
    pub(crate) head: Vec<String>,
    /// Lines between head and tail.
    pub(crate) hidden: u64,
    pub(crate) tail: Vec<String>,
}

impl FoldedText {
    /// The lines that are shown, with a note in place of the others.
    pub(crate) fn shown_lines(&self) -> Vec<String> {
        let line = |line: &String| code_line(line, MAX_ROW_CHARS);
        let note = (self.hidden > 0).then(|| format!("⋮ {} hidden", count(self.hidden, "line")));
        self.head.iter().map(line).chain(note).chain(self.tail.iter().map(line)).collect()
    }

    /// Keeps up to `shown` lines from the start and from the end. Nothing is hidden if that would save little.
    pub(crate) fn new(text: &str, shown: usize) -> Self {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        if lines.len() <= shown.saturating_mul(2).saturating_add(2) {
            return Self { head: owned(&lines), ..Self::default() };
        }
        let end = lines.len() - shown;
        Self { head: owned(&lines[..shown]), hidden: (end - shown) as u64, tail: owned(&lines[end..]) }
    }
}

/// How much is shown of what a transcript has about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallDetail {
    /// The first rows of what it changed.
    Changes { max_rows: usize },
    /// Arguments, what it changed and what it returned.
    Everything,
}

/// The originals of the entries of a log. Outputs are folded as they come, because a session can have gigabytes.
#[derive(Debug, Default)]
pub(crate) struct LogOriginals {
    found: HashMap<u64, (OriginalEntry, FoldedText)>,
    problems: BTreeMap<&'static str, (OriginalProblem, u64)>,
    /// The entry whose output is shown whole.
    unfolded: Option<u64>,
}

impl LogOriginals {
    pub(crate) fn unfolding(line: Option<u64>) -> Self {
        Self { unfolded: line, ..Self::default() }
    }

    pub(crate) fn add(&mut self, entry: &Entry, original: Result<OriginalEntry, OriginalProblem>) {
        match original {
            Err(problem) => self.problems.entry(problem.as_str()).or_insert((problem, 0)).1 += 1,
            Ok(mut original) => {
                let shown = if self.unfolded == Some(entry.location.line) { usize::MAX } else { SHOWN_OUTPUT_LINES };
                let output = original.call.as_mut().and_then(|call| call.output.take());
                let output = FoldedText::new(output.as_deref().unwrap_or_default(), shown);
                self.found.insert(entry.seq, (original, output));
            }
        }
    }

    /// The whole text of a message, if the store has less of it.
    pub(crate) fn text(&self, entry: &Entry) -> Option<&str> {
        let (original, _) = self.found.get(&entry.seq)?;
        Some(original.text.as_str()).filter(|text| text.len() > entry.text.len())
    }

    /// Whether the output of a call is known, which says more than the line that is stored of an error.
    pub(crate) fn has_output(&self, entry: &Entry) -> bool {
        self.found.get(&entry.seq).is_some_and(|(_, output)| !output.head.is_empty())
    }

    /// What the transcript has about a call, without its output, which is folded.
    pub(crate) fn call(&self, entry: &Entry) -> Option<(&OriginalCall, &FoldedText)> {
        let (original, output) = self.found.get(&entry.seq)?;
        original.call.as_ref().filter(|call| !call.hides_secrets).map(|call| (call, output))
    }

    /// Renders why originals are missing.
    pub(crate) fn render_problems(&self, page: &mut TextPage) {
        for (problem, entries) in self.problems.values() {
            let is = if *entries == 1 { "is" } else { "are" };
            let entries = counted(*entries, "entry", "entries");
            page.line(Tone::Warning, &match problem {
                OriginalProblem::Changed => format!(
                    "{entries} {is} no longer in the transcript; showing what is stored (if it changed: `rethread sync`)"
                ),
                _ => format!("{entries}: {problem}"),
            });
        }
    }

    /// Renders what the transcript has about a call; whether it has anything.
    pub(crate) fn render_call(
        &self,
        page: &mut TextPage,
        entry: &Entry,
        (tool, session): (&ToolUse, &Session),
        detail: CallDetail,
    ) -> bool {
        let Some((OriginalEntry { call: Some(call), .. }, output)) = self.found.get(&entry.seq) else { return false };
        let is_failed = tool.outcome.as_ref().is_none_or(|outcome| outcome.status.is_error());
        if let CallDetail::Changes { max_rows } = detail {
            for change in call.changes.iter().filter(|_| !call.hides_secrets) {
                // The line of the call names its file.
                if call.changes.len() > 1 || change.path != tool.target {
                    diff_heading(page, change, is_failed, session);
                }
                diff_body(page, change, max_rows);
            }
            return true;
        }
        if call.hides_secrets {
            page.line(Tone::Dim, &format!("{INDENT}not shown: this file may hold secrets"));
            return true;
        }
        arguments(page, call, tool);
        for change in &call.changes {
            diff_heading(page, change, is_failed, session);
            diff_body(page, change, SHOWN_DIFF_ROWS);
        }
        // What an edit changed says more than the agent's note that it did so.
        if call.changes.is_empty() || is_failed {
            folded(page, Tone::Dim, output, ["│"; 2]);
        }
        true
    }
}

/// The command and the arguments that do not fit on the line of the call.
fn arguments(page: &mut TextPage, call: &OriginalCall, tool: &ToolUse) {
    if let Some(command) = call.command.as_deref().filter(|command| *command != tool.target) {
        folded(page, Tone::Plain, &FoldedText::new(command, SHOWN_ARGUMENT_LINES), ["$", ">"]);
    }
    let is_plain = matches!(tool.kind, Some(ToolKind::Read | ToolKind::Search | ToolKind::Command));
    for argument in call.arguments.iter().filter(|argument| !is_plain && argument.value != tool.target) {
        if argument.value.contains('\n') {
            page.line(Tone::Strong, &format!("{INDENT}{}", sanitize_line(&argument.name)));
            folded(page, Tone::Plain, &FoldedText::new(&argument.value, SHOWN_ARGUMENT_LINES), ["│"; 2]);
        } else if argument.value.len() > tool.arguments.len() {
            page.add(Tone::Strong, &format!("{INDENT}{} ", sanitize_line(&argument.name)));
            page.line(Tone::Plain, &code_line(&argument.value, MAX_ROW_CHARS));
        }
    }
}

/// A text with a mark before its first line, and one before each of the others.
fn folded(page: &mut TextPage, tone: Tone, text: &FoldedText, [first, other]: [&str; 2]) {
    for (at, line) in text.head.iter().enumerate() {
        let mark = if at == 0 { first } else { other };
        page.add(Tone::Dim, &format!("{INDENT}{mark} ")).line(tone, &code_line(line, MAX_ROW_CHARS));
    }
    if text.hidden > 0 {
        page.line(Tone::Dim, &format!("{INDENT}⋮ {} hidden", count(text.hidden, "line")));
    }
    for line in &text.tail {
        page.add(Tone::Dim, &format!("{INDENT}{other} ")).line(tone, &code_line(line, MAX_ROW_CHARS));
    }
}

/// The file, what happened to it, and how many lines.
fn diff_heading(page: &mut TextPage, change: &FileDiff, is_failed: bool, session: &Session) {
    let (added, removed) = change.counts();
    let path = relative_path(&sanitize_line(&change.path), session);
    page.add(Tone::Strong, &format!("{INDENT}{path}"));
    if let Some(path) = &change.moved_to {
        page.add(Tone::Strong, &format!(" → {}", sanitize_line(path)));
    }
    page.add(Tone::Added, &format!("  +{}", number(added))).add(Tone::Removed, &format!(" −{}", number(removed)));
    page.add(Tone::Error, if is_failed { "  not applied" } else { "" });
    page.line(Tone::Dim, about_diff(change.kind));
}

/// The first rows of what changed.
fn diff_body(page: &mut TextPage, change: &FileDiff, max_rows: usize) {
    let mut free = max_rows;
    for (at, hunk) in change.hunks.iter().enumerate() {
        if at > 0 && free > 0 {
            page.line(Tone::Dim, &format!("{INDENT}⋮"));
        }
        diff_rows(page, hunk, &change.path, free);
        free = free.saturating_sub(hunk.rows.len());
    }
    let rows: usize = change.hunks.iter().map(|hunk| hunk.rows.len()).sum();
    let hidden = rows.saturating_sub(max_rows) as u64 + change.cut_lines;
    if hidden > 0 {
        page.line(Tone::Dim, &format!("{INDENT}⋮ {} more", count(hidden, "line")));
    }
}

/// What happened to a file, if it is more than a change of its lines.
pub(crate) fn about_diff(kind: DiffKind) -> &'static str {
    match kind {
        DiffKind::Changed => "",
        DiffKind::Added => "  new file",
        DiffKind::Written => "  whole file written",
        DiffKind::Deleted => "  deleted",
    }
}

fn diff_rows(page: &mut TextPage, hunk: &DiffHunk, path: &str, limit: usize) {
    for row in highlighted_rows(hunk, path, limit, MAX_ROW_CHARS) {
        page.add(Tone::Dim, INDENT);
        if let Some(number) = row.number {
            page.add(Tone::Dim, &format!("{number:>5} "));
        }
        page.add(row_tone(row.sign, SyntaxKind::Keyword), &format!("{} ", row.sign.mark()));
        for same in row.pieces.chunk_by(|(one, _), (next, _)| row_tone(row.sign, *one) == row_tone(row.sign, *next)) {
            let text: String = same.iter().map(|(_, piece)| piece.as_str()).collect();
            page.add(same.first().map_or(Tone::Plain, |(kind, _)| row_tone(row.sign, *kind)), &text);
        }
        page.end_line();
    }
}

/// Added and removed lines have one color each, so that they are seen first.
fn row_tone(sign: DiffSign, kind: SyntaxKind) -> Tone {
    match (sign, kind) {
        (DiffSign::Added, SyntaxKind::Keyword) => Tone::AddedStrong,
        (DiffSign::Added, SyntaxKind::Comment) => Tone::AddedDim,
        (DiffSign::Added, _) => Tone::Added,
        (DiffSign::Removed, SyntaxKind::Keyword) => Tone::RemovedStrong,
        (DiffSign::Removed, SyntaxKind::Comment) => Tone::RemovedDim,
        (DiffSign::Removed, _) => Tone::Removed,
        (DiffSign::Same, SyntaxKind::Keyword) => Tone::Keyword,
        (DiffSign::Same, SyntaxKind::Text) => Tone::Literal,
        (DiffSign::Same, SyntaxKind::Number) => Tone::Number,
        (DiffSign::Same, SyntaxKind::Comment) => Tone::Dim,
        (DiffSign::Same, SyntaxKind::Plain) => Tone::Plain,
    }
}
