//! Completes values that only the store and the settings know: sessions, threads and keys.
//!
//! Nothing is printed if something fails: the user is in the middle of typing a command.

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use rethread_engine::{Engine, ListedSession, SETTING_KEYS, SessionListRequest, SessionScope};
use rethread_model::short_id;
use rethread_model::thread::UNNAMED_THREAD;

use crate::render::{sanitize_line, session_label};
use crate::{cli, environment};

/// Candidates offered at once, newest first.
const MAX_CANDIDATES: usize = 50;

/// The command line with completers for these values.
pub(crate) fn command() -> Command {
    with_completers(cli::command(), false)
}

/// Arguments are recognized by how help names their values.
fn with_completers(command: Command, is_about_threads: bool) -> Command {
    let is_about_threads = is_about_threads || command.get_name() == "thread";
    let complete_argument = |argument: Arg| {
        let values = argument.get_value_names().unwrap_or_default();
        let is_reference = values.iter().any(|name| name.ends_with("REF"));
        if is_reference && is_about_threads {
            argument.add(ArgValueCompleter::new(|typed: &OsStr| threads(&typed.to_string_lossy()).unwrap_or_default()))
        } else if is_reference {
            argument.add(ArgValueCompleter::new(|typed: &OsStr| sessions(&typed.to_string_lossy()).unwrap_or_default()))
        } else if values.iter().any(|name| name == "KEY") {
            argument.add(ArgValueCompleter::new(|typed: &OsStr| setting_keys(&typed.to_string_lossy())))
        } else {
            argument
        }
    };
    let command = command.mut_args(complete_argument);
    command.mut_subcommands(|command| with_completers(command, is_about_threads))
}

fn setting_keys(typed: &str) -> Vec<CompletionCandidate> {
    let keys = SETTING_KEYS.iter().filter(|key| key.name.starts_with(typed));
    keys.map(|key| candidate(&key.name, &key.help)).collect()
}

fn engine() -> Option<Engine> {
    Engine::open(environment::load(None, Vec::new()).ok()?).ok()
}

/// Before anything is typed, the sessions of this project, if it has any.
fn sessions(typed: &str) -> Option<Vec<CompletionCandidate>> {
    let engine = engine()?;
    let list = |scope| engine.sessions().list(&SessionListRequest { scope, ..SessionListRequest::default() }).ok();
    let here = if typed.is_empty() { list(engine.sessions().current_project())? } else { Vec::new() };
    let found = if here.is_empty() { list(SessionScope::AllProjects)? } else { here };
    let value = |ListedSession { session, .. }: &ListedSession| {
        let id = session.id.to_string();
        let known = [session.alias.as_deref(), Some(short_id(&id)), Some(&id), Some(&session.external_id)];
        let value = known.into_iter().flatten().find(|value| value.starts_with(typed))?;
        Some(candidate(value, &session_label(session)))
    };
    Some(found.iter().filter_map(value).take(MAX_CANDIDATES).collect())
}

fn threads(typed: &str) -> Option<Vec<CompletionCandidate>> {
    let threads = engine()?.threads().list().ok()?.threads;
    let fitting = threads.iter().filter(|thread| thread.id.to_string().starts_with(typed));
    let values =
        fitting.map(|thread| candidate(&thread.id.to_string(), thread.name.as_deref().unwrap_or(UNNAMED_THREAD)));
    Some(values.take(MAX_CANDIDATES).collect())
}

/// Names come from transcripts, and shells print them as they are.
fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(sanitize_line(value)).help(Some(sanitize_line(help).into()))
}
