//! Finds the changed lines in the arguments of an edit: replaced texts, search and replace blocks, patches.

use std::borrow::Cow;

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::super::TextSink;
use super::super::patch::has_patch;

/// Names of the arguments with the text before and after the edit.
const PAIRS: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldStr", "newStr"),
    ("old_str_1", "new_str_1"),
    ("old_str_2", "new_str_2"),
    ("TargetContent", "ReplacementContent"),
    ("find", "replace"),
    ("search", "replace"),
    ("old", "new"),
    // Only added text.
    ("", "insert_text"),
    ("", "new_source"),
];
/// Names of the arguments with the path of one of several edits.
const PATHS: &[&str] = &["file_path", "path", "filePath", "file"];
/// Maximum number of groups of changed lines that are looked at.
const MAX_GROUPS: usize = 24;
/// Longer texts are cut around their first difference, in bytes, before they are redacted and compared.
const MAX_TEXT_BYTES: usize = 12_000;
/// Bytes before the first difference that are kept, so that a secret is recognized by what precedes it.
const KEPT_BEFORE_BYTES: usize = 2000;
/// Maximum depth of nested arguments.
const MAX_DEPTH: usize = 5;

/// Lines that were replaced by others. One of the two may be empty.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChangedLines {
    /// The file, if the change says it.
    pub(super) path: Option<String>,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// A change as the arguments of an edit have it. Neither redacted nor shortened.
pub(crate) enum FoundChange<'a> {
    /// A text that is replaced by another one, and the path if it is beside them.
    Replaced { path: Option<&'a str>, old: &'a str, new: &'a str },
    /// A patch or a unified diff.
    Patch(&'a str),
}

/// The changed lines of an edit, redacted. The arguments are JSON, or a patch.
pub(super) fn collect_changes(arguments: &str, sink: &mut TextSink<'_>) -> Vec<ChangedLines> {
    let mut out = Vec::new();
    visit_changes(arguments, &mut |found| match found {
        _ if out.len() >= MAX_GROUPS => {}
        FoundChange::Replaced { path, old, new } => compare(path, old, new, &mut out, sink),
        FoundChange::Patch(text) => {
            read_patch(&sink.redact(whole_lines(text, 4 * MAX_TEXT_BYTES).to_owned()), &mut out);
        }
    });
    out
}

/// Shows every change in the arguments of an edit. The arguments are JSON, or a patch.
pub(crate) fn visit_changes(arguments: &str, visit: &mut dyn FnMut(FoundChange<'_>)) {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => visit_value(&value, 0, visit),
        Err(_) => visit_text(arguments, 0, visit),
    }
}

fn visit_value(value: &Value, depth: usize, visit: &mut dyn FnMut(FoundChange<'_>)) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(object) => {
            let is_change = visit_pairs(object, visit);
            if !is_change {
                object.values().for_each(|value| visit_value(value, depth + 1, visit));
            }
        }
        Value::Array(values) => values.iter().for_each(|value| visit_value(value, depth + 1, visit)),
        Value::String(text) => visit_text(text, depth, visit),
        _ => {}
    }
}

/// Shows the texts before and after; whether there are any.
fn visit_pairs(object: &Map<String, Value>, visit: &mut dyn FnMut(FoundChange<'_>)) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let path = PATHS.iter().find_map(|key| text(key));
    let mut found = false;
    for (old_key, new_key) in PAIRS {
        let Some(new) = text(new_key) else { continue };
        // A tool that inserts may use the name of the replacing text.
        let old = text(old_key).or_else(|| object.contains_key("insert_line").then_some(""));
        let Some(old) = old.or_else(|| old_key.is_empty().then_some("")) else { continue };
        visit(FoundChange::Replaced { path, old, new });
        found = true;
    }
    found
}

fn visit_text(text: &str, depth: usize, visit: &mut dyn FnMut(FoundChange<'_>)) {
    if has_patch(text) || is_unified_diff(text) {
        // A script may contain the patch with escaped line breaks.
        let text = if text.contains('\n') { Cow::Borrowed(text) } else { Cow::Owned(text.replace("\\n", "\n")) };
        return visit(FoundChange::Patch(&text));
    }
    if ["SEARCH\n", "ORIGINAL\n"].iter().any(|mark| text.contains(mark)) && text.contains("\n=======") {
        return visit_blocks(text, visit);
    }
    // Some agents write the list of edits as JSON in a string.
    if text.starts_with(['{', '['])
        && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        visit_value(&value, depth + 1, visit);
    }
}

pub(crate) fn is_unified_diff(text: &str) -> bool {
    text.starts_with("@@") || text.contains("\n@@ ")
}

/// Compares two texts line by line.
fn compare(path: Option<&str>, old: &str, new: &str, out: &mut Vec<ChangedLines>, sink: &mut TextSink<'_>) {
    let (old, new) = bounded(old, new);
    let (old, new) = (sink.redact(old.to_owned()), sink.redact(new.to_owned()));
    let groups = compare_texts(&old, &new).into_iter();
    let groups = groups.map(|group| ChangedLines { path: path.map(str::to_owned), ..group });
    out.extend(groups.take(MAX_GROUPS.saturating_sub(out.len())));
}

/// The groups of lines in which two texts differ.
pub(super) fn compare_texts(old: &str, new: &str) -> Vec<ChangedLines> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let texts = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new).into_iter();
    let changed = operations.filter(|operation| !matches!(operation, DiffOp::Equal { .. })).take(MAX_GROUPS);
    let group = |operation: DiffOp| ChangedLines {
        path: None,
        old: texts(&old[operation.old_range()]),
        new: texts(&new[operation.new_range()]),
    };
    changed.map(group).collect()
}

