//! Opens a file in the user's editor, at a line.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::effect::OpenTarget;
use super::variable;

/// Used if neither `VISUAL` nor `EDITOR` is set.
const DEFAULT_EDITOR: &str = "vi";
/// Files that are no text.
const DATABASES: [&str; 4] = ["db", "sqlite", "sqlite3", "vscdb"];
/// Editors that take the line before the file as `+LINE`.
const PLUS_LINE: [&str; 13] =
    ["vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "ne", "joe", "mg", "less", "gvim"];
/// Editors that take it after the file as `FILE:LINE`.
const COLON_LINE: [&str; 5] = ["hx", "helix", "subl", "zed", "mate"];
/// Editors that take `--goto FILE:LINE`.
const GOTO_LINE: [&str; 5] = ["code", "codium", "cursor", "windsurf", "code-insiders"];

/// The words of the command that opens a file. The error says why it cannot be opened.
pub(super) fn command_for(target: &OpenTarget, variables: &[(String, String)]) -> Result<Vec<String>, String> {
    let file = find(target)?;
    let editor = variable(variables, "VISUAL").or_else(|| variable(variables, "EDITOR")).unwrap_or(DEFAULT_EDITOR);
    Ok(command(editor, &file.to_string_lossy(), target.line))
}

/// Runs the editor and waits for it. The error says what is wrong.
pub(super) fn run(words: &[String]) -> Result<(), String> {
    match Command::new(&words[0]).args(&words[1..]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", words[0])),
        Err(error) => Err(format!("cannot start {:?}: {error}; set EDITOR", words[0])),
    }
}

/// The file, if it exists and is text. A session in a file with several has the address `FILE#ID`.
fn find(target: &OpenTarget) -> Result<PathBuf, String> {
    let absolute = |path: &str| target.folder.as_ref().map_or_else(|| PathBuf::from(path), |f| Path::new(f).join(path));
    let whole = absolute(&target.path);
    let file = match target.path.rsplit_once('#') {
        Some((file, _)) if !whole.exists() => absolute(file),
        _ => whole,
    };
    if !file.is_file() {
        return Err(format!("{} does not exist any more", file.display()));
    }
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if DATABASES.contains(&extension) {
        return Err(format!("{} is a database, not text", file.display()));
    }
    Ok(file)
}

/// The words of the command. Editors that are not known get the file only.
fn command(editor: &str, file: &str, line: Option<u64>) -> Vec<String> {
    let mut words: Vec<String> = editor.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        words.push(DEFAULT_EDITOR.to_owned());
    }
    let name = words[0].rsplit('/').next().unwrap_or_default().to_owned();
    let is_one_of = |names: &[&str]| names.contains(&name.as_str());
    match line {
        Some(line) if is_one_of(&PLUS_LINE) => words.extend([format!("+{line}"), file.to_owned()]),
        Some(line) if is_one_of(&COLON_LINE) => words.push(format!("{file}:{line}")),
        Some(line) if is_one_of(&GOTO_LINE) => words.extend(["--goto".to_owned(), format!("{file}:{line}")]),
        _ => words.push(file.to_owned()),
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_gets_the_line_in_its_own_way() {
        let check = |editor: &str, expect: &str| assert_eq!(command(editor, "/a b.md", Some(7)).join("|"), expect);
        check("vim -u NONE", "vim|-u|NONE|+7|/a b.md");
        check("/usr/bin/hx", "/usr/bin/hx|/a b.md:7");
        check("code --wait", "code|--wait|--goto|/a b.md:7");
        check("ed", "ed|/a b.md");
        check(" ", "vi|+7|/a b.md");
        assert_eq!(command("vim", "/a", None), ["vim", "/a"]);
    }

    #[test]
    fn a_file_must_exist_and_be_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let target = |path: String| OpenTarget { path, line: None, folder: None };
        std::fs::write(path("a.jsonl"), "").unwrap();
        std::fs::write(path("a.db"), "").unwrap();
        assert_eq!(find(&target(path("a.jsonl#one"))).unwrap().to_string_lossy(), path("a.jsonl"));
        assert!(find(&target(path("a.db"))).unwrap_err().contains("is a database"));
        assert!(find(&target(path("b"))).unwrap_err().contains("does not exist"));
        let relative = OpenTarget {
            path: "a.jsonl".to_owned(),
            line: None,
            folder: Some(folder.path().to_string_lossy().into_owned()),
        };
        assert_eq!(find(&relative).unwrap().to_string_lossy(), path("a.jsonl"));
    }
}
