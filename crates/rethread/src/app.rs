//! One run from arguments to exit code: parse, do, and say what went wrong.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, ValueEnum};
use rethread_engine::Clock;

use crate::cli::life::{Hook, HookAgent};
use crate::cli::{Cli, Colour, Command, Global};
use crate::commands::{self, Context};
use crate::environment;
use crate::failure::{Failure, Kind};
use crate::json::Failed;
use crate::printer::{self, Printer};
use crate::render;

/// Does what the arguments ask for; the exit code says how it went.
pub(crate) fn run(arguments: &[OsString]) -> u8 {
    let code = run_honestly(arguments);
    // Some agents take a 2 for a veto. A hook has none, also not when settings are newer than this program.
    if is_hook(arguments) { 0 } else { code }
}

fn run_honestly(arguments: &[OsString]) -> u8 {
    printer::explain_panics();
    let done = guarded(|| match parse(arguments) {
        Ok(cli) => obey(cli),
        Err(said) => said,
    });
    done.unwrap_or_else(|| {
        if wants_json(arguments) {
            let failure = Failure::new(Kind::Bug, "a mistake in rethread itself").hint("please report it");
            let _ = Printer::default().json(&Failed::new(&failure, Clock::System.now()));
        }
        Kind::Bug.exit_code()
    })
}

/// Nothing after a panic: its hook has told what happened.
fn guarded(work: impl FnOnce() -> u8) -> Option<u8> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn parse(arguments: &[OsString]) -> Result<Cli, u8> {
    if let Some(command) = plain_hook(arguments) {
        return Ok(Cli { global: Global::default(), command });
    }
    let command = Cli::command();
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        // What was typed comes back in the message, so it is shown in colour only if it is harmless.
        let harmless =
            arguments.iter().all(|argument| !argument.to_string_lossy().contains(rethread_model::is_dangerous));
        let colour = if harmless { wished_colour(arguments) } else { Colour::Never };
        let printer = Printer::new(environment::terminal(), colour, false, 0);
        let is_mistake = error.use_stderr();
        if printer.parser_says(&error.render(), is_mistake).is_err() || !is_mistake {
            return 0;
        }
        if wants_json(arguments) && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            let message = error.render().to_string();
            let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let failure = Failure::new(Kind::Usage, message).hint("see `rethread --help`");
            let _ = printer.json(&Failed::new(&failure, Clock::System.now()));
        }
        Kind::Usage.exit_code()
    })
}

fn obey(cli: Cli) -> u8 {
    let began = Instant::now();
    let json = cli.command.wants_json();
    let global = cli.global;
    let printer = Printer::new(environment::terminal(), global.colour, global.quiet, global.verbose);
    let mut clock = Clock::System;
    let done = environment::world(global.home, global.settings).and_then(|environment| {
        clock = environment.clock;
        commands::run(&Context { environment, printer, zone: environment::zone() }, cli.command)
    });
    if printer.verbosity() > 1 {
        printer.note_line(&format!("took {:.3} s", began.elapsed().as_secs_f64()));
    }
    match done {
        Ok(exit) => exit.code(),
        Err(failure) => {
            report(&printer, &failure, clock, json);
            failure.kind.exit_code()
        }
    }
}

fn report(printer: &Printer, failure: &Failure, clock: Clock, json: bool) {
    if failure.kind == Kind::ClosedPipe {
        return;
    }
    let mut page = printer.side_page();
    render::failure(&mut page, failure, clock.now());
    printer.complain(&page);
    if json {
        let _ = printer.json(&Failed::new(failure, clock.now()));
    }
}

/// A hook as agents call it. Describing all other commands first would take a tenth of its time.
fn plain_hook(arguments: &[OsString]) -> Option<Command> {
    let [_, verb, agent] = arguments else { return None };
    let agent = agent.to_str().filter(|_| verb == "hook")?;
    Some(Command::Hook(Hook { agent: HookAgent::from_str(agent, false).ok()? }))
}

/// Whether the first word that is no option, nor the value of one, is the hook.
fn is_hook(arguments: &[OsString]) -> bool {
    let mut is_value = false;
    for argument in arguments.iter().skip(1) {
        let text = argument.to_string_lossy();
        if is_value {
            is_value = false;
        } else if text.starts_with('-') {
            is_value = matches!(text.as_ref(), "--home" | "-c" | "--config" | "--color");
        } else {
            return text == "hook";
        }
    }
    false
}

/// Whether a program reads the answer, where the arguments could not be understood.
fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--json")
}

/// The wish for colour, where the arguments could not be understood.
fn wished_colour(arguments: &[OsString]) -> Colour {
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = || words.windows(2).find(|pair| pair[0] == "--color").map(|pair| pair[1].as_ref());
    match joined.or_else(apart) {
        Some("always") => Colour::Always,
        Some("never") => Colour::Never,
        _ => Colour::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_goes_no_further_and_ends_with_70() {
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(guarded(|| panic!("ours")), None);
        assert_eq!(guarded(|| 0), Some(0));
        assert_eq!(Kind::Bug.exit_code(), 70);
    }

    #[test]
    fn e002_15_a_hook_ends_well_whatever_it_is_called_with() {
        let ends = |arguments: &[&str]| run(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        for arguments in [&["rethread", "hook"][..], &["rethread", "--color", "never", "hook", "nobody", "--new"]] {
            assert_eq!(ends(arguments), 0, "{arguments:?}");
        }
        assert_eq!(ends(&["rethread", "show", "hook", "hook"]), 2);
    }

    #[test]
    fn the_command_line_is_well_defined() {
        Cli::command().debug_assert();
    }

    #[test]
    fn colour_is_known_before_the_arguments_are() {
        let wish = |arguments: &[&str]| wished_colour(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(wish(&["rethread", "--color=never"]), Colour::Never);
        assert_eq!(wish(&["rethread", "--color", "always"]), Colour::Always);
        assert_eq!(wish(&["rethread", "--color"]), Colour::Auto);
    }
}
