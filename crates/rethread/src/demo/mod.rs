//! `rethread demo`: made-up sessions of several agents in a home of their own, shown with the real commands.

mod claude_code;
mod concurrent_sessions;
mod past_sessions;
mod pause;
mod pi;
mod scenes;

use std::fs;
use std::path::Path;

use clap::Parser;
use rethread_engine::{Clock, Environment};
use rethread_model::{Timestamp, quote_for_shell};

use crate::cli::{Cli, DemoArgs};
use crate::commands::{self, CommandContext, Exit};
use crate::failure::{Failure, FailureKind};
use crate::render::Tone;
use pause::ViewerChoice;
use scenes::{SCENES, Scene};

const PAUSE_HINT: &str = "Enter: next · q: quit · any other key: pause";
/// Moves to the start of the line and erases it.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// Runs the demo, or writes only its transcripts to a folder.
pub(crate) fn run(context: &CommandContext, request: &DemoArgs) -> Result<Exit, Failure> {
    match (&request.into, &request.keep) {
        (Some(folder), _) => {
            write_transcripts(folder, context.environment.clock.now())?;
            let text = format!("wrote a home directory with transcripts to {}", folder.display());
            context.printer.note_line(&text);
            Ok(Exit::Done)
        }
        (None, Some(folder)) => run_in_kept_home(context, folder),
        (None, None) => run_in_temporary_home(context),
    }
}

/// Runs the demo in a temporary home that is deleted afterwards.
pub(crate) fn run_in_temporary_home(context: &CommandContext) -> Result<Exit, Failure> {
    let home = tempfile::Builder::new().prefix("rethread-demo-").tempdir()?;
    if play(context, home.path())? == ViewerChoice::Interrupt {
        return Ok(Exit::Stopped);
    }
    print_caption(context, "The token in the first prompt was redacted before anything was stored. The demo ran in a")?;
    print_caption(
        context,
        "temporary home, now deleted. To keep one and try things in it: `rethread demo --keep DIR`.",
    )?;
    print_caption(context, "Run `rethread init` to use your own sessions.")?;
    Ok(Exit::Done)
}

/// Runs the demo in a new home that the user can continue to use.
fn run_in_kept_home(context: &CommandContext, folder: &Path) -> Result<Exit, Failure> {
    let folder = context.environment.cwd.join(folder);
    let choice = play(context, &folder)?;
    let quoted = quote_for_shell(&folder.display().to_string());
    // Without it, a configured home would be used instead.
    let has_other_home = context.environment.rethread_home.is_some();
    let own_home = if has_other_home { format!(" RETHREAD_HOME={quoted}/.rethread") } else { String::new() };
    let mut page = context.printer.page();
    page.line(Tone::Plain, "The home of the demo is kept. Try it with:").end_line();
    for command in ["sessions --all-projects", "search --all-projects 'backoff'", "show 'bounced mails' --full", "open"]
    {
        page.line(Tone::Strong, &format!("  HOME={quoted}{own_home} rethread {command}"));
    }
    page.end_line().line(Tone::Dim, &format!("Delete it with: rm -r {quoted}"));
    context.printer.answer(&page)?;
    Ok(if choice == ViewerChoice::Interrupt { Exit::Stopped } else { Exit::Done })
}

/// Shows the scenes, with pauses on a terminal.
fn play(context: &CommandContext, home: &Path) -> Result<ViewerChoice, Failure> {
    // The clock is frozen, so that ages do not change while the demo runs.
    let now = context.environment.clock.now();
    write_transcripts(home, now)?;
    let environment = Environment { clock: Clock::Frozen(now), ..Environment::for_home(home) };
    let inside = CommandContext { environment, ..context.clone() };
    let has_viewer = context.printer.is_read() && context.printer.can_ask();
    for (number, scene) in SCENES.iter().enumerate() {
        show_scene(&inside, number + 1, scene)?;
        print_caption(context, "")?;
        let is_last = number + 1 == SCENES.len();
        if has_viewer && !is_last {
            let choice = pause_after(context, scene)?;
            if choice != ViewerChoice::Continue {
                return Ok(choice);
            }
        }
    }
    Ok(ViewerChoice::Continue)
}

fn show_scene(context: &CommandContext, number: usize, scene: &Scene) -> Result<(), Failure> {
    let mut page = context.printer.page();
    page.line(Tone::Match, &format!("{number}/{} {}", SCENES.len(), scene.title));
    for line in scene.caption {
        page.line(Tone::Dim, line);
    }
    context.printer.answer(&page)?;
    scene.commands.iter().try_for_each(|words| run_command(context, words))
}

/// Says how to continue, waits, and removes what it said.
fn pause_after(context: &CommandContext, scene: &Scene) -> Result<ViewerChoice, Failure> {
    let mut page = context.printer.page();
    page.add(Tone::Dim, PAUSE_HINT);
    context.printer.answer(&page)?;
    let choice = pause::wait(scene.seconds)?;
    context.printer.raw(ERASE_LINE)?;
    Ok(choice)
}

/// Prints a command and runs it.
fn run_command(context: &CommandContext, words: &[&str]) -> Result<(), Failure> {
    let mut page = context.printer.page();
    let quoted = words.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() });
    let line = quoted.collect::<Vec<_>>().join(" ");
    page.end_line().add(Tone::Dim, "$ ").line(Tone::Strong, &format!("rethread {line}"));
    context.printer.answer(&page)?;
    let typed = std::iter::once("rethread").chain(words.iter().copied());
    let cli = Cli::try_parse_from(typed).map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))?;
    commands::run(context, cli.command).map(|_| ())
}

fn print_caption(context: &CommandContext, text: &str) -> Result<(), Failure> {
    let mut page = context.printer.page();
    page.line(Tone::Dim, text);
    Ok(context.printer.answer(&page)?)
}

/// Writes the transcripts of all sessions into a new or empty folder, where the agents would store them.
fn write_transcripts(home: &Path, now: Timestamp) -> Result<(), Failure> {
    fs::create_dir_all(home)?;
    if fs::read_dir(home)?.next().is_some() {
        let message = format!("{} is not empty", home.display());
        return Err(Failure::new(FailureKind::Usage, message).hint("use a new folder"));
    }
    for (path, text) in concurrent_sessions::transcripts(now).into_iter().chain(past_sessions::transcripts(now)) {
        let path = home.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}
