//! `import`: reads sessions that `export` wrote.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rethread_engine::{ImportMode, ImportReport};

use super::{CommandContext, Exit, print_index};
use crate::cli::transfer::ImportArgs;
use crate::failure::{Failure, FailureKind};
use crate::json::ImportReportJson;
use crate::render::{count, number, redaction_summary};

/// Problems listed before the rest is only counted.
const MAX_PROBLEMS: usize = 20;

pub(crate) fn run(context: &CommandContext, args: &ImportArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let (mut input, length) = open(&args.file)?;
    let mode = if args.dry_run { ImportMode::DryRun } else { ImportMode::Store };
    let bar = context.printer.bar();
    let report = engine.transfer().import(&mut *input, mode, &mut |bytes| bar.show_bytes(bytes, length))?;
    drop(bar);
    if args.json.json {
        context.printer.json(&ImportReportJson::new(&report, args.dry_run))?;
    } else {
        print(context, &report, args.dry_run);
    }
    if !args.dry_run {
        print_index(context, &report.index.outcome);
    }
    Ok(if report.problems.is_empty() { Exit::Done } else { Exit::Nothing })
}

/// The file and its length; 0 if that is unknown.
fn open(path: &Path) -> Result<(Box<dyn BufRead>, u64), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(std::io::stdin())), 0));
    }
    let opened = File::open(path).and_then(|file| file.metadata().map(|found| (file, found)));
    match opened {
        Ok((_, found)) if found.is_dir() => {
            let failure = Failure::new(FailureKind::Usage, format!("{} is a directory", path.display()));
            Err(failure.hint("name the file that `rethread export` wrote"))
        }
        Ok((file, found)) => Ok((Box::new(BufReader::new(file)), found.len())),
        Err(error) => Err(Failure::new(FailureKind::NotFound, format!("cannot read {}: {error}", path.display()))
            .hint("write the file with `rethread export --output FILE`")),
    }
}

fn print(context: &CommandContext, report: &ImportReport, is_dry: bool) {
    let printer = &context.printer;
    let known = report.known_sessions + report.extended_sessions;
    printer.note_line(&format!(
        "{} {} and {}; {} already here.",
        if is_dry { "Would import" } else { "Imported" },
        count(report.new_sessions, "new session"),
        if report.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", number(report.entries)) },
        number(known)
    ));
    if report.forgotten_sessions > 0 {
        let were = if report.forgotten_sessions == 1 { "was" } else { "were" };
        let sessions = count(report.forgotten_sessions, "session");
        printer.note_line(&format!("Skipped {sessions} that {were} forgotten here."));
    }
    if !report.redactions.is_empty() {
        printer.note_line(&redaction_summary(&report.redactions));
    }
    for problem in report.problems.iter().take(MAX_PROBLEMS) {
        printer.warn(&format!("line {} was skipped: {}", problem.line, problem.reason));
    }
    let more = report.problems.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        printer.warn(&format!("{} more lines were skipped", number(more as u64)));
    }
}
