//! Collects what was done in a session: files changed, programs run, packages installed, and how checks last ended.

use std::collections::HashMap;

use rethread_model::{Entry, ToolKind, ToolStatus, ToolUse, clip, one_line};

use super::CardSource;

/// Maximum length of a quoted command, in characters.
const COMMAND_CHARS: usize = 60;
/// Words that mark a command as a check of the work (tests, build, lint).
const CHECK_WORDS: [&str; 14] = [
    "test",
    "tests",
    "pytest",
    "jest",
    "vitest",
    "build",
    "lint",
    "check",
    "clippy",
    "typecheck",
    "tsc",
    "vet",
    "compile",
    "fmt",
];
/// Programs that check nothing, whatever they are called with.
const READING_PROGRAMS: &str = "awk cat cp echo fd find git grep head ls mv rg rm sed tail touch wc";
/// Prefixes of setup commands that are skipped.
const SETUP_PREFIXES: [&str; 4] = ["cd ", "export ", "source ", "mkdir "];

#[derive(Debug, Default)]
pub(super) struct SessionActions {
    /// Changed paths, most often changed first.
    pub(super) changed_paths: Vec<String>,
    /// Check commands in the order of their last run, and whether that run succeeded.
    pub(super) checks: Vec<(String, bool)>,
    /// Programs run, most often run first.
    pub(super) programs: Vec<String>,
    /// Installed packages, in order of installation.
    pub(super) packages: Vec<String>,
    /// Number of tool calls examined.
    pub(super) call_count: usize,
}

impl SessionActions {
    pub(super) fn collect(source: &CardSource<'_>) -> Self {
        let mut actions = Self::default();
        let (mut changed, mut programs) = (OrderedCounts::default(), OrderedCounts::default());
        for tool in source.entries.iter().filter_map(|entry: &Entry| entry.tool.as_ref()) {
            actions.call_count += 1;
            if tool.kind.is_some_and(ToolKind::changes_files) && succeeded(tool) {
                // Plans that an agent writes for itself are not what was worked on.
                let worked_on = tool.paths.iter().filter(|path| !path.contains("/.claude/plans/"));
                worked_on.for_each(|path| changed.add(path));
            }
            if tool.kind == Some(ToolKind::Command) {
                actions.add_command(tool, &mut programs);
            }
        }
        actions.changed_paths = changed.most_first();
        actions.programs = programs.most_first();
        actions
    }

    fn add_command(&mut self, tool: &ToolUse, programs: &mut OrderedCounts) {
        let line = one_line(&tool.target);
        for part in relevant_commands(&line) {
            let mut words = part.split(' ').filter(|word| !word.contains('='));
            let Some(program) = words.next() else { continue };
            if program.len() > 1 && program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
                programs.add(program);
            }
            let package = installed_package(part).filter(|package| !self.packages.iter().any(|known| known == package));
            self.packages.extend(package.map(str::to_owned));
            let is_check = !READING_PROGRAMS.split(' ').any(|reading| reading == program)
                && part.split([' ', ':']).any(|word| CHECK_WORDS.contains(&word));
            if is_check && was_run(tool) && is_quotable(part) {
                let command = clip(part, COMMAND_CHARS).into_owned();
                self.checks.retain(|(known, _)| *known != command);
                self.checks.push((command, succeeded(tool)));
            }
        }
    }
}

/// The last component of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}

fn succeeded(tool: &ToolUse) -> bool {
    tool.outcome.as_ref().is_some_and(|outcome| outcome.status == ToolStatus::Ok)
}

/// Whether a call has a result. One that the user refused says nothing about the work.
fn was_run(tool: &ToolUse) -> bool {
    tool.outcome.as_ref().is_some_and(|outcome| outcome.status != ToolStatus::Rejected)
}

/// Whether a command contains nothing that would need escaping when quoted.
fn is_quotable(part: &str) -> bool {
    !part.contains(['`', '$', '{', '<', '"', '\'', '…'])
}

/// The relevant commands of a shell line, without setup commands, pipes and redirections.
fn relevant_commands(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("&&").flat_map(|part| part.split(';'));
    let bare = parts.map(|part| {
        let part = part.split(" | ").next().unwrap_or(part);
        part.split(" 2>").next().unwrap_or(part).split(" >").next().unwrap_or(part).trim()
    });
    bare.filter(|part| !part.is_empty() && !SETUP_PREFIXES.iter().any(|word| part.starts_with(word)))
}

/// The first package a command installs.
fn installed_package(command: &str) -> Option<&str> {
    const INSTALL_PREFIXES: [&str; 11] = [
        "cargo add ",
        "npm install ",
        "npm i ",
        "pnpm add ",
        "yarn add ",
        "bun add ",
        "pip install ",
        "uv add ",
        "go get ",
        "brew install ",
        "gem install ",
    ];
    let named = INSTALL_PREFIXES.iter().find_map(|way| command.strip_prefix(way))?;
    let package = named.split(' ').find(|word| !word.starts_with('-'))?;
    let is_name = !package.is_empty() && package.chars().all(|c| c.is_ascii_alphanumeric() || "@/-_.".contains(c));
    (is_name && !package.starts_with(['.', '/'])).then_some(package)
}

/// Counts strings and remembers the order in which they first appeared.
#[derive(Debug, Default)]
pub(super) struct OrderedCounts {
    counts: HashMap<String, (usize, usize)>,
}

impl OrderedCounts {
    pub(super) fn add(&mut self, what: &str) {
        let first = self.counts.len();
        self.counts.entry(what.to_owned()).or_insert((0, first)).0 += 1;
    }

    /// Most frequent first; ties in order of first appearance.
    pub(super) fn most_first(self) -> Vec<String> {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        all.sort_by(|(_, (a, first)), (_, (b, second))| b.cmp(a).then(first.cmp(second)));
        all.into_iter().map(|(what, _)| what).collect()
    }

    /// Drops everything counted fewer than `least` times.
    pub(super) fn keep_at_least(&mut self, least: usize) {
        self.counts.retain(|_, (count, _)| *count >= least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_commands_and_pipes_are_dropped() {
        let check = |line: &str, expect: &[&str]| assert_eq!(relevant_commands(line).collect::<Vec<_>>(), expect);
        check("cd /x && cargo test parser 2>&1 | tail -5", &["cargo test parser"]);
        check("git add .; git commit -m x > /dev/null", &["git add .", "git commit -m x"]);
        assert_eq!(installed_package("npm install -D vitest"), Some("vitest"));
        assert_eq!(installed_package("pip install ."), None);
    }
}
