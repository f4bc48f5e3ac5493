//! `config edit`: opens the configuration file in the user's editor, then says what is invalid in it.

use std::process::Command;

use rethread_engine::Engine;

use super::{CommandContext, Exit};
use crate::failure::{Failure, FailureKind};
use crate::render::Tone;

/// Used if neither variable is set, as POSIX has it.
const DEFAULT_EDITOR: &str = "vi";

pub(super) fn run(context: &CommandContext, engine: &Engine) -> Result<Exit, Failure> {
    engine.config().create_folder()?;
    loop {
        start_editor(context, engine)?;
        // The file may be unreadable now, which the settings of this run do not show.
        let changed = Engine::open(context.environment.clone())?;
        let problems = changed.config().problems();
        if problems.is_empty() {
            context.printer.note_line(&format!("{} is valid.", engine.config().path().display()));
            return Ok(Exit::Done);
        }
        let mut page = context.printer.side_page();
        for problem in problems {
            page.add(Tone::Warning, "warning: ").line(Tone::Plain, &problem.to_string());
        }
        context.printer.error(&page);
        if !context.printer.can_ask() || !context.printer.confirm_yes("Edit it again?")? {
            return Ok(Exit::Reported(FailureKind::InvalidConfig.exit_code()));
        }
    }
}

/// The variables may hold arguments, so a shell splits them, as it does for git.
fn start_editor(context: &CommandContext, engine: &Engine) -> Result<(), Failure> {
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| context.variable(name));
    let editor = editor.unwrap_or(DEFAULT_EDITOR);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(engine.config().path());
    let status = shell.status();
    if status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        return Ok(());
    }
    let reason = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let failure = Failure::new(FailureKind::Launch, format!("the editor {editor:?} failed: {reason}"));
    Err(failure.hint("set VISUAL or EDITOR to your editor"))
}
