//! Shared `main` of the generator programs: checks the arguments, generates, and prints a report.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Generates a home and prints the report. Exit code 2 for invalid arguments, 3 if writing fails.
pub fn run<W>(
    usage: &str,
    asked: Option<(PathBuf, W)>,
    generate: impl FnOnce(&Path, W) -> io::Result<serde_json::Value>,
) -> ExitCode {
    let Some((home, spec)) = asked else {
        let _ = writeln!(io::stderr(), "error: invalid arguments\nhint: {usage}");
        return ExitCode::from(2);
    };
    match generate(&home, spec).and_then(|report| writeln!(io::stdout(), "{report}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: cannot write to {}\ncause: {error}", home.display());
            ExitCode::from(3)
        }
    }
}
