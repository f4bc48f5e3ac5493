//! Groups the verbs in the top-level help and hides the flat spellings of nested verbs.

use std::fmt::Write;

use clap::Command;
use clap::builder::Styles;

/// Headings of the top-level help with their verbs, in the order they are shown. Every visible verb is in one group.
pub(crate) const GROUPS: [(&str, &[&str]); 7] = [
    ("Everyday", &["tui", "search", "fix", "ask", "resume", "sync"]),
    ("Sessions", &["sessions", "show", "session", "handoff", "export", "import"]),
    ("Memory", &["timeline", "decisions", "files", "facts", "workflows", "usage", "enrich"]),
    ("Threads", &["thread"]),
    ("Serving", &["serve", "open", "mcp", "token", "admin", "hook"]),
    ("Setup", &["init", "demo", "install", "uninstall", "config", "completions", "shell", "man"]),
    ("Maintenance", &["status", "doctor", "watch", "forget", "rebuild", "store", "debug"]),
];

/// Verbs whose subcommands also work without their parent: `rethread name` means `rethread session name`.
const WITH_FLAT_SPELLINGS: [&str; 2] = ["session", "debug"];

/// The commands of each group, in order.
pub(crate) fn grouped(command: &Command) -> impl Iterator<Item = (&'static str, Vec<&Command>)> {
    GROUPS
        .iter()
        .map(|(heading, verbs)| (*heading, verbs.iter().filter_map(|verb| command.find_subcommand(verb)).collect()))
}

/// The same definition with a grouped list of verbs in its help, and without the flat spellings.
pub(super) fn with_groups(command: Command) -> Command {
    let command = hide_flat_spellings(command);
    let template = template(&command);
    command.help_template(template)
}

fn hide_flat_spellings(mut command: Command) -> Command {
    for parent in WITH_FLAT_SPELLINGS {
        let nested = command.find_subcommand(parent).into_iter().flat_map(Command::get_subcommands);
        let names: Vec<String> = nested.map(|verb| verb.get_name().to_owned()).collect();
        for name in names {
            command = command.mut_subcommand(name, |flat| flat.hide(true));
        }
    }
    command
}

/// clap lists subcommands under one heading only, so the list is part of the template.
fn template(command: &Command) -> String {
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter()).map(|verb| verb.len()).max().unwrap_or(0);
    let mut out = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, verbs) in grouped(command) {
        let _ = write!(out, "\n{header}{heading}:{header:#}\n");
        for verb in verbs {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let name = verb.get_name();
            let _ = writeln!(out, "  {literal}{name}{literal:#}{:1$}  {about}", "", width - name.len());
        }
    }
    let _ = write!(out, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subcommands a user sees, with those of nested commands.
    fn visible(command: &Command) -> Vec<&Command> {
        let direct = command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
        direct.flat_map(|verb| std::iter::once(verb).chain(visible(verb))).collect()
    }

    #[test]
    fn every_visible_verb_is_in_exactly_one_group() {
        let command = super::super::command();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        let mut defined: Vec<&str> =
            command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name).collect();
        listed.sort_unstable();
        defined.sort_unstable();
        assert_eq!(listed, defined, "add the verb to GROUPS");
    }

    #[test]
    fn flat_spellings_are_hidden_and_parse() {
        let command = super::super::command();
        for name in ["name", "alias", "task", "note", "pause", "end", "card", "inject", "resolve", "activity", "verify"]
        {
            assert!(command.find_subcommand(name).is_some_and(Command::is_hide_set), "{name}");
        }
        for arguments in [&["name", "x", "y"][..], &["card", "x"], &["inject", "--session", "x"], &["verify", "--json"]]
        {
            let typed = std::iter::once("rethread").chain(arguments.iter().copied());
            assert!(command.clone().try_get_matches_from(typed).is_ok(), "{arguments:?}");
        }
    }

    #[test]
    fn verbs_have_short_help_and_examples() {
        let command = super::super::command();
        for verb in visible(&command) {
            let name = verb.get_name();
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let words = about.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            assert!((3..=9).contains(&words), "{name}: {about:?} has {words} words");
            assert!(!about.ends_with('.'), "{name}: {about:?}");
            let example = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            assert!(example.starts_with("Examples:\n  ") && example.contains("rethread "), "{name} has no example");
        }
    }
}
