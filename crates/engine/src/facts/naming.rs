//! Names errors and commands, so that text a user pastes gets the same name as what agents did.

use rethread_ingest::facts;

/// The signature of the most significant line of a text; `None` if it would match any error.
pub(crate) fn error_signature(text: &str) -> Option<String> {
    facts::signature(&facts::identifying_line(text)?)
}

/// A command as an entity: program and subcommand, without directories, variables and arguments.
pub(crate) fn command_entity(command: &str) -> Option<String> {
    facts::command_name(command)
}
