//! Starts the agent that wrote a session, once the terminal is restored.

use rethread_engine::AgentCommand;
use rethread_model::Session;

use crate::commands::CommandContext;
use crate::failure::{Failure, FailureKind};
use crate::{launch, render};

/// Replaces this program by the agent's own command, in the directory of the session. Returns only if that fails.
pub(super) fn start_agent(context: &CommandContext, session: &Session) -> Failure {
    let Some(command) = AgentCommand::resume(session) else {
        let message = format!("{} cannot resume a session by its id", session.agent.label());
        return Failure::new(FailureKind::Usage, message);
    };
    context.printer.note_line(&render::command_summary(&command));
    launch::exec(&context.environment, &command)
}
