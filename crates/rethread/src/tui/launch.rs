//! Starts the agent that wrote a session.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rethread_model::Session;

use crate::commands::{CommandContext, Exit};
use crate::failure::{Failure, FailureKind};
use crate::render;

/// Runs the agent's own command in the directory of the session, in place of this program.
pub(super) fn start_agent(context: &CommandContext, session: &Session) -> Result<Exit, Failure> {
    let Some(command) = render::resume_command(session) else {
        let message = format!("{} has no command to resume a session", session.agent.label());
        return Err(Failure::new(FailureKind::NotFound, message));
    };
    if let Some(folder) = session.cwd.as_deref().filter(|folder| !Path::new(folder).is_dir()) {
        let message = format!("the directory of the session does not exist any more: {folder}");
        return Err(Failure::new(FailureKind::NotFound, message).hint(format!("the command was: {command}")));
    }
    context.printer.note_line(&format!("$ {command}"));
    let error = Command::new("sh").arg("-c").arg(&command).exec();
    Err(Failure::new(FailureKind::Output, format!("cannot start a shell: {error}")))
}
