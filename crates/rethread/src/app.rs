//! One run of the program, from arguments to exit code: parse, execute, report errors.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use clap_complete::CompleteEnv;
use rethread_engine::{Clock, HOSTS};

use crate::cli::hook::HookArgs;
use crate::cli::{self, Cli, ColorMode, Command, GlobalArgs};
use crate::commands::{self, CommandContext};
use crate::failure::{Failure, FailureKind};
use crate::json::ErrorResponseJson;
use crate::printer::{self, Printer};
use crate::render;
use crate::{completion, environment, pager, shared_store};

/// Runs the command and returns the exit code.
pub(crate) fn run(arguments: &[OsString]) -> u8 {
    let code = run_caught(arguments);
    // Some agents treat exit code 2 of a hook as a veto. A hook of ours must never veto, not even when the agent's
    // settings are newer than this program and its arguments are unknown.
    if is_hook(arguments) { 0 } else { code }
}

fn run_caught(arguments: &[OsString]) -> u8 {
    printer::explain_panics();
    if environment::is_completing() && !is_hook(arguments) {
        return complete(arguments);
    }
    let code = catch_panic(|| match parse(arguments) {
        Ok(cli) => execute(cli),
        Err(code) => code,
    });
    code.unwrap_or_else(|| {
        if wants_json(arguments) {
            let failure = Failure::new(FailureKind::Internal, "internal error (a bug)").hint("please report it");
            let _ = Printer::default().json(&ErrorResponseJson::new(&failure, Clock::System.now()));
        }
        FailureKind::Internal.exit_code()
    })
}

/// Answers a shell that completes a command line. It must not see errors: they would end up in the user's line.
fn complete(arguments: &[OsString]) -> u8 {
    let folder = std::env::current_dir().ok();
    let home = completion::typed_home(arguments);
    let command = || completion::command(home.as_ref());
    let completer = CompleteEnv::with_factory(command).var(environment::COMPLETE_VARIABLE);
    let done = catch_panic(|| u8::from(completer.try_complete(arguments, folder.as_deref()).is_err()));
    done.unwrap_or(1)
}

/// None after a panic. The panic hook has already printed it.
fn catch_panic(work: impl FnOnce() -> u8) -> Option<u8> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn parse(arguments: &[OsString]) -> Result<Cli, u8> {
    if let Some(command) = plain_hook(arguments) {
        return Ok(Cli { global: GlobalArgs::default(), command: Some(command) });
    }
    let parsed = cli::command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        // The message repeats the arguments, so it is printed with escape codes only if they contain none.
        let is_safe =
            arguments.iter().all(|argument| !argument.to_string_lossy().contains(rethread_model::is_unsafe_to_display));
        let color = if is_safe { requested_color(arguments) } else { ColorMode::Never };
        let printer = Printer::new(environment::terminal(), color, false, 0);
        let is_error = error.use_stderr();
        if printer.clap_output(&error.render(), is_error).is_err() || !is_error {
            return 0;
        }
        if wants_json(arguments) && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            let message = error.render().to_string();
            let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let failure = Failure::new(FailureKind::Usage, message).hint("see `rethread --help`");
            let _ = printer.json(&ErrorResponseJson::new(&failure, Clock::System.now()));
        }
        FailureKind::Usage.exit_code()
    })
}

fn execute(cli: Cli) -> u8 {
    let started = Instant::now();
    let json = cli.command.as_ref().is_some_and(Command::wants_json);
    let global = cli.global;
    let printer = Printer::new(environment::terminal(), global.color, global.quiet, global.verbose);
    if cli.command.is_none() && !printer.is_read() {
        // In a pipe the overview would be of no use; help is.
        let _ = printer.clap_output(&cli::command().render_help(), false);
        return 0;
    }
    let mut clock = Clock::System;
    let result = environment::load(global.home, global.settings).and_then(|mut environment| {
        clock = environment.clock;
        environment.store = match &cli.command {
            // A hook must not wait for a network, wherever it is installed.
            Some(Command::Hook(_)) => None,
            command => shared_store::find(global.store.as_deref(), command.as_ref(), &environment)?,
        };
        environment.syncs_unasked = environment.store.is_none();
        let context = CommandContext { environment, printer, zone: environment::zone() };
        if !global.no_pager && cli.command.as_ref().is_some_and(Command::is_paged) {
            pager::enable(&context);
        }
        commands::run(&context, cli.command)
    });
    if printer.verbosity() > 1 {
        printer.note_line(&format!("took {:.3} s", started.elapsed().as_secs_f64()));
    }
    match result {
        Ok(exit) => exit.code(),
        Err(failure) => {
            report(&printer, &failure, clock, json);
            failure.kind.exit_code()
        }
    }
}

fn report(printer: &Printer, failure: &Failure, clock: Clock, json: bool) {
    if failure.kind == FailureKind::ClosedPipe {
        return;
    }
    let mut page = printer.side_page();
    render::failure(&mut page, failure, clock.now());
    printer.error(&page);
    if json {
        let _ = printer.json(&ErrorResponseJson::new(failure, clock.now()));
    }
}

/// Parses a hook as agents call it. Building the whole command line first would take a tenth of its time.
fn plain_hook(arguments: &[OsString]) -> Option<Command> {
    let [_, verb, agent] = arguments else { return None };
    let agent = agent.to_str().filter(|_| verb == "hook")?;
    Some(Command::Hook(HookArgs { agent: HOSTS.into_iter().find(|host| host.agent.as_str() == agent)?.agent }))
}

/// Whether the verb is `hook`: the first word that is neither an option nor the value of one.
fn is_hook(arguments: &[OsString]) -> bool {
    let mut is_value = false;
    for argument in arguments.iter().skip(1) {
        let text = argument.to_string_lossy();
        if is_value {
            is_value = false;
        } else if text.starts_with('-') {
            is_value = matches!(text.as_ref(), "--home" | "--store" | "-c" | "--config" | "--color");
        } else {
            return text == "hook";
        }
    }
    false
}

/// Whether `--json` was given, for arguments that failed to parse.
fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--json")
}

/// The value of `--color`, for arguments that failed to parse.
fn requested_color(arguments: &[OsString]) -> ColorMode {
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let separate = || words.windows(2).find(|pair| pair[0] == "--color").map(|pair| pair[1].as_ref());
    match joined.or_else(separate) {
        Some("always") => ColorMode::Always,
        Some("never") => ColorMode::Never,
        _ => ColorMode::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_exits_with_70() {
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(catch_panic(|| panic!("test")), None);
        assert_eq!(catch_panic(|| 0), Some(0));
        assert_eq!(FailureKind::Internal.exit_code(), 70);
    }

    // E002-15
    #[test]
    fn a_hook_exits_with_0_whatever_its_arguments_are() {
        let exit_code = |arguments: &[&str]| run(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        for arguments in [&["rethread", "hook"][..], &["rethread", "--color", "never", "hook", "nobody", "--new"]] {
            assert_eq!(exit_code(arguments), 0, "{arguments:?}");
        }
        assert_eq!(exit_code(&["rethread", "show", "hook", "hook"]), 2);
    }

    #[test]
    fn the_command_line_is_consistent() {
        cli::command().debug_assert();
    }

    #[test]
    fn color_is_found_in_arguments_that_do_not_parse() {
        let color = |arguments: &[&str]| requested_color(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(color(&["rethread", "--color=never"]), ColorMode::Never);
        assert_eq!(color(&["rethread", "--color", "always"]), ColorMode::Always);
        assert_eq!(color(&["rethread", "--color"]), ColorMode::Auto);
    }
}
