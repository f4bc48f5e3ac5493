//! Changes of a file as hunks of marked lines.

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::key_lines::without_key_lines;
use crate::parse::{TextSink, is_secret_file};

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// Lines of a file's diff that are given.
const MAX_ROWS: usize = 20_000;
/// Lines of both texts, multiplied, that are compared line by line.
const MAX_COMPARED: usize = 4_000_000;

/// What a call changed in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The path as written; empty if the transcript does not say it.
    pub path: String,
    /// Where the file was moved to.
    pub moved_to: Option<String>,
    /// What happened to the file.
    pub kind: DiffKind,
    /// The changed places, in their order.
    pub hunks: Vec<DiffHunk>,
    /// Lines at the end that are left out, because the diff is too long.
    pub cut_lines: u64,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    /// A part of it was changed.
    Changed,
    /// It was created.
    Added,
    /// Its whole content was written. The content before is not in the transcript.
    Written,
    /// It was deleted.
    Deleted,
}

impl DiffKind {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            DiffKind::Changed => "changed",
            DiffKind::Added => "added",
            DiffKind::Written => "written",
            DiffKind::Deleted => "deleted",
        }
    }
}

/// A changed place with the lines around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffHunk {
    /// Line of its first row in the file before and after, from 1; `None` if the transcript does not say it.
    pub starts: Option<(u64, u64)>,
    /// The lines.
    pub rows: Vec<DiffRow>,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRow {
    /// Whether it was added or removed.
    pub sign: DiffSign,
    /// The redacted line, without its line break.
    pub text: String,
}

/// Whether a line was added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSign {
    /// In both texts.
    Same,
    /// Only in the text before.
    Removed,
    /// Only in the text after.
    Added,
}

impl DiffSign {
    /// The mark of such lines in a unified diff.
    pub const fn mark(self) -> &'static str {
        match self {
            DiffSign::Same => " ",
            DiffSign::Removed => "-",
            DiffSign::Added => "+",
        }
    }
}

impl FileDiff {
    pub(super) fn new(path: impl Into<String>, kind: DiffKind) -> Self {
        Self { path: path.into(), moved_to: None, kind, hunks: Vec::new(), cut_lines: 0 }
    }

    /// Added and removed lines.
    pub fn counts(&self) -> (u64, u64) {
        let rows = || self.hunks.iter().flat_map(|hunk| &hunk.rows);
        let count = |sign| rows().filter(|row| row.sign == sign).count() as u64;
        (count(DiffSign::Added), count(DiffSign::Removed))
    }

    /// Whether it is about a file that holds secrets, before or after.
    pub(super) fn is_secret(&self) -> bool {
        is_secret_file(&self.path) || self.moved_to.as_deref().is_some_and(is_secret_file)
    }

    /// Drops the rows beyond the limit.
    pub(super) fn shortened(mut self) -> Self {
        let mut free = MAX_ROWS;
        for hunk in &mut self.hunks {
            self.cut_lines += hunk.rows.len().saturating_sub(free) as u64;
            hunk.rows.truncate(free);
            free -= hunk.rows.len();
        }
        self.hunks.retain(|hunk| !hunk.rows.is_empty());
        self
    }
}

impl DiffRow {
    pub(super) fn new(sign: DiffSign, text: impl Into<String>) -> Self {
        Self { sign, text: text.into() }
    }
}

impl DiffHunk {
    /// All lines of a text with one sign.
    pub(super) fn of_text(text: &str, sign: DiffSign) -> Self {
        let starts = (sign == DiffSign::Added).then_some((0, 1));
        Self { starts, rows: text.lines().map(|line| DiffRow::new(sign, line)).collect() }
    }

    /// The hunk without secrets. A secret over several lines is only recognized in the text before or after.
    pub(super) fn redacted(self, sink: &mut TextSink<'_>) -> Vec<Self> {
        let whole: Vec<&str> = self.rows.iter().map(|row| row.text.as_str()).collect();
        let whole = without_key_lines(&sink.redact(whole.join("\n")));
        // Not `lines`, which drops an empty last row.
        if whole.split('\n').count() == self.rows.len() {
            let rows = self.rows.iter().zip(whole.split('\n')).map(|(row, text)| DiffRow::new(row.sign, text));
            return vec![Self { starts: self.starts, rows: rows.collect() }];
        }
        let side = |other: DiffSign| {
            let rows = self.rows.iter().filter(|row| row.sign != other);
            rows.map(|row| row.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let mut clean = |other| without_key_lines(&sink.redact(side(other)));
        compare_lines(&clean(DiffSign::Added), &clean(DiffSign::Removed))
    }
}

/// The places in which two texts differ, with the lines around them. Their lines in the file are not known.
pub(super) fn compare_lines(old: &str, new: &str) -> Vec<DiffHunk> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len().saturating_mul(new.len()) > MAX_COMPARED {
        let rows = |lines: &[&str], sign| lines.iter().map(|line| DiffRow::new(sign, *line)).collect::<Vec<_>>();
        let rows = [rows(&old, DiffSign::Removed), rows(&new, DiffSign::Added)].concat();
        return vec![DiffHunk { starts: None, rows }];
    }
    let groups = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT_LINES);
    let hunk = |operations: &Vec<similar::DiffOp>| {
        let mut rows = Vec::new();
        for operation in operations {
            let (tag, before, after) = operation.as_tag_tuple();
            let mut add = |lines: &[&str], sign| rows.extend(lines.iter().map(|line| DiffRow::new(sign, *line)));
            if tag == DiffTag::Equal {
                add(&old[before], DiffSign::Same);
            } else {
                add(&old[before], DiffSign::Removed);
                add(&new[after], DiffSign::Added);
            }
        }
        DiffHunk { starts: None, rows }
    };
    groups.iter().map(hunk).collect()
}

/// The diffs as text, for tests: file, first lines of each hunk if they are known, marked lines.
#[cfg(test)]
pub(super) fn shown(diffs: &[FileDiff]) -> String {
    let file = |diff: &FileDiff| {
        let moved = diff.moved_to.as_ref().map_or_else(String::new, |path| format!(" > {path}"));
        format!("{} {}{moved}\n", diff.kind.as_str(), diff.path)
    };
    let hunk = |hunk: &DiffHunk| {
        let starts = hunk.starts.map_or_else(String::new, |(old, new)| format!("@{old},{new}\n"));
        let rows: String = hunk.rows.iter().map(|row| [row.sign.mark(), &row.text, "\n"].concat()).collect();
        starts + &rows
    };
    diffs.iter().map(|diff| file(diff) + &diff.hunks.iter().map(hunk).collect::<String>()).collect()
}
