//! `rethread demo`: two agents working side by side in a temporary home, shown with the real commands.

mod claude_code;
mod concurrent_sessions;
mod past_sessions;
mod pi;

use std::fs;
use std::path::Path;

use clap::Parser;
use rethread_engine::{Clock, Environment};

use crate::cli::{Cli, DemoArgs};
use crate::commands::{self, CommandContext, Exit};
use crate::failure::{Failure, FailureKind};
use crate::render::Tone;

/// Captions and the commands that follow them, in order.
const SCRIPT: [(&str, &[&str]); 7] = [
    ("", &["sync"]),
    ("", &["sessions", "--all-projects"]),
    (
        "Each agent learns what the other did. The hook adds this to Claude Code's next prompt:",
        &["inject", "--session", "rounding of discounts", "--prompt", "Now the release notes."],
    ),
    ("And this to pi's next prompt:", &["inject", "--session", "coupon", "--prompt", "Run it again."]),
    ("Both agents can read more, and so can you:", &["show", "rounding of discounts"]),
    ("", &["show", "coupon", "--lines", "4"]),
    ("", &["search", "--all-projects", "--limit", "2", "why one cent too high?"]),
];

/// Runs the demo, or writes its transcripts and several days of earlier sessions to a folder.
pub(crate) fn run(context: &CommandContext, request: &DemoArgs) -> Result<Exit, Failure> {
    match &request.into {
        Some(folder) => write_home(context, folder),
        None => run_in_temporary_home(context),
    }
}

/// Runs the demo in a temporary home that is deleted afterwards.
pub(crate) fn run_in_temporary_home(context: &CommandContext) -> Result<Exit, Failure> {
    let home = tempfile::Builder::new().prefix("rethread-demo-").tempdir()?;
    // The clock is frozen, so that ages do not change while the demo runs.
    let now = context.environment.clock.now();
    write_transcripts(home.path(), concurrent_sessions::transcripts(now))?;
    let environment = Environment { clock: Clock::Frozen(now), ..Environment::for_home(home.path()) };
    let inside = CommandContext { environment, ..context.clone() };
    print_caption(context, "Two agents work on one project at the same time: Claude Code fixes the rounding of")?;
    print_caption(context, "discounts, pi tests coupons. Rethread reads the transcripts that both write anyway.")?;
    for (caption, words) in SCRIPT {
        if !caption.is_empty() {
            print_caption(context, "")?;
            print_caption(context, caption)?;
        }
        run_command(&inside, words)?;
    }
    print_caption(context, "")?;
    print_caption(context, "The token in the first prompt was redacted before anything was stored. The demo ran in a")?;
    print_caption(context, "temporary home, now deleted. Run `rethread init` to use your own sessions.")?;
    Ok(Exit::Done)
}

fn write_home(context: &CommandContext, folder: &Path) -> Result<Exit, Failure> {
    fs::create_dir_all(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        return Err(
            Failure::new(FailureKind::Usage, format!("{} is not empty", folder.display())).hint("use a new folder")
        );
    }
    let now = context.environment.clock.now();
    write_transcripts(folder, concurrent_sessions::transcripts(now))?;
    write_transcripts(folder, past_sessions::transcripts(now))?;
    context.printer.note_line(&format!("wrote a home directory with transcripts to {}", folder.display()));
    Ok(Exit::Done)
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

/// Writes the transcripts to the folders the agents use.
fn write_transcripts(home: &Path, files: Vec<(String, String)>) -> Result<(), Failure> {
    for (path, text) in files {
        let path = home.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}
