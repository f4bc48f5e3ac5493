//! How errors and commands are named: what a user pastes is named as what agents did.

use rethread_ingest::facts;

/// The signature of the most telling line of a text. Nothing where it would fit any error.
pub(crate) fn signature(text: &str) -> Option<String> {
    facts::signature(&facts::telling_line(text)?)
}

/// A command as one thing: program and subcommand, without directories, variables and arguments.
pub(crate) fn command_entity(command: &str) -> Option<String> {
    facts::command_name(command)
}
