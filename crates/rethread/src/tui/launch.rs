//! Starts the agent that wrote a session, or another one, once the terminal is restored.

use rethread_engine::{AgentCommand, Engine};
use rethread_model::{Agent, Session};

use crate::commands::CommandContext;
use crate::failure::{Failure, FailureKind};
use crate::{launch, render};

/// Whether the agent can be started in the directory of the session.
pub(super) fn check_agent(context: &CommandContext, session: &Session) -> Result<(), Failure> {
    launch::prepare(&context.environment, &resume_command(session)?).map(|_| ())
}

/// Replaces this program by the agent's own command, in the directory of the session. Returns only if that fails.
pub(super) fn start_agent(context: &CommandContext, session: &Session) -> Failure {
    resume_command(session).map_or_else(|failure| failure, |command| start(context, &command))
}

/// Replaces this program by another agent, with a handoff note as its first prompt. Returns only if that fails.
pub(super) fn hand_over(context: &CommandContext, engine: &Engine, session: &Session, agent: Agent) -> Failure {
    match engine.sessions().hand_over(&session.id.to_string(), agent) {
        Ok(Some(command)) => start(context, &command),
        Ok(None) => {
            let message = format!("{} cannot be started with a first prompt", agent.label());
            Failure::new(FailureKind::Usage, message)
        }
        Err(error) => error.into(),
    }
}

fn resume_command(session: &Session) -> Result<AgentCommand, Failure> {
    AgentCommand::resume(session).ok_or_else(|| launch::not_resumable(session))
}

fn start(context: &CommandContext, command: &AgentCommand) -> Failure {
    context.printer.note_line(&render::command_summary(command));
    launch::exec(&context.environment, command)
}
