//! Starts an agent in the place of this program. Checks first that it can, so that the user learns what is missing.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rethread_engine::{AgentCommand, Environment};
use rethread_model::{Agent, Session, SessionKind};
use rustix::fs::{Access, access};

use crate::failure::{Failure, FailureKind};

/// Replaces this program by the agent, in the directory of the session. Returns only if that fails. A caller that
/// changed the terminal must restore it first.
pub(crate) fn exec(environment: &Environment, command: &AgentCommand) -> Failure {
    match prepare(environment, command) {
        Ok(mut process) => {
            let cause = process.exec();
            Failure::new(FailureKind::Launch, format!("cannot start {:?}: {cause}", command.program()))
        }
        Err(failure) => failure,
    }
}

/// The process to start. Fails if the directory or the program is missing.
pub(crate) fn prepare(environment: &Environment, command: &AgentCommand) -> Result<Command, Failure> {
    let directory = command.directory.as_deref().map_or(environment.cwd.clone(), |path| environment.cwd.join(path));
    if !directory.is_dir() {
        return Err(missing_directory(&directory));
    }
    let program = find_program(environment, command.program()).ok_or_else(|| missing_program(environment, command))?;
    let mut process = Command::new(program);
    process.args(command.words.iter().skip(1)).current_dir(directory);
    Ok(process)
}

/// The agents on the PATH that can be started with a first prompt.
pub(crate) fn installed_agents(environment: &Environment) -> Vec<Agent> {
    let is_installed = |agent: &Agent| {
        let words = rethread_engine::format_of(*agent).start_words("").unwrap_or_default();
        words.first().is_some_and(|program| find_program(environment, program).is_some())
    };
    AgentCommand::startable_agents().filter(is_installed).collect()
}

/// A program on the PATH. Relative directories on it are skipped: they would mean another place after the change of
/// directory, such as a repository with a `claude` of its own.
fn find_program(environment: &Environment, name: &str) -> Option<PathBuf> {
    let path = environment.variables.iter().find(|(variable, _)| variable == "PATH")?;
    let folders = std::env::split_paths(&path.1).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
}

fn missing_directory(directory: &Path) -> Failure {
    let message = format!("the directory of the session does not exist: {:?}", directory.display().to_string());
    let hint = "if it was moved, use `rethread resume REF --print` and run the command there";
    Failure::new(FailureKind::Launch, message).hint(hint)
}

fn missing_program(environment: &Environment, command: &AgentCommand) -> Failure {
    let (program, label) = (command.program(), command.agent.label());
    let failure = Failure::new(FailureKind::Launch, format!("cannot find the program {program:?} of {label}"));
    let failure = failure.hint("install it, or add its directory to your PATH");
    match installed_agents(environment).as_slice() {
        [] => failure,
        others => {
            failure.hint(format!("to continue in another agent: rethread resume REF --in {}", Agent::any_of(others)))
        }
    }
}

/// Why a session has no command that resumes it.
pub(crate) fn not_resumable(session: &Session) -> Failure {
    let (id, label) = (session.id, session.agent.label());
    if session.agent == Agent::Native {
        return is_thread(&id.to_string());
    }
    let message = match session.parent {
        Some(_) if session.kind == SessionKind::Child => {
            format!("{id} is a sub-agent, which cannot be resumed on its own")
        }
        _ if !AgentCommand::has_safe_directory(session) => {
            // No agent can be started there with a command line that is safe to print.
            let message = format!("the directory of {id} has characters that are not safe in a command line");
            return Failure::new(FailureKind::Usage, message);
        }
        _ => format!("{label} cannot resume a session by its id"),
    };
    let failure = Failure::new(FailureKind::Usage, message);
    failure.hint(format!("to continue in another agent with a handoff note: rethread resume {id} --in claude-code"))
}

/// Why a thread has none.
pub(crate) fn is_thread(id: &str) -> Failure {
    let failure = Failure::new(FailureKind::Usage, format!("{id} is a thread of Rethread, not a session of an agent"));
    failure.hint(format!("rethread thread send {id} 'TEXT'"))
}
