//! The references in `docs` are generated. `UPDATE_DOCS=1 cargo test -p rethread` updates them.

#[expect(dead_code, reason = "only the definition is read here, not what it parses")]
#[path = "../../src/cli/mod.rs"]
mod cli;

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

const HOW: &str = "<!-- Made from the program by `UPDATE_DOCS=1 cargo test -p rethread`. Changes here are lost. -->";

#[test]
fn command_reference_is_up_to_date() {
    let mut command = cli::Cli::command();
    command.build();
    let mut out = format!("{HOW}\n\n# Commands\n\n{}\n", about(&command));
    out += "\nAnswers go to stdout, everything else to stderr. With `--json` the answer is one object with `\"schema\": 1`.\n";
    out += "Exit codes: 0 done or found; 1 nothing found, or something is not well; 2 a mistake in the command, a\n";
    out += "reference or the configuration; 3 the store, the disk, a permission or a model; 70 a mistake in rethread itself.\n";
    out += "\n## Options of every command\n\n";
    options(command.get_arguments().filter(|argument| argument.is_global_set()), &mut out);
    for part in command.get_subcommands() {
        chapter(part, "rethread", &mut out);
    }
    compare("docs/cli.md", &out);
}

#[test]
fn settings_reference_is_up_to_date() {
    let mut out = format!("{HOW}\n\n# Settings\n\n");
    out +=
        "A value is taken from the strongest layer that has one: default, `~/.rethread/config.toml`, the project's\n";
    out += "`.rethread.toml` (only `intake.…`), the environment variable, `-c KEY=VALUE`. `rethread config show --origin`\n";
    out += "says which it was. Lists are written with commas in variables and on the command line.\n\n";
    out += "| setting | default | variable | what it does |\n|---|---|---|---|\n";
    for key in &rethread_engine::KEYS {
        let default = key.default_value().to_string();
        let default = if default.is_empty() { "none".to_owned() } else { format!("`{default}`") };
        writeln!(out, "| `{}` | {default} | `{}` | {} |", key.name, key.variable(), key.help).unwrap();
    }
    compare("docs/config.md", &out);
}

fn chapter(command: &Command, parent: &str, out: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    if !command.has_subcommands() {
        let usage = command.clone().render_usage().to_string().replace("Usage: ", "");
        write!(out, "\n## {name}\n\n{}\n\n```\n{usage}\n```\n", about(command)).unwrap();
        let is_common = |argument: &Arg| matches!(argument.get_id().as_str(), "help" | "version");
        let own = |argument: &&Arg| !argument.is_global_set() && !argument.is_hide_set() && !is_common(argument);
        let own: Vec<&Arg> = command.get_arguments().filter(own).collect();
        if !own.is_empty() {
            out.push('\n');
            options(own.into_iter(), out);
        }
        if let Some(example) = command.get_after_long_help() {
            let example = example.to_string().replace("Example:\n  ", "");
            write!(out, "\nExample: `{example}`\n").unwrap();
        }
    }
    for part in command.get_subcommands().filter(|part| part.get_name() != "help" && !part.is_hide_set()) {
        chapter(part, &name, out);
    }
}

fn options<'a>(arguments: impl Iterator<Item = &'a Arg>, out: &mut String) {
    *out += "| option | what it does |\n|---|---|\n";
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let choices = argument.get_possible_values();
        let choices: Vec<String> = choices.iter().map(|value| format!("`{}`", value.get_name())).collect();
        let takes_value = argument.get_action().takes_values();
        let choices = if takes_value && !choices.is_empty() && !argument.is_hide_possible_values_set() {
            format!(" ({})", choices.join(", "))
        } else {
            String::new()
        };
        let default: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default = if takes_value && !default.is_empty() {
            format!(" [default: {}]", default.join(","))
        } else {
            String::new()
        };
        writeln!(out, "| `{}` | {}{choices}{default} |", spelling(argument), help.replace('|', "\\|")).unwrap();
    }
}

fn spelling(argument: &Arg) -> String {
    let value =
        argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let value = if argument.get_action().takes_values() { value } else { String::new() };
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    match argument.get_long() {
        Some(long) => format!("{short}--{long} {value}").trim_end().to_owned(),
        None => value,
    }
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    about
        .map(|text| text.to_string().trim().to_owned() + if text.to_string().ends_with('.') { "" } else { "." })
        .unwrap_or_default()
}

fn compare(path: &str, expect: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expect).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expect, "{} is out of date; run: UPDATE_DOCS=1 cargo test -p rethread", path.display());
}
