//! Finds the git calls in a command line: where they run, and what they do to the branch of a working tree.

use std::path::{Path, PathBuf};

use super::wrappers::{is_in_container, split_peeled};

/// Options of git itself that take the next word as their value.
const OPTIONS_WITH_VALUE: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];
/// Subcommands that add commits to the current branch.
const COMMITTING: [&str; 6] = ["commit", "merge", "cherry-pick", "revert", "rebase", "am"];
/// Subcommands whose output names the current branch.
const SHOWING_BRANCH: [&str; 5] = ["status", "branch", "switch", "checkout", "commit"];

/// A git call in a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCall {
    /// The directory it runs in, relative to that of the command line; set by `cd` and `-C`.
    pub folder: PathBuf,
    subcommand: String,
    arguments: Vec<String>,
}

impl GitCall {
    /// `git switch NAME`, `git checkout NAME`; not `git checkout -- FILE`.
    pub fn switches_branch(&self) -> bool {
        let has = |flags: &[&str]| self.arguments.iter().any(|word| flags.contains(&word.as_str()));
        let targets = self.targets().count();
        match self.subcommand.as_str() {
            "switch" => targets > 0 || has(&["-"]),
            "checkout" if has(&["--", ".", "-p", "--patch"]) => false,
            "checkout" => targets == 1 || has(&["-", "-b", "-B", "--orphan"]),
            _ => false,
        }
    }

    /// Whether it adds commits to the current branch.
    pub fn commits(&self) -> bool {
        let is_real = !self.arguments.iter().any(|word| matches!(word.as_str(), "--dry-run" | "--abort" | "--quit"));
        is_real && COMMITTING.contains(&self.subcommand.as_str())
    }

    /// Whether its output names the current branch.
    pub fn shows_branch(&self) -> bool {
        SHOWING_BRANCH.contains(&self.subcommand.as_str())
    }

    /// Its arguments without flags. For `checkout`, a name that may also be a file.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }
}

/// The git calls of a command line, in order.
pub fn git_calls(line: &str) -> Vec<GitCall> {
    let mut calls = Vec::new();
    let mut folder = PathBuf::new();
    // A repository in a container is another one.
    for simple in split_peeled(line).iter().filter(|simple| !is_in_container(&simple.wrappers)) {
        let mut words = simple.words.iter();
        match words.next().map(|program| program.rsplit('/').next().unwrap_or_default()) {
            Some("cd" | "pushd") => folder.extend(words.next().map(Path::new)),
            Some("git") => calls.extend(git_call(&folder, &mut words.map(String::as_str))),
            _ => {}
        }
    }
    calls
}

fn git_call<'a>(folder: &Path, words: &mut impl Iterator<Item = &'a str>) -> Option<GitCall> {
    let mut folder = folder.to_owned();
    loop {
        let word = words.next()?;
        if !word.starts_with('-') {
            let arguments = words.map(str::to_owned).collect();
            return Some(GitCall { folder, subcommand: word.to_owned(), arguments });
        }
        let value = OPTIONS_WITH_VALUE.contains(&word).then(|| words.next()).flatten();
        if word == "-C" {
            folder.extend(value.map(Path::new));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(command: &str, test: impl Fn(&GitCall) -> bool) -> bool {
        git_calls(command).iter().any(test)
    }

    #[test]
    fn checkout_and_switch_change_the_branch_but_restoring_files_does_not() {
        // D26
        for command in [
            "git switch main",
            "git checkout -b x",
            "cd a && git checkout main",
            "git switch -",
            "git -C ../other switch -C new",
            "sudo git -c core.editor=true checkout main | cat",
            "GIT_PAGER=cat /usr/bin/git switch main",
        ] {
            assert!(any(command, GitCall::switches_branch), "{command}");
        }
        for command in [
            "git checkout -- a.rs",
            "git checkout .",
            "git checkout HEAD a.rs",
            "git status",
            "echo git switch main",
            "git switch",
            "git commit -m 'then git switch main'",
            "git",
            "git -C",
        ] {
            assert!(!any(command, GitCall::switches_branch), "{command}");
        }
    }

    #[test]
    fn commits_are_recognized_wherever_they_run() {
        // D26
        for command in
            ["git commit -m x", "cd a && git add . && git commit -qm 'x; y'", "git merge topic", "git revert HEAD"]
        {
            assert!(any(command, GitCall::commits), "{command}");
        }
        for command in ["git commit --dry-run", "git log --grep commit", "git rebase --abort", "echo 'git commit'"] {
            assert!(!any(command, GitCall::commits), "{command}");
        }
        assert!(any("git status -sb", GitCall::shows_branch) && !any("git add .", GitCall::shows_branch));
    }

    #[test]
    fn folder_of_a_call_is_set_by_cd_and_by_a_flag() {
        // D26
        let folders = |command: &str| git_calls(command).into_iter().map(|call| call.folder).collect::<Vec<_>>();
        assert_eq!(folders("git status; cd a && git -C b switch x"), [PathBuf::new(), PathBuf::from("a/b")]);
        assert_eq!(folders("cd a; cd /other && git switch -C x"), [PathBuf::from("/other")]);
    }
}
