//! Runs the binary in a pseudo-terminal of 80 columns and types into it, as a person would.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::TestHome;

/// The width that the binary uses.
const COLUMNS: &str = "80";
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

impl TestHome {
    /// Runs the binary in a terminal where `typed` is typed; its exit code, and all it printed with `typed` echoed.
    pub fn run_in_terminal(&self, arguments: &[&str], typed: &str) -> (Option<i32>, String) {
        self.run_in_terminal_with(arguments, typed, &[])
    }

    /// The same with variables in the environment.
    pub fn run_in_terminal_with(
        &self,
        arguments: &[&str],
        typed: &str,
        variables: &[(&str, &str)],
    ) -> (Option<i32>, String) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, SIZE).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let program_side = || {
            let path = OsStr::from_bytes(name.as_bytes());
            OpenOptions::new().read(true).write(true).open(path).unwrap()
        };
        let mut command = self.command(arguments);
        command.env("COLUMNS", COLUMNS).env("TERM", "dumb").envs(variables.iter().copied());
        command.stdin(program_side()).stdout(program_side()).stderr(program_side());
        let mut child = command.spawn().unwrap();
        // Our copies of the program's side must be closed, or reading would never end.
        drop(command);
        let mut terminal = File::from(terminal);
        terminal.write_all(typed.as_bytes()).unwrap();
        let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
        // Linux reports an error instead of the end once the program has closed its side.
        while let Ok(count @ 1..) = terminal.read(&mut part) {
            bytes.extend_from_slice(&part[..count]);
        }
        let code = child.wait().unwrap().code();
        (code, String::from_utf8(bytes).unwrap().replace("\r\n", "\n"))
    }
}
