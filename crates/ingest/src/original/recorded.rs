//! Finds the diff that an agent recorded with the result of an edit. It has the lines' numbers, which arguments lack.

use rethread_model::ToolUse;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::diff::{DiffHunk, DiffKind, DiffRow, DiffSign, FileDiff};
use super::patch::read_patch;
use crate::parse::{TextSink, is_unified_diff};

/// Names of the fields with a unified diff.
const DIFF_KEYS: [&str; 5] = ["fileDiff", "unified_diff", "unifiedDiff", "patch", "diff"];
/// Names of the fields beside it with the path.
const PATH_KEYS: [&str; 6] = ["filePath", "file_path", "fileName", "path", "file", "relativePath"];
/// Maximum depth of nested values and of JSON in strings.
const MAX_DEPTH: usize = 12;

/// A hunk as Claude Code records it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StructuredHunk {
    old_start: u64,
    new_start: u64,
    lines: Vec<String>,
}

/// The diffs in the record of a call's result that are about its files. Empty unless there is one for each of them: a
/// record may have the results of several calls.
pub(super) fn recorded_diffs(record: &Value, tool: &ToolUse, sink: &mut TextSink<'_>) -> Vec<FileDiff> {
    let mut found: Vec<FileDiff> = Vec::new();
    collect(record, 0, &mut found);
    found.dedup();
    let mut diffs = Vec::new();
    for path in &tool.paths {
        let mut same = found.iter().filter(|diff| is_same_file(path, &diff.path));
        let (Some(diff), None) = (same.next(), same.next()) else { return Vec::new() };
        let hunks = diff.hunks.iter().flat_map(|hunk| hunk.clone().redacted(sink)).collect();
        diffs.push(FileDiff { path: path.clone(), hunks, ..diff.clone() }.shortened());
    }
    diffs
}

fn collect(value: &Value, depth: usize, found: &mut Vec<FileDiff>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(object) => {
            if let Some(diffs) = diffs_of(object) {
                return found.extend(diffs);
            }
            object.values().for_each(|value| collect(value, depth + 1, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, depth + 1, found)),
        // The columns of a row are JSON in a string.
        Value::String(text) if text.starts_with('{') => {
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
                collect(&value, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// The diffs of an object, if it has one.
fn diffs_of(object: &Map<String, Value>) -> Option<Vec<FileDiff>> {
    let path = PATH_KEYS.iter().find_map(|key| object.get(*key)?.as_str()).unwrap_or_default();
    if let Some(hunks) = object.get("structuredPatch").and_then(structured_hunks) {
        return Some(vec![FileDiff { hunks, ..FileDiff::new(path, DiffKind::Changed) }]);
    }
    let texts = DIFF_KEYS.iter().filter_map(|key| object.get(*key)?.as_str());
    let mut diffs = texts.filter(|text| is_unified_diff(text)).map(read_patch).find(|diffs| !diffs.is_empty())?;
    if let [diff] = diffs.as_mut_slice() {
        // The header may have only the name of the file.
        diff.path = if path.is_empty() { std::mem::take(&mut diff.path) } else { path.to_owned() };
    }
    Some(diffs)
}

/// `None` for a new file, which has no hunks.
fn structured_hunks(value: &Value) -> Option<Vec<DiffHunk>> {
    let hunks = Vec::<StructuredHunk>::deserialize(value).ok().filter(|hunks| !hunks.is_empty())?;
    let row = |line: &String| match (line.strip_prefix('+'), line.strip_prefix('-')) {
        _ if line.starts_with('\\') => None,
        (Some(text), _) => Some(DiffRow::new(DiffSign::Added, text)),
        (_, Some(text)) => Some(DiffRow::new(DiffSign::Removed, text)),
        _ => Some(DiffRow::new(DiffSign::Same, line.strip_prefix(' ').unwrap_or(line))),
    };
    let hunk = |hunk: StructuredHunk| DiffHunk {
        starts: Some((hunk.old_start, hunk.new_start)),
        rows: hunk.lines.iter().filter_map(row).collect(),
    };
    Some(hunks.into_iter().map(hunk).collect())
}

/// Whether two paths mean one file: one of them may be relative, or only a name.
fn is_same_file(path: &str, other: &str) -> bool {
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
    };
    !other.is_empty() && (ends_with(path, other) || ends_with(other, path.trim_start_matches("./")))
}