/// The part of two long texts around their first difference, in whole lines.
fn bounded<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str) {
    if old.len().max(new.len()) <= MAX_TEXT_BYTES {
        return (old, new);
    }
    let common = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    let start = old.floor_char_boundary(common.saturating_sub(KEPT_BEFORE_BYTES));
    let start = old[..start].rfind('\n').map_or(0, |at| at + 1);
    (whole_lines(&old[start..], MAX_TEXT_BYTES), whole_lines(&new[start..], MAX_TEXT_BYTES))
}

/// The beginning of a text that is not longer than this, in bytes, without the line that would be cut: its cut end may be
/// the beginning of a secret that is no longer recognized.
fn whole_lines(text: &str, max_bytes: usize) -> &str {
    let end = text.floor_char_boundary(max_bytes);
    if end == text.len() { text } else { text[..end].rfind('\n').map_or("", |at| &text[..=at]) }
}

/// Shows the changes of search and replace blocks.
fn visit_blocks(text: &str, visit: &mut dyn FnMut(FoundChange<'_>)) {
    let (mut old, mut new) = (String::new(), String::new());
    let mut place = BlockPlace::Outside;
    for line in text.lines() {
        let is_mark = |ends: [&str; 2]| {
            line.starts_with(['<', '-', '>', '+']) && ends.iter().any(|end| line.trim_end().ends_with(end))
        };
        if is_mark([" SEARCH", " ORIGINAL"]) {
            place = BlockPlace::Old;
            (old, new) = (String::new(), String::new());
        } else if line.trim_end() == "=======" && place == BlockPlace::Old {
            place = BlockPlace::New;
        } else if is_mark([" REPLACE", " UPDATED"]) {
            place = BlockPlace::Outside;
            visit(FoundChange::Replaced { path: None, old: &old, new: &new });
        } else if place == BlockPlace::Old && (line.starts_with(":start_line:") || line == "-------") {
            old.clear();
        } else {
            match place {
                BlockPlace::Old => old.extend([line, "\n"]),
                BlockPlace::New => new.extend([line, "\n"]),
                BlockPlace::Outside => {}
            }
        }
    }
}

/// Where a line of a search and replace block is.
#[derive(Clone, Copy, PartialEq)]
enum BlockPlace {
    Outside,
    Old,
    New,
}

/// Reads a patch or a unified diff, whose lines are marked already.
fn read_patch(text: &str, out: &mut Vec<ChangedLines>) {
    let mut path: Option<String> = None;
    let mut is_added_file = false;
    let mut current = ChangedLines::default();
    let mut finish = |current: &mut ChangedLines, path: &Option<String>| {
        let done = std::mem::take(current);
        if !(done.old.is_empty() && done.new.is_empty()) && out.len() < MAX_GROUPS {
            out.push(ChangedLines { path: path.clone(), ..done });
        }
    };
    for line in text.lines() {
        let named = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/", "+++ "];
        if let Some((mark, name)) = named.iter().find_map(|mark| Some((*mark, line.strip_prefix(mark)?))) {
            finish(&mut current, &path);
            path = Some(name.trim().to_owned());
            // The content of a new file is not a change of something.
            is_added_file = mark.contains("Add");
            if mark.contains("Delete") {
                current.old.push("file".to_owned());
            }
        } else if line.starts_with("***") || line.starts_with("@@") || line.starts_with("--- ") {
            finish(&mut current, &path);
        } else if is_added_file {
        } else if let Some(removed) = line.strip_prefix('-') {
            if !current.new.is_empty() {
                finish(&mut current, &path);
            }
            current.old.push(removed.to_owned());
        } else if let Some(added) = line.strip_prefix('+') {
            current.new.push(added.to_owned());
        } else {
            finish(&mut current, &path);
        }
    }
    finish(&mut current, &path);
}
