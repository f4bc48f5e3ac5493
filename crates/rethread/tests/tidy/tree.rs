//! Lists the files of the workspace and formats findings. Changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checks::Remarks;

/// A file: path relative to the root with `/`, and text.
pub(crate) type Named = (String, String);

/// The findings of `check` in all files, as `file:line: remark`.
pub(crate) fn over(files: &[Named], check: impl Fn(&str, &str) -> Remarks) -> Vec<String> {
    let findings = |(name, text): &Named| {
        let remarks = check(name, text).into_iter();
        remarks.map(|(line, what)| format!("{name}:{line}: {what}")).collect::<Vec<_>>()
    };
    files.iter().flat_map(findings).collect()
}

/// Panics with the list and a hint if anything was found.
pub(crate) fn report(found: &[String], advice: &str) {
    assert!(found.is_empty(), "{} found\n  {}\nhint: {advice}", found.len(), found.join("\n  "));
}

/// The root directory of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root =
        |folder: &&Path| fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("[workspace]"));
    here.ancestors().find(is_root).unwrap_or(here).to_path_buf()
}

/// All Rust files except fixtures.
pub(crate) fn rust_files() -> Vec<Named> {
    let folders = ["crates", "benches"].map(|folder| files_below(&root().join(folder), &["rs"]));
    let own = |path: &PathBuf| !path.components().any(|part| part.as_os_str() == "fixtures");
    named(folders.concat().into_iter().filter(own))
}

/// The manifests of all packages.
pub(crate) fn manifests() -> Vec<Named> {
    let folders = ["crates", "benches"].map(|folder| files_below(&root().join(folder), &["toml"]));
    named(folders.concat().into_iter().filter(|path| path.ends_with("Cargo.toml")))
}

/// Documents, scripts and assets: the tracked text files that are neither Rust nor data.
pub(crate) fn documents() -> Vec<Named> {
    let is_prose = |name: &str| {
        let written =
            ["md", "js", "css", "ts", "sql", "toml", "yml"].iter().any(|ending| name.ends_with(&format!(".{ending}")));
        let script = name.starts_with("scripts/") || name.starts_with(".ci/") || name == "justfile";
        (written || script)
            && !name.contains("/fixtures/")
            && !name.contains("/labeled/")
            && !name.starts_with("benches/results/")
    };
    tracked_files().into_iter().filter(|(name, _)| is_prose(name)).collect()
}

/// Files that git tracks or would add; without git, all files.
pub(crate) fn tracked_files() -> Vec<Named> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let git = Command::new("git").args(list).current_dir(root()).output();
    let known = git.ok().filter(|done| done.status.success()).map(|done| {
        let names = String::from_utf8_lossy(&done.stdout).into_owned();
        names.split_terminator('\0').map(|name| root().join(name)).collect()
    });
    let files = known.unwrap_or_else(|| files_below(&root(), &[]));
    named(files.into_iter().filter(|path| !path.ends_with("Cargo.lock")))
}

/// Path and text of each text file.
fn named(files: impl Iterator<Item = PathBuf>) -> Vec<Named> {
    files.filter_map(|path| Some((shown(&path), fs::read_to_string(&path).ok()?))).collect()
}

/// A path relative to the root, with `/`.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// All files below `folder` with one of `endings` (any if empty), sorted.
pub(crate) fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let skipped = |path: &Path| path.ends_with("target") || path.ends_with(".git");
    let ends = |path: &Path| {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        endings.is_empty() || endings.contains(&&*ending)
    };
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() && !skipped(&path) {
            files.extend(files_below(&path, endings));
        } else if path.is_file() && ends(&path) {
            files.push(path);
        }
    }
    files
}
