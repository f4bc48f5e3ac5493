//! Runs a command of this program in a detached process.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::Engine;

impl Engine {
    /// Starts this program with the same home and settings. Returns whether it could be started. With a store on a
    /// server it is not: an address holds no password that other users cannot read, and with another store the process
    /// would make a database of its own.
    pub(crate) fn start_detached(&self, verb: &[&str]) -> bool {
        if self.environment.store.is_some() {
            return false;
        }
        let Some(program) = &self.environment.binary else { return false };
        let mut command = Command::new(program);
        command.arg("--quiet").arg("--home").arg(&self.folder);
        for (name, value) in &self.environment.config_overrides {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.args(verb);
        // Its own process group, so that Ctrl-C in the agent's terminal does not reach it.
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let Ok(mut child) = command.spawn() else { return false };
        // The result is ignored, but the child must be reaped: a long-running server would otherwise collect zombies.
        std::thread::spawn(move || drop(child.wait()));
        true
    }
}
