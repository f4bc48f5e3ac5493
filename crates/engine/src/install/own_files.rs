//! Files that are ours alone: their marker and placeholders, and plans to write and remove them.

use std::path::{Path, PathBuf};

use rethread_model::Agent;
use serde_json::Value;

use super::entry::NAME;
use super::file_change::{FileChange, InstallPlan};
use super::{InstallError, InstallScope};

/// Marks our text files; it is in one of their first three lines.
pub(super) const FILE_MARKER: &str = "Written by `rethread install`";
/// Placeholder for the program path in our files.
pub(super) const BINARY_PLACEHOLDER: &str = "@BINARY@";
/// A skill that explains how to look up other sessions, for any agent that supports skills.
const SKILL: &str = include_str!("skill.md");

/// Text before the program path in our text files, whatever their language.
const PROGRAM_PREFIXES: [&str; 2] = ["const PROGRAM = ", "PROGRAM = "];

/// The skill. In a project it may be committed, so it does not contain the path of the user's program.
pub(super) fn skill_text(scope: InstallScope, binary: &str) -> String {
    match scope {
        InstallScope::User => SKILL.replace(BINARY_PLACEHOLDER, binary),
        InstallScope::Project => {
            SKILL.replace(&format!(" If the shell does not find it, run `{BINARY_PLACEHOLDER}`."), "")
        }
    }
}

pub(super) fn has_marker(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains(FILE_MARKER))
}

/// Whether a whole file is ours. JSON cannot contain the marker, so a manifest is recognized by its name.
pub(super) fn is_own_file(text: &str) -> bool {
    let manifest = || serde_json::from_str::<Value>(text).unwrap_or_default();
    let is_named =
        |manifest: &Value| ["name", "id"].iter().filter_map(|key| manifest.get(key)?.as_str()).any(|name| name == NAME);
    has_marker(text) || is_named(&manifest())
}

/// One of our files with its placeholders replaced. The path is a string literal there.
pub(super) fn asset_text(asset: &str, binary: &str, agent: Agent) -> String {
    asset
        .replace(&format!("\"{BINARY_PLACEHOLDER}\""), &Value::from(binary).to_string())
        .replace("@HOST@", agent.as_str())
}

/// The program path in the text of one of our files.
pub(super) fn program_in(text: &str) -> Option<String> {
    let mut literals =
        text.lines().filter_map(|line| PROGRAM_PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix)));
    serde_json::from_str(literals.next()?.trim_end_matches(';')).ok()
}

/// Plans to write files, unless another program's file is in the way.
pub(super) fn plan_files(
    files: Vec<(PathBuf, String)>,
    is_ours: impl Fn(&str) -> bool,
) -> Result<InstallPlan, InstallError> {
    let mut plan = Vec::new();
    for (path, text) in files {
        let file = FileChange::read(path)?;
        if file.before.as_deref().is_some_and(|before| before != text && !is_ours(before)) {
            return Err(InstallError::NotOurs(file.path));
        }
        plan.push(file.with_text(Some(text)).own());
    }
    Ok(InstallPlan::of_own_files(plan))
}

/// Plans to remove files that are ours, and the folders this leaves empty, up to but not including `above`.
pub(super) fn plan_file_removal(
    paths: Vec<PathBuf>,
    above: &Path,
    is_ours: impl Fn(&str) -> bool,
) -> Result<InstallPlan, InstallError> {
    let mut plan = InstallPlan::of_own_files(Vec::new());
    for path in paths {
        let inside = path.ancestors().skip(1).take_while(|folder| *folder != above && folder.starts_with(above));
        let folders: Vec<PathBuf> =
            inside.map(Path::to_owned).filter(|folder| !plan.folders.contains(folder)).collect();
        plan.folders.extend(folders);
        let file = FileChange::read(path)?;
        if file.before.as_deref().is_some_and(&is_ours) {
            plan.files.push(file.with_text(None).own());
        }
    }
    plan.folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    Ok(plan)
}
