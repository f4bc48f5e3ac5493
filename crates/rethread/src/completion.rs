//! Completes values that only the store and the settings know: sessions, threads and keys.
//!
//! Nothing is printed if something fails: the user is in the middle of typing a command.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use rethread_engine::{Engine, ListedSession, SETTING_KEYS, SessionListRequest, SessionScope, slug};
use rethread_model::short_id;
use rethread_model::thread::UNNAMED_THREAD;

use crate::render::{sanitize_line, session_label};
use crate::{cli, environment};

/// Candidates offered at once, newest first.
const MAX_CANDIDATES: usize = 50;

/// The command line with completers for these values. `home` is the data directory that was typed before them.
pub(crate) fn command(home: Option<&PathBuf>) -> Command {
    with_completers(cli::command(), home, false)
}

/// Arguments are recognized by how help names their values.
fn with_completers(command: Command, home: Option<&PathBuf>, is_about_threads: bool) -> Command {
    let is_about_threads = is_about_threads || command.get_name() == "thread";
    let complete_argument = |argument: Arg| {
        let takes_value = argument.get_action().takes_values();
        let values = argument.get_value_names().filter(|_| takes_value).unwrap_or_default();
        let is_reference = values.iter().any(|name| name.ends_with("REF"));
        let is_key = values.iter().any(|name| name == "KEY") && argument.get_value_parser().possible_values().is_none();
        let home = home.cloned();
        let complete = move |typed: &OsStr| {
            let typed = typed.to_string_lossy();
            let completer = if is_about_threads { threads } else { sessions };
            engine(home.clone()).and_then(|engine| completer(&engine, &typed)).unwrap_or_default()
        };
        if is_reference {
            argument.add(ArgValueCompleter::new(complete))
        } else if is_key {
            argument.add(ArgValueCompleter::new(|typed: &OsStr| setting_keys(&typed.to_string_lossy())))
        } else {
            argument
        }
    };
    let command = command.mut_args(complete_argument);
    command.mut_subcommands(|command| with_completers(command, home, is_about_threads))
}

/// The value of `--home` in a command line that is being typed. Shells pass it as it is typed.
pub(crate) fn typed_home(arguments: &[OsString]) -> Option<PathBuf> {
    let words = arguments.iter().skip_while(|argument| *argument != "--").skip(1);
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let separate = words.windows(2).find(|pair| pair[0] == "--home").map(|pair| pair[1].as_ref());
    let typed = words.iter().find_map(|word| word.strip_prefix("--home=")).or(separate)?;
    let below_user_home = typed.strip_prefix("~/").and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    Some(below_user_home.unwrap_or_else(|| typed.into()))
}

fn setting_keys(typed: &str) -> Vec<CompletionCandidate> {
    let keys = SETTING_KEYS.iter().filter(|key| key.name.starts_with(typed));
    keys.map(|key| candidate(&key.name, &key.help)).collect()
}

fn engine(home: Option<PathBuf>) -> Option<Engine> {
    Engine::open(environment::load(home, Vec::new()).ok()?).ok()
}

/// Before anything is typed, the sessions of this project, if it has any. Then those whose alias, ID or name begins like
/// that. A name is offered in its form without blanks, which no shell has to quote.
fn sessions(engine: &Engine, typed: &str) -> Option<Vec<CompletionCandidate>> {
    let list = |scope| engine.sessions().list(&SessionListRequest { scope, ..SessionListRequest::default() }).ok();
    let here = if typed.is_empty() { list(engine.sessions().current_project())? } else { Vec::new() };
    let found = if here.is_empty() { list(SessionScope::AllProjects)? } else { here };
    let mut names: HashMap<String, usize> = HashMap::new();
    for ListedSession { session, .. } in &found {
        *names.entry(slug(session.name.as_deref().unwrap_or_default())).or_default() += 1;
    }
    let value = |ListedSession { session, .. }: &ListedSession| {
        let id = session.id.to_string();
        let name = slug(session.name.as_deref().unwrap_or_default());
        let is_unique = names.get(&name) == Some(&1);
        let known = [session.alias.as_deref(), Some(short_id(&id)), Some(&id), Some(&session.external_id)];
        let known = known.into_iter().flatten().chain(is_unique.then_some(name.as_str()));
        let value = known.into_iter().find(|value| value.starts_with(typed) && is_plain(value))?;
        Some(candidate(value, &session_label(session)))
    };
    Some(found.iter().filter_map(value).take(MAX_CANDIDATES).collect())
}

fn threads(engine: &Engine, typed: &str) -> Option<Vec<CompletionCandidate>> {
    let threads = engine.threads().list().ok()?.threads;
    let fitting = threads.iter().filter(|thread| thread.id.to_string().starts_with(typed));
    let values =
        fitting.map(|thread| candidate(&thread.id.to_string(), thread.name.as_deref().unwrap_or(UNNAMED_THREAD)));
    Some(values.take(MAX_CANDIDATES).collect())
}

/// Whether a shell reads a value as one plain word. Some shells insert it as it is, and IDs come from transcripts.
fn is_plain(value: &str) -> bool {
    !value.starts_with('-') && value.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

/// Names come from transcripts, and shells print them as they are.
fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(sanitize_line(value)).help(Some(sanitize_line(help).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_a_fixed_choice_keep_it() {
        fn check(command: &Command) {
            for argument in command.get_arguments() {
                let has_choice = argument.get_value_parser().possible_values().is_some();
                let is_replaced = argument.get::<ArgValueCompleter>().is_some();
                assert!(!(has_choice && is_replaced), "{} {}", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command(None));
    }

    #[test]
    fn a_value_that_a_shell_would_run_is_not_offered() {
        for value in ["x;touch y", "$(touch y)", "a b", "`y`", "x\ny", "-rf", "~/x", "*"] {
            assert!(!is_plain(value), "{value}");
        }
        assert!(is_plain("01KHX") && is_plain("größe-der-tür"));
    }

    #[test]
    fn the_home_is_found_in_what_is_typed() {
        let home = |line: &str| typed_home(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(home("rethread -- rethread --home /a show x"), Some("/a".into()));
        assert_eq!(home("rethread -- rethread show --home=/b x"), Some("/b".into()));
        assert_eq!(home("rethread -- rethread show x"), None);
        assert_eq!(home("rethread --home /a"), None);
    }
}
