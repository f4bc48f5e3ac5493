//! What every generator of a home does: say what it could not understand, write, and report.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes the home that is wished for and prints the report; 2 for arguments not understood, 3 if it cannot be written.
pub fn run<W>(
    usage: &str,
    asked: Option<(PathBuf, W)>,
    generate: impl FnOnce(&Path, W) -> io::Result<serde_json::Value>,
) -> ExitCode {
    let Some((home, wish)) = asked else {
        let _ = writeln!(io::stderr(), "error: arguments not understood\nhint: {usage}");
        return ExitCode::from(2);
    };
    match generate(&home, wish).and_then(|report| writeln!(io::stdout(), "{report}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: cannot write below {}\ncause: {error}", home.display());
            ExitCode::from(3)
        }
    }
}
