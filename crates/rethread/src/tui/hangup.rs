//! Ends the process when its terminal goes away: a closed window, a killed multiplexer, a lost connection.

use std::io::{self, stdout};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::SIGHUP;
use signal_hook::low_level::emulate_default_handler;

/// Watches the terminal, which stdout is, on a thread.
///
/// The library that reads keys never returns once the terminal is gone: it reads the end of the input again and again.
/// So this thread ends the whole process, as the signal for a closed terminal does. Nothing has to be given back, and
/// the store survives the end of a process at any point.
pub(super) fn end_with_terminal() -> io::Result<()> {
    std::thread::Builder::new().spawn(wait_for_hangup).map(|_| ())
}

fn wait_for_hangup() {
    let terminal = stdout();
    loop {
        // Without events to wait for, only a hangup or an error is reported.
        let mut watched = [PollFd::new(&terminal, PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(Errno::INTR) => {}
            Err(_) => return,
            Ok(_) => break,
        }
    }
    // Also if the parent process made us ignore the signal.
    let _ = emulate_default_handler(SIGHUP);
}
