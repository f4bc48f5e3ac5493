//! `import`: reads sessions that `export` wrote.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rethread_engine::ImportReport;

use super::{CommandContext, Exit, print_index};
use crate::cli::transfer::ImportArgs;
use crate::failure::{Failure, FailureKind};
use crate::json::ImportReportJson;
use crate::render::{count, number, redaction_summary};

/// Problems listed before the rest is only counted.
const MAX_PROBLEMS: usize = 20;

pub(crate) fn run(context: &CommandContext, args: &ImportArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let report = engine.transfer().import(&mut *open(&args.file)?)?;
    if args.json.json {
        context.printer.json(&ImportReportJson::new(&report))?;
    } else {
        print(context, &report);
    }
    print_index(context, &report.index.outcome);
    Ok(if report.problems.is_empty() { Exit::Done } else { Exit::Nothing })
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(BufReader::new(file))),
        Err(error) => Err(Failure::new(FailureKind::NotFound, format!("cannot read {}: {error}", path.display()))
            .hint("write the file with `rethread export --output FILE`")),
    }
}

fn print(context: &CommandContext, report: &ImportReport) {
    let printer = &context.printer;
    let known = report.known_sessions + report.extended_sessions;
    printer.note_line(&format!(
        "Imported {} and {}; {} known already.",
        count(report.new_sessions, "new session"),
        if report.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", number(report.entries)) },
        count(known, "session")
    ));
    if report.forgotten_sessions > 0 {
        printer.note_line(&format!("{} stayed out: forgotten here.", count(report.forgotten_sessions, "session")));
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
