//! Waits for a key between two scenes, on a terminal.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// Ctrl-C and Ctrl-D, which are plain keys while we wait.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
/// The longest wait that a terminal can be asked for, in seconds.
const MAX_SECONDS: u8 = 25;

/// What the viewer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewerChoice {
    Continue,
    Quit,
    Interrupt,
}

/// Waits for a key, or until the time is over. Other keys stop the clock: then it waits for as long as it takes.
pub(super) fn wait(seconds: u8) -> io::Result<ViewerChoice> {
    let terminal = KeyMode::enter(seconds.min(MAX_SECONDS))?;
    loop {
        match next_key()? {
            None | Some(b'\n' | b'\r') => return Ok(ViewerChoice::Continue),
            Some(b'q' | b'Q' | CTRL_D) => return Ok(ViewerChoice::Quit),
            Some(CTRL_C) => return Ok(ViewerChoice::Interrupt),
            Some(_) => terminal.wait_for(None)?,
        }
    }
}

/// The terminal while it passes on each key at once. Restored when it is dropped.
struct KeyMode {
    before: Termios,
}

impl KeyMode {
    fn enter(seconds: u8) -> io::Result<Self> {
        let mode = Self { before: tcgetattr(io::stdin())? };
        mode.wait_for(Some(seconds))?;
        Ok(mode)
    }

    /// Sets how long [`next_key`] waits. Drops what was typed before.
    fn wait_for(&self, seconds: Option<u8>) -> io::Result<()> {
        let mut keys = self.before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        // A read returns after one key, or with nothing after this many tenths of a second.
        keys.special_codes[SpecialCodeIndex::VMIN] = u8::from(seconds.is_none());
        keys.special_codes[SpecialCodeIndex::VTIME] = seconds.map_or(0, |seconds| seconds * 10);
        Ok(tcsetattr(io::stdin(), OptionalActions::Flush, &keys)?)
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// The next key; `None` if there was none in time, or never will be.
fn next_key() -> io::Result<Option<u8>> {
    let mut key = [0];
    let count = rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut key))?;
    Ok(key.first().copied().filter(|_| count > 0))
}
