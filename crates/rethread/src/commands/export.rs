//! `export`: writes sessions to a file, for another store or to read.

use std::path::Path;

use rethread_engine::{Engine, SearchRequest, SessionListRequest};
use rethread_model::SessionId;

use super::{CommandContext, Exit, no_sessions, scope};
use crate::cli::transfer::{ExportArgs, ExportFormat};
use crate::export::{NamedExport, export_sessions};
use crate::failure::{Failure, FailureKind};
use crate::render::{count, redaction_summary};

/// Hits of a search whose sessions are exported.
const MAX_HITS: usize = 1000;

/// Where an export goes.
enum ExportTarget {
    Stdout,
    File(NamedExport),
}

pub(crate) fn run(context: &CommandContext, args: &ExportArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let ids = chosen_sessions(context, &engine, args)?;
    if ids.is_empty() {
        return Ok(Exit::Nothing);
    }
    let mut target = ExportTarget::new(context, args)?;
    let mut write = |text: &str| target.write(context, text);
    let exported = export_sessions(&engine, &context.zone, &ids, args.format, &mut write)?;
    for thread in &exported.left_out {
        context
            .printer
            .warn(&format!("{thread} is a thread and was left out; to export it: rethread thread export {thread}"));
    }
    let place = target.finish()?;
    context.printer.note_line(&format!("Exported {}{place}.", count(exported.sessions, "session")));
    context.printer.note_line(&redaction_summary(&exported.redactions));
    Ok(Exit::Done)
}

/// Says so if there are none.
fn chosen_sessions(context: &CommandContext, engine: &Engine, args: &ExportArgs) -> Result<Vec<SessionId>, Failure> {
    let mut ids: Vec<SessionId> = Vec::new();
    if !args.references.is_empty() {
        for reference in &args.references {
            ids.push(engine.sessions().resolve(reference)?.session.id);
        }
        return Ok(unique(ids));
    }
    let scope = scope(context, engine, &args.scope)?;
    if let Some(query) = &args.search {
        let request = SearchRequest { text: query.clone(), scope, limit: MAX_HITS, ..SearchRequest::default() };
        let hits = engine.search().run(&request)?.hits;
        if hits.len() == MAX_HITS {
            context.printer.warn(&format!("only the sessions of the first {MAX_HITS} hits are exported"));
        }
        ids.extend(hits.iter().map(|found| found.hit.session.id));
        if ids.is_empty() {
            context.printer.note_line("No session matches the search.");
        }
        return Ok(unique(ids));
    }
    let is_for_import = args.format == ExportFormat::Jsonl;
    let request = SessionListRequest {
        scope: scope.clone(),
        include_empty: is_for_import,
        include_children: is_for_import,
        ..SessionListRequest::default()
    };
    ids.extend(engine.sessions().list(&request)?.into_iter().map(|listed| listed.session.id));
    if ids.is_empty() {
        context.printer.note_line(&no_sessions(&scope));
    }
    Ok(ids)
}

/// Each id once, in the same order.
fn unique(mut ids: Vec<SessionId>) -> Vec<SessionId> {
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}

impl ExportTarget {
    fn new(context: &CommandContext, args: &ExportArgs) -> Result<Self, Failure> {
        match &args.output {
            Some(path) if path != Path::new("-") => {
                Ok(Self::File(NamedExport::open(&context.environment.cwd.join(path))?))
            }
            _ if context.printer.is_read() && args.format != ExportFormat::Md => {
                let hint = format!("add --output sessions.{}", args.format.extension());
                Err(Failure::new(FailureKind::Usage, "an export is not written to a terminal").hint(hint))
            }
            _ => Ok(Self::Stdout),
        }
    }

    fn write(&mut self, context: &CommandContext, text: &str) -> Result<(), Failure> {
        match self {
            ExportTarget::Stdout => Ok(context.printer.raw(text.as_bytes())?),
            ExportTarget::File(file) => file.write(text),
        }
    }

    /// Gives the file its name. Returns where it is, as the end of a sentence.
    fn finish(self) -> Result<String, Failure> {
        let ExportTarget::File(file) = self else { return Ok(String::new()) };
        Ok(format!(" to {}", file.finish()?.display()))
    }
}
