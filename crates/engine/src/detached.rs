//! Runs a verb in a process of its own that nobody waits for.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::Engine;

impl Engine {
    /// Starts this program with the same home and settings; whether that worked.
    pub(crate) fn start_detached(&self, verb: &[&str]) -> bool {
        let Some(program) = &self.environment.binary else { return false };
        let mut command = Command::new(program);
        command.arg("--quiet").arg("--home").arg(&self.folder);
        for (name, value) in &self.environment.flags {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.args(verb);
        // A group of its own, so that Ctrl-C in the agent's terminal is not for it.
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let Ok(mut child) = command.spawn() else { return false };
        // Nobody waits for it, but a server must not collect what is left of those that have ended.
        std::thread::spawn(move || drop(child.wait()));
        true
    }
}
