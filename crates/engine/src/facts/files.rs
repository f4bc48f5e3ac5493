//! The story of a file: who did what to it, when, and why.

use std::path::{Component, Path, PathBuf};

use rethread_model::{Entity, EntityKind, Predicate, first_line, one_line};
use rethread_recall::{Decision, Fix, Touch, decisions, fixes, mentions, names_of, touches};
use rethread_store::{EpisodeKey, FactQuery, KnownFact, Scope, Store, ThingQuery};

use crate::search::prompt_of;
use crate::{Engine, EngineError};

/// What can be done to a file.
const DEEDS: [Predicate; 5] =
    [Predicate::Read, Predicate::Edited, Predicate::Created, Predicate::Deleted, Predicate::Renamed];

/// Which file.
#[derive(Clone, Debug, Default)]
pub struct FileRequest {
    /// As typed: from the current directory, from the project's root, absolute, or the end of a path.
    pub path: String,
    /// Where.
    pub scope: Scope,
    /// Not before.
    pub since: Option<String>,
    /// Not after.
    pub until: Option<String>,
    /// At most this many exchanges.
    pub limit: usize,
}

/// What is known of a file.
#[derive(Clone, Debug, Default)]
pub struct FileHistory {
    /// The file, then the other names it had; empty if nothing is known of it.
    pub names: Vec<String>,
    /// What was done to it, newest first.
    pub touches: Vec<Touch>,
    /// Exchanges there are, shown or not.
    pub total: u64,
    /// Errors, by what they are called, whose fix touched it.
    pub fixes: Vec<(String, Fix)>,
    /// Open decisions that name it.
    pub decisions: Vec<Decision>,
}

impl Engine {
    /// Who did what to a file under all its names, when, and what for.
    pub fn file_history(&self, request: &FileRequest) -> Result<FileHistory, EngineError> {
        let since = request.since.as_deref().map(|text| self.moment(text, false)).transpose()?;
        let until = self.as_of(request.until.as_deref())?;
        let Some(store) = self.reader()? else { return Ok(FileHistory::default()) };
        let Some(name) = self.known_file(&store, request)? else { return Ok(FileHistory::default()) };
        let of = |predicates: &[Predicate]| {
            store.facts(&FactQuery { scope: request.scope.clone(), predicates, until, ..FactQuery::default() })
        };
        let names = names_of(&name, &of(&[Predicate::Renamed])?);
        let mut facts: Vec<KnownFact> = Vec::new();
        for name in &names {
            let file = Entity::new(EntityKind::File, name);
            let scope = request.scope.clone();
            let query = FactQuery { scope, predicates: &DEEDS, about: Some(&file), until, ..FactQuery::default() };
            facts.extend(store.facts(&query)?);
        }
        // A rename is about both of its names.
        facts.sort_by_key(|known| (known.session, known.fact.line, known.fact.subject.name.clone()));
        facts.dedup();
        facts.retain(|known| since.is_none_or(|since| known.fact.at.is_none_or(|at| at >= since)));
        let mut touches = touches(&facts);
        let total = touches.len() as u64;
        touches.truncate(request.limit);
        for touch in &mut touches {
            touch.why = why(&store, touch)?;
        }
        let named = |text: &str| names.iter().any(|name| mentions(text, name));
        let fixes = fixes_touching(&of(&[Predicate::FixedBy, Predicate::NotFixedBy])?, named);
        let decided = decisions(&of(&[Predicate::Decided, Predicate::Prefers, Predicate::Forbids])?).into_iter();
        let decisions = decided.filter(|one| one.is_open() && (named(&one.what) || named(&one.choice))).collect();
        Ok(FileHistory { names, touches, total, fixes, decisions })
    }

    /// The name under which the file that somebody typed is known.
    fn known_file(&self, store: &Store, request: &FileRequest) -> Result<Option<String>, EngineError> {
        let typed = plain(Path::new(&request.path));
        let here = plain(&self.environment.cwd.join(&request.path));
        let last = typed.rsplit('/').next().unwrap_or(&typed);
        let kind = Some(EntityKind::File);
        let query = ThingQuery { scope: request.scope.clone(), kind, named: Some(last), ..ThingQuery::default() };
        let known: Vec<String> = store.known_things(&query)?.into_iter().map(|thing| thing.entity.name).collect();
        let root = match &request.scope {
            Scope::Project(root) => root.trim_end_matches('/').to_owned(),
            Scope::AllProjects => String::new(),
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

/// What the exchange was about: the first line of what was asked.
fn why(store: &Store, touch: &Touch) -> Result<Option<String>, EngineError> {
    let Some(session) = store.session_number(touch.source.session)? else { return Ok(None) };
    let entries = store.entries_of(EpisodeKey { session, number: touch.source.episode })?;
    Ok(prompt_of(&entries).map(|prompt| one_line(first_line(prompt))).filter(|line| !line.is_empty()))
}

/// Fixes that speak of the file, with the error each is for.
fn fixes_touching(facts: &[KnownFact], named: impl Fn(&str) -> bool) -> Vec<(String, Fix)> {
    let touching = facts.iter().filter(|known| named(&known.fact.detail));
    let mut errors: Vec<&str> = touching.map(|known| known.fact.subject.name.as_str()).collect();
    errors.sort_unstable();
    errors.dedup();
    let mut all = Vec::new();
    for error in errors {
        let about: Vec<KnownFact> = facts.iter().filter(|known| known.fact.subject.name == error).cloned().collect();
        let found = fixes(&about).fixes.into_iter().filter(|fix| named(&fix.what));
        all.extend(found.map(|fix| (error.to_owned(), fix)));
    }
    all.sort_by_key(|(_, fix)| std::cmp::Reverse(fix.last_at));
    all
}

/// A path without `.` and `..`, as far as that can be said without looking.
fn plain(path: &Path) -> String {
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
