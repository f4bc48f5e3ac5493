//! What was done in a session: files changed, commands run and how they ended last.

use std::collections::HashMap;

use rethread_model::{Entry, Status, ToolKind, ToolUse, clip, one_line};

use super::CardSource;

/// Characters of a command that is quoted.
const COMMAND_CHARS: usize = 60;
/// Words of commands by which it is known whether the work is sound.
const CHECKS: [&str; 14] = [
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
/// What comes before the command that matters.
const PREPARING: [&str; 4] = ["cd ", "export ", "source ", "mkdir "];

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    /// Paths that were changed, those changed most often first.
    pub(super) changed: Vec<String>,
    /// Checks by command, in the order they were last run, and how they ended then.
    pub(super) checks: Vec<(String, bool)>,
    /// Programs that were run, most often first.
    pub(super) programs: Vec<String>,
    /// Packages that were installed.
    pub(super) packages: Vec<String>,
    /// Tool calls that were looked at.
    pub(super) calls: usize,
}

impl Deeds {
    pub(super) fn of(source: &CardSource<'_>) -> Self {
        let mut deeds = Self::default();
        let (mut changed, mut programs) = (Tally::default(), Tally::default());
        for tool in source.entries.iter().filter_map(|entry: &Entry| entry.tool.as_ref()) {
            deeds.calls += 1;
            if tool.kind.is_some_and(ToolKind::changes_files) && succeeded(tool) {
                tool.paths.iter().for_each(|path| changed.add(path));
            }
            if tool.kind == Some(ToolKind::Command) {
                deeds.command(tool, &mut programs);
            }
        }
        deeds.changed = changed.most_first();
        deeds.programs = programs.most_first();
        deeds
    }

    fn command(&mut self, tool: &ToolUse, programs: &mut Tally) {
        let line = one_line(&tool.target);
        for part in parts(&line) {
            let mut words = part.split(' ').filter(|word| !word.contains('='));
            let Some(program) = words.next() else { continue };
            if program.len() > 1 && program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
                programs.add(program);
            }
            let package = installed(part).filter(|package| !self.packages.iter().any(|known| known == package));
            self.packages.extend(package.map(str::to_owned));
            let is_check = part.split([' ', ':']).any(|word| CHECKS.contains(&word));
            if is_check && tool.outcome.is_some() && is_plain(part) {
                let command = clip(part, COMMAND_CHARS).into_owned();
                self.checks.retain(|(known, _)| *known != command);
                self.checks.push((command, succeeded(tool)));
            }
        }
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}

fn succeeded(tool: &ToolUse) -> bool {
    tool.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Ok)
}

/// Whether a command can be quoted as it is.
fn is_plain(part: &str) -> bool {
    !part.contains(['`', '$', '{', '<', '"', '\'', '…'])
}

/// The commands of a line that matter, without what their output went through.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("&&").flat_map(|part| part.split(';'));
    let bare = parts.map(|part| {
        let part = part.split(" | ").next().unwrap_or(part);
        part.split(" 2>").next().unwrap_or(part).split(" >").next().unwrap_or(part).trim()
    });
    bare.filter(|part| !part.is_empty() && !PREPARING.iter().any(|word| part.starts_with(word)))
}

/// The first package that a command installs.
fn installed(command: &str) -> Option<&str> {
    const INSTALLING: [&str; 11] = [
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
    let named = INSTALLING.iter().find_map(|way| command.strip_prefix(way))?;
    let package = named.split(' ').find(|word| !word.starts_with('-'))?;
    let is_name = !package.is_empty() && package.chars().all(|c| c.is_ascii_alphanumeric() || "@/-_.".contains(c));
    (is_name && !package.starts_with(['.', '/'])).then_some(package)
}

/// Counts things and remembers which came first.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: HashMap<String, (usize, usize)>,
}

impl Tally {
    pub(super) fn add(&mut self, what: &str) {
        let first = self.counts.len();
        self.counts.entry(what.to_owned()).or_insert((0, first)).0 += 1;
    }

    /// Those counted most often first; of equals the one that came first.
    pub(super) fn most_first(self) -> Vec<String> {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        all.sort_by(|(_, (a, first)), (_, (b, second))| b.cmp(a).then(first.cmp(second)));
        all.into_iter().map(|(what, _)| what).collect()
    }

    /// Only those counted at least so often.
    pub(super) fn keep_at_least(&mut self, least: usize) {
        self.counts.retain(|_, (count, _)| *count >= least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_without_what_surrounds_them() {
        let check = |line: &str, expect: &[&str]| assert_eq!(parts(line).collect::<Vec<_>>(), expect);
        check("cd /x && cargo test parser 2>&1 | tail -5", &["cargo test parser"]);
        check("git add .; git commit -m x > /dev/null", &["git add .", "git commit -m x"]);
        assert_eq!(installed("npm install -D vitest"), Some("vitest"));
        assert_eq!(installed("pip install ."), None);
    }
}
