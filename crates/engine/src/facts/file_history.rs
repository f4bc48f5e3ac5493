//! The history of a file: which sessions read or changed it, when, and why.

use std::path::{Component, Path, PathBuf};

use rethread_model::{Entity, EntityKind, Predicate, first_line, one_line};
use rethread_recall::{
    DECISION_PREDICATES, Decision, FileTouch, Fix, all_file_names, decisions, file_touches, known_fixes, mentions_file,
};
use rethread_store::{EntityQuery, EpisodeKey, FactQuery, FactRow, ReadStore, SessionScope};

use crate::search::prompt_of;
use crate::{EngineError, FactService};

/// Predicates that describe an action on a file.
const FILE_ACTIONS: [Predicate; 5] =
    [Predicate::Read, Predicate::Edited, Predicate::Created, Predicate::Deleted, Predicate::Renamed];

/// Selects a file and a time range.
#[derive(Clone, Debug, Default)]
pub struct FileRequest {
    /// Path as typed: relative to the current directory or project root, absolute, or the end of a path.
    pub path: String,
    /// One project or all.
    pub scope: SessionScope,
    /// Only actions at or after this time.
    pub since: Option<String>,
    /// Only actions up to this time.
    pub until: Option<String>,
    /// Maximum number of episodes.
    pub limit: usize,
}

/// Everything known about a file.
#[derive(Clone, Debug, Default)]
pub struct FileHistory {
    /// The file, then its other names; empty if the file is unknown.
    pub names: Vec<String>,
    /// What was done to it, per episode, newest first.
    pub touches: Vec<FileTouch>,
    /// Number of episodes before `limit` was applied.
    pub total: u64,
    /// Fixes that touched the file, with the signature of the error.
    pub fixes: Vec<(String, Fix)>,
    /// Active decisions that mention it.
    pub decisions: Vec<Decision>,
}

impl FactService<'_> {
    /// The history of a file under all of its names.
    pub fn file_history(self, request: &FileRequest) -> Result<FileHistory, EngineError> {
        let since = request.since.as_deref().map(|text| self.engine.parse_time(text, false)).transpose()?;
        let until = self.parse_as_of(request.until.as_deref())?;
        let Some(store) = self.engine.reader()? else { return Ok(FileHistory::default()) };
        let Some(name) = self.resolve_file(&store, request)? else { return Ok(FileHistory::default()) };
        let of = |predicates: &[Predicate]| {
            store.facts(&FactQuery { scope: request.scope.clone(), predicates, until, ..FactQuery::default() })
        };
        let names = all_file_names(&name, &of(&[Predicate::Renamed])?);
        let mut facts: Vec<FactRow> = Vec::new();
        for name in &names {
            let file = Entity::new(EntityKind::File, name);
            let scope = request.scope.clone();
            let query =
                FactQuery { scope, predicates: &FILE_ACTIONS, about: Some(&file), until, ..FactQuery::default() };
            facts.extend(store.facts(&query)?);
        }
        // A rename is found under both names.
        facts.sort_by_key(|known| (known.session, known.fact.line, known.fact.subject.name.clone()));
        facts.dedup();
        facts.retain(|known| since.is_none_or(|since| known.fact.at.is_none_or(|at| at >= since)));
        let mut touches = file_touches(&facts);
        let total = touches.len() as u64;
        touches.truncate(request.limit);
        for touch in &mut touches {
            touch.prompt = episode_prompt(&store, touch)?;
        }
        let named = |text: &str| names.iter().any(|name| mentions_file(text, name));
        let fixes = fixes_touching(&of(&[Predicate::FixedBy, Predicate::NotFixedBy])?, named);
        let decided = decisions(&of(&DECISION_PREDICATES)?).into_iter();
        let decisions = decided.filter(|one| one.is_open() && (named(&one.statement) || named(&one.subject))).collect();
        Ok(FileHistory { names, touches, total, fixes, decisions })
    }

    /// The stored name for the path the user typed.
    fn resolve_file(self, store: &ReadStore, request: &FileRequest) -> Result<Option<String>, EngineError> {
        let typed = normalize_path(Path::new(&request.path));
        let here = normalize_path(&self.engine.environment.cwd.join(&request.path));
        let last = typed.rsplit('/').next().unwrap_or(&typed);
        let kind = Some(EntityKind::File);
        let query =
            EntityQuery { scope: request.scope.clone(), kind, name_contains: Some(last), ..EntityQuery::default() };
        let known: Vec<String> =
            store.entities_with_facts(&query)?.into_iter().map(|entity| entity.entity.name).collect();
        let root = match &request.scope {
            SessionScope::Project(root) => root.trim_end_matches('/').to_owned(),
            SessionScope::AllProjects => String::new(),
        };
        let below = here.strip_prefix(&root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&here).to_owned();
        if let Some(exact) = [below, typed.clone(), here].into_iter().find(|name| known.contains(name)) {
            return Ok(Some(exact));
        }
        let end = format!("/{}", typed.trim_start_matches('/'));
        let mut fitting: Vec<String> = known.into_iter().filter(|name| name.ends_with(&end)).collect();
        match fitting.len() {
            0 | 1 => Ok(fitting.pop()),
            _ => Err(EngineError::AmbiguousFile { path: request.path.clone(), candidates: fitting }),
        }
    }
}

/// The first line of the episode's prompt.
fn episode_prompt(store: &ReadStore, touch: &FileTouch) -> Result<Option<String>, EngineError> {
    let Some(session) = store.session_number(touch.source.session)? else { return Ok(None) };
    let entries = store.episode_entries(EpisodeKey { session, number: touch.source.episode })?;
    Ok(prompt_of(&entries).map(|prompt| one_line(first_line(prompt))).filter(|line| !line.is_empty()))
}

/// Fixes that mention the file, with the error they fix.
fn fixes_touching(facts: &[FactRow], named: impl Fn(&str) -> bool) -> Vec<(String, Fix)> {
    let touching = facts.iter().filter(|known| named(&known.fact.detail));
    let mut errors: Vec<&str> = touching.map(|known| known.fact.subject.name.as_str()).collect();
    errors.sort_unstable();
    errors.dedup();
    let mut all = Vec::new();
    for error in errors {
        let about: Vec<FactRow> = facts.iter().filter(|known| known.fact.subject.name == error).cloned().collect();
        let found = known_fixes(&about).fixes.into_iter().filter(|fix| named(&fix.description));
        all.extend(found.map(|fix| (error.to_owned(), fix)));
    }
    all.sort_by_key(|(_, fix)| std::cmp::Reverse(fix.last_at));
    all
}

/// Removes `.` and `..` without accessing the file system.
fn normalize_path(path: &Path) -> String {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out.to_string_lossy().into_owned()
}
