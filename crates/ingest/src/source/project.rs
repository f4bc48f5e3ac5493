//! The project of a directory: its git root, shared by all worktrees of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Redactor;

/// Folders for worktrees inside a repository. Used if the directory no longer exists.
const WORKTREE_FOLDERS: [&str; 2] = ["/.claude/worktrees/", "/.worktrees/"];

/// The project of a working directory. Outside a repository it is the directory itself.
pub fn project_of(cwd: &str) -> String {
    let path = Path::new(cwd);
    let root = path.ancestors().find_map(repository_at);
    let root = root.map(|root| root.display().to_string());
    let project = root.unwrap_or_else(|| without_worktree(cwd)).trim_end_matches('/').to_owned();
    // Stored sessions have their directory redacted too, so both sides agree.
    Redactor::shared().redact_name(project)
}

/// The worktrees of a repository outside its own directory.
pub fn worktrees(project: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.join(".git/worktrees")).into_iter().flatten().filter_map(Result::ok);
    // `gitdir` holds the path of the worktree's `.git` file.
    let pointers = entries.filter_map(|entry| fs::read_to_string(entry.path().join("gitdir")).ok());
    pointers.filter_map(|pointer| Path::new(pointer.trim()).parent().map(Path::to_owned)).collect()
}

/// A stable name of a project that hides its path: 16 hex digits.
pub fn namespace_of(project: &str) -> String {
    let digest = Sha256::digest(project.replace('\\', "/").as_bytes());
    let bytes = digest.iter().take(8);
    format!("{:016x}", bytes.fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
}

fn repository_at(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let data = fs::metadata(&git).ok()?;
    if data.is_dir() {
        return Some(folder.to_owned());
    }
    // In a worktree `.git` is a file that points below the main repository.
    let pointer = fs::read_to_string(&git).ok()?;
    let target = folder.join(pointer.trim().strip_prefix("gitdir:")?.trim());
    let main = target.ancestors().find(|at| at.file_name().is_some_and(|name| name == ".git"))?;
    let in_worktree = target.strip_prefix(main).is_ok_and(|below| below.starts_with("worktrees"));
    if in_worktree { main.parent().map(Path::to_owned) } else { Some(folder.to_owned()) }
}

fn without_worktree(cwd: &str) -> String {
    let cut = WORKTREE_FOLDERS.iter().filter_map(|folder| cwd.find(folder)).min();
    cut.map_or(cwd, |at| &cwd[..at]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_of_one_repository_are_one_project() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("repo/.git/worktrees/fix")).unwrap();
        fs::create_dir_all(at("repo/src/deep")).unwrap();
        fs::create_dir_all(at("fix/src")).unwrap();
        fs::write(at("fix/.git"), format!("gitdir: {}\n", at("repo/.git/worktrees/fix").display())).unwrap();
        let project = |path: &str| project_of(at(path).to_str().unwrap());
        assert_eq!(project("repo/src/deep"), project("fix/src"));
        assert_eq!(project("repo"), at("repo").display().to_string());
    }

    #[test]
    fn deleted_worktree_is_recognized_by_its_path() {
        assert_eq!(project_of("/gone/app/.claude/worktrees/x/src"), "/gone/app");
        assert_eq!(project_of("/gone/app"), "/gone/app");
    }

    #[test]
    fn namespace_is_16_hex_digits() {
        // S003-05
        assert_eq!(namespace_of("/home/u/app").len(), 16);
        assert_ne!(namespace_of("/home/u/app"), namespace_of("/home/u/app2"));
    }
}
