//! Runs a command of this program in a detached process.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::Engine;

impl Engine {
    /// Starts this program with the same home and settings. Returns whether it could be started. With a store on a
    /// server it is not: an address holds no password that other users cannot read, and with another store the process
    /// would make a database of its own.
    pub(crate) fn start_detached(&self, verb: &[&str]) -> bool {
        let Some(mut child) = self.spawn_detached(verb) else { return false };
        // The result is ignored, but the child must be reaped: a long-running server would otherwise collect zombies.
        std::thread::spawn(move || drop(child.wait()));
        true
    }

    /// The same for a caller that wants to know whether it ends.
    pub(crate) fn spawn_detached(&self, verb: &[&str]) -> Option<Child> {
        if self.environment.store.is_some() {
            return None;
        }
        let program = self.environment.binary.as_ref()?;
        let mut command = Command::new(program);
        command.arg("--quiet").arg("--home").arg(&self.folder);
        for (name, value) in &self.environment.config_overrides {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.args(verb);
        // Its own process group, so that Ctrl-C in the agent's terminal does not reach it.
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().ok()
    }
}
