//! Rules in files that users write for agents (`CLAUDE.md`, `AGENTS.md`, `.cursor/rules`). Read when they are asked for,
//! never stored.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_ingest::facts::{StatedRule, preference_in};
use rethread_ingest::source::project;
use rethread_model::{clip, is_unsafe_to_display, one_line};
use rethread_store::{SessionFilter, SessionScope};

use super::DecisionRequest;
use super::rule_text::rule_candidates;
use crate::awareness::without_secrets;
use crate::{EngineError, FactService};

/// Files in the root of a project.
const PROJECT_FILES: [&str; 7] = [
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
    ".windsurfrules",
];
/// Files in a user's home directory, which apply to every project.
const USER_FILES: [&str; 5] = [
    ".claude/CLAUDE.md",
    ".codex/AGENTS.md",
    ".gemini/GEMINI.md",
    ".config/opencode/AGENTS.md",
    ".copilot/copilot-instructions.md",
];
const CURSOR_RULES: &str = ".cursor/rules";
/// Limits: the rest of a file, other files and other rules are ignored.
const MAX_FILE_BYTES: u64 = 64 << 10;
const MAX_CURSOR_FILES: usize = 20;
const MAX_RULES: usize = 200;
const STATEMENT_CHARS: usize = 300;

/// A rule in a file for agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRule {
    /// What it asks for or forbids.
    pub rule: StatedRule,
    /// The sentence or list item, on one line.
    pub statement: String,
    /// The file: relative to the project, or to the home directory with `~/`.
    pub path: String,
    /// The line in the file.
    pub line: u64,
    /// The project; `None` for a rule of the user.
    pub project: Option<String>,
}

impl FileRule {
    /// `AGENTS.md:12`.
    pub fn origin(&self) -> String {
        format!("{}:{}", self.path, self.line)
    }

    fn mentions_all(&self, words: &str) -> bool {
        let text = format!("{}\n{}\n{}", self.statement, self.rule.subject, self.path).to_lowercase();
        words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }
}

impl FactService<'_> {
    /// The rules in files for agents that apply in a project, as the files are now; none for a time in the past.
    pub fn file_rules(self, request: &DecisionRequest) -> Result<Vec<FileRule>, EngineError> {
        // The files of a node are not those of its members.
        if request.as_of.is_some() || self.engine.environment.reads_only_threads {
            return Ok(Vec::new());
        }
        let mut reader = RuleReader::default();
        if let Some(root) = self.known_project(&request.scope)? {
            let mut files: Vec<PathBuf> = PROJECT_FILES.iter().map(|name| Path::new(&root).join(name)).collect();
            files.extend(cursor_rules(Path::new(&root)));
            for file in files {
                reader.read(&file, Path::new(&root), Some(&root));
            }
        }
        let home = &self.engine.environment.home;
        for name in USER_FILES {
            reader.read(&home.join(name), home, None);
        }
        reader.rules.retain(|rule| rule.mentions_all(&request.query));
        Ok(reader.rules)
    }

    /// The root of the project in scope. Only a project that has sessions or is the current one: a caller must not
    /// choose which directories are read.
    fn known_project(self, scope: &SessionScope) -> Result<Option<String>, EngineError> {
        let SessionScope::Project(path) = scope else { return Ok(None) };
        if project::project_of(&self.engine.environment.cwd.to_string_lossy()) == *path {
            return Ok(Some(path.clone()));
        }
        let Some(store) = self.engine.reader()? else { return Ok(None) };
        let filter = SessionFilter { scope: scope.clone(), limit: Some(1), ..SessionFilter::default() };
        Ok(store.sessions(&filter)?.pop().and_then(|session| session.project))
    }
}

/// Collects rules; each file and each sentence counts once.
#[derive(Default)]
struct RuleReader {
    rules: Vec<FileRule>,
    files: Vec<PathBuf>,
}

impl RuleReader {
    /// Reads a file below `root`. A link that leads elsewhere is not followed.
    fn read(&mut self, file: &Path, root: &Path, project: Option<&str>) {
        let (Ok(real), Ok(real_root)) = (file.canonicalize(), root.canonicalize()) else { return };
        if !real.starts_with(&real_root) || !real.is_file() || self.files.contains(&real) {
            return;
        }
        let Some(text) = read_begin(&real) else { return };
        let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
        let path = if project.is_some() { path.into_owned() } else { format!("~/{path}") };
        let path: String = path.chars().filter(|c| !is_unsafe_to_display(*c)).collect();
        self.files.push(real);
        for candidate in rule_candidates(&text) {
            let statement = clip(&without_secrets(&one_line(&candidate.text)), STATEMENT_CHARS).into_owned();
            let Some(rule) = preference_in(&statement) else { continue };
            if self.rules.len() < MAX_RULES && !self.rules.iter().any(|known| known.statement == statement) {
                let (path, project) = (path.clone(), project.map(str::to_owned));
                self.rules.push(FileRule { rule, statement, path, line: candidate.line, project });
            }
        }
    }
}

/// The files in `.cursor/rules`, by name.
fn cursor_rules(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root.join(CURSOR_RULES)) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "mdc")).collect();
    paths.sort();
    paths.truncate(MAX_CURSOR_FILES);
    paths
}

fn read_begin(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
