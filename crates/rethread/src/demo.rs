//! A scene in a temporary home: two agents at work side by side, shown with the real commands.

mod claude_code;
mod past;
mod pi;
mod scene;

use std::fs;
use std::path::Path;

use clap::Parser;
use rethread_engine::{Clock, Environment};

use crate::cli::{Cli, Demo};
use crate::commands::{self, Context, Exit};
use crate::failure::{Failure, Kind};
use crate::render::Tone;

/// What is said and run, in order.
const SCENE: [(&str, &[&str]); 7] = [
    ("", &["sync"]),
    ("", &["sessions", "--all-projects"]),
    (
        "The two become aware of each other. This is what the hook gives Claude Code with its next prompt:",
        &["inject", "--session", "rounding of discounts", "--prompt", "Now the release notes."],
    ),
    ("And this is what pi is told with its own:", &["inject", "--session", "coupon", "--prompt", "Run it again."]),
    ("Either can look closer, and so can you:", &["show", "rounding of discounts"]),
    ("", &["show", "coupon", "--lines", "4"]),
    ("", &["search", "--all-projects", "--limit", "2", "why one cent too high?"]),
];

/// Plays the scene, or writes it into a folder, with days of work before it.
pub(crate) fn run(context: &Context, request: &Demo) -> Result<Exit, Failure> {
    match &request.into {
        Some(folder) => write_home(context, folder),
        None => play_all(context),
    }
}

/// Plays the scene; the temporary home is gone afterwards.
pub(crate) fn play_all(context: &Context) -> Result<Exit, Failure> {
    let home = tempfile::Builder::new().prefix("rethread-demo-").tempdir()?;
    // The clock stands still, so that ages do not change while the scene is played.
    let now = context.environment.clock.now();
    write(home.path(), scene::files(now))?;
    let environment = Environment { clock: Clock::Frozen(now), ..Environment::for_home(home.path()) };
    let inside = Context { environment, ..context.clone() };
    say(context, "Two agents work on one project at the same time: Claude Code mends the rounding of")?;
    say(context, "discounts, pi tests coupons. Rethread reads the transcripts both of them write anyway.")?;
    for (caption, words) in SCENE {
        if !caption.is_empty() {
            say(context, "")?;
            say(context, caption)?;
        }
        play(&inside, words)?;
    }
    say(context, "")?;
    say(context, "The token in the first prompt never reached the store. All of this happened in a temporary")?;
    say(context, "home that is gone now; `rethread init` does the same with your own sessions.")?;
    Ok(Exit::Done)
}

fn write_home(context: &Context, folder: &Path) -> Result<Exit, Failure> {
    fs::create_dir_all(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        return Err(Failure::new(Kind::Usage, format!("{} is not empty", folder.display())).hint("name a new folder"));
    }
    let now = context.environment.clock.now();
    write(folder, scene::files(now))?;
    write(folder, past::files(now))?;
    context.printer.note_line(&format!("written: a home with transcripts in {}", folder.display()));
    Ok(Exit::Done)
}

/// Runs one command as if it had been typed.
fn play(context: &Context, words: &[&str]) -> Result<(), Failure> {
    let mut page = context.printer.page();
    let quoted = words.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() });
    let line = quoted.collect::<Vec<_>>().join(" ");
    page.end().add(Tone::Dim, "$ ").line(Tone::Strong, &format!("rethread {line}"));
    context.printer.answer(&page)?;
    let typed = std::iter::once("rethread").chain(words.iter().copied());
    let cli = Cli::try_parse_from(typed).map_err(|error| Failure::new(Kind::Bug, error.to_string()))?;
    commands::run(context, cli.command).map(|_| ())
}

fn say(context: &Context, text: &str) -> Result<(), Failure> {
    let mut page = context.printer.page();
    page.line(Tone::Dim, text);
    Ok(context.printer.answer(&page)?)
}

/// Writes the transcripts where the agents would have.
fn write(home: &Path, files: Vec<(String, String)>) -> Result<(), Failure> {
    for (path, text) in files {
        let path = home.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}
