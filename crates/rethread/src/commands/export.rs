//! `export`: writes sessions to a file, for another store or to read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rethread_engine::{Engine, SearchRequest, SessionListRequest, SessionLog};
use rethread_model::SessionId;
use tempfile::NamedTempFile;

use super::{CommandContext, Exit, no_sessions, scope};
use crate::cli::transfer::{ExportArgs, ExportFormat};
use crate::export::{html_document, markdown_document};
use crate::failure::{Failure, FailureKind};
use crate::render::{count, redaction_summary};

/// Hits of a search whose sessions are exported.
const MAX_HITS: usize = 1000;

/// Where an export goes. A file gets its name only once it is complete.
enum ExportTarget {
    Stdout,
    File { path: PathBuf, draft: BufWriter<NamedTempFile> },
}

/// What was exported.
struct Exported {
    sessions: u64,
    redactions: Vec<(&'static str, u64)>,
}

pub(crate) fn run(context: &CommandContext, args: &ExportArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let ids = chosen_sessions(context, &engine, args)?;
    if ids.is_empty() {
        return Ok(Exit::Nothing);
    }
    let mut target = ExportTarget::new(context, args)?;
    let exported = match args.format {
        ExportFormat::Jsonl => export_lines(context, &engine, &ids, &mut target)?,
        ExportFormat::Md => export_document(context, &engine, &ids, &mut target, markdown_document)?,
        ExportFormat::Html => export_document(context, &engine, &ids, &mut target, html_document)?,
    };
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

fn export_lines(
    context: &CommandContext,
    engine: &Engine,
    ids: &[SessionId],
    target: &mut ExportTarget,
) -> Result<Exported, Failure> {
    let report = engine.transfer().export(ids, &mut |line| target.write(context, line))?;
    for thread in &report.threads {
        context
            .printer
            .warn(&format!("{thread} is a thread and was left out; to export it: rethread thread export {thread}"));
    }
    Ok(Exported { sessions: report.sessions, redactions: report.redactions })
}

fn export_document(
    context: &CommandContext,
    engine: &Engine,
    ids: &[SessionId],
    target: &mut ExportTarget,
    render: fn(&[SessionLog], &jiff::tz::TimeZone) -> String,
) -> Result<Exported, Failure> {
    let mut logs = Vec::with_capacity(ids.len());
    let mut redactions = std::collections::BTreeMap::new();
    for id in ids {
        let readable = engine.transfer().readable(&id.to_string())?;
        for (kind, count) in readable.redactions {
            *redactions.entry(kind).or_insert(0) += count;
        }
        logs.push(readable.log);
    }
    target.write(context, &render(&logs, &context.zone))?;
    Ok(Exported { sessions: logs.len() as u64, redactions: redactions.into_iter().collect() })
}

impl ExportTarget {
    fn new(context: &CommandContext, args: &ExportArgs) -> Result<Self, Failure> {
        match &args.output {
            Some(path) if path != Path::new("-") => Self::file(context.environment.cwd.join(path)),
            _ if context.printer.is_read() && args.format != ExportFormat::Md => {
                let hint = format!("add --output sessions.{}", args.format.extension());
                Err(Failure::new(FailureKind::Usage, "an export is not written to a terminal").hint(hint))
            }
            _ => Ok(Self::Stdout),
        }
    }

    fn file(path: PathBuf) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        // Only its owner can read it.
        let draft = NamedTempFile::new_in(folder).map_err(|cause| {
            Failure::new(FailureKind::Output, format!("cannot write to {}: {cause}", folder.display()))
        })?;
        Ok(Self::File { path, draft: BufWriter::new(draft) })
    }

    fn write(&mut self, context: &CommandContext, text: &str) -> Result<(), Failure> {
        match self {
            ExportTarget::Stdout => Ok(context.printer.raw(text.as_bytes())?),
            ExportTarget::File { draft, .. } => Ok(draft.write_all(text.as_bytes())?),
        }
    }

    /// Gives the file its name. Returns where it is, as the end of a sentence.
    fn finish(self) -> Result<String, Failure> {
        let ExportTarget::File { path, draft } = self else { return Ok(String::new()) };
        let draft = draft.into_inner().map_err(|error| Failure::from(error.into_error()))?;
        let written: File = draft.persist(&path).map_err(|error| Failure::from(error.error))?;
        written.sync_all()?;
        Ok(format!(" to {}", path.display()))
    }
}
