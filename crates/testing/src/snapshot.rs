//! Exit code and output of a command as one text that is the same on every run and every machine.

use std::path::Path;
use std::process::Output;

/// Exit code, stdout and stderr, with placeholders for paths, durations and file sizes.
pub(crate) fn normalize(output: &Output, binary: &Path, root: &Path) -> String {
    let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
    let stream = |bytes: &[u8]| normalize_text(&String::from_utf8_lossy(bytes), binary, root);
    format!("exit {code}\n--- stdout\n{}--- stderr\n{}", stream(&output.stdout), stream(&output.stderr))
}

fn normalize_text(text: &str, binary: &Path, root: &Path) -> String {
    let binary = binary.canonicalize().unwrap_or_else(|_| binary.to_owned());
    let text = text.replace(&binary.display().to_string(), "[BINARY]");
    let text = text.replace(&root.display().to_string(), "[FOLDER]");
    let lines = text.lines().map(|line| without_seconds(&without_sizes(line)));
    lines.map(|line| line + "\n").collect()
}

/// Replaces `0.3 s` or `4 ms` at the end of a line, and `"seconds":0.3` in JSON.
fn without_seconds(line: &str) -> String {
    if let Some((before, _)) = line.rsplit_once(" · ").filter(|(_, last)| last.ends_with(" s") || last.ends_with(" ms"))
    {
        return format!("{before} · [SECONDS]");
    }
    replace_number(line, "\"seconds\":", "[SECONDS]")
}

/// Replaces the sizes of files that `SQLite` and tantivy write: they differ between versions.
fn without_sizes(line: &str) -> String {
    for label in ["store        ", "index        "] {
        if let Some((_, rest)) = line.strip_prefix(label).and_then(|rest| rest.split_once(',')) {
            return format!("{label}[SIZE],{rest}");
        }
    }
    replace_number(&replace_number(line, "\"databaseBytes\":", "[SIZE]"), "\"indexBytes\":", "[SIZE]")
}

/// Replaces the number after `label`.
fn replace_number(line: &str, label: &str, with: &str) -> String {
    let Some((before, after)) = line.split_once(label) else { return line.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
    format!("{before}{label}{with}{rest}")
}
