//! `thread export` and `thread import`: a thread as a file, byte for byte.

use std::io::Read;
use std::path::Path;

use rethread_engine::ImportRequest;
use rethread_model::thread::ThreadId;

use super::{CommandContext, Exit, remember};
use crate::cli::thread::{ThreadExportArgs, ThreadImportArgs};
use crate::failure::{Failure, FailureKind};
use crate::json;

pub(super) fn export(context: &CommandContext, args: &ThreadExportArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let reference = &args.thread.reference;
    match &args.output {
        Some(path) => engine.threads().export_to_file(reference, path)?,
        None => context.printer.raw(&engine.threads().export(reference)?)?,
    }
    Ok(Exit::Done)
}

pub(super) fn import(context: &CommandContext, args: &ThreadImportArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let log = read_log(&args.file)?;
    let id = if args.new_id { None } else { id_in_path(&args.file) };
    let imported = engine.threads().import(&ImportRequest { id, log, allows_damage: args.allow_damaged })?;
    for problem in &imported.problems {
        context.printer.warn(&format!("line {} is not a record: {}", problem.line, problem.reason));
    }
    if args.json.json {
        context.printer.json(&json::CreatedThreadJson::new(&imported.metadata))?;
    } else {
        context.printer.raw(format!("{}\n", imported.metadata.id).as_bytes())?;
    }
    remember(context, &engine, imported.metadata.id);
    Ok(Exit::Done)
}

fn read_log(path: &Path) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|error| {
        Failure::new(FailureKind::NotFound, format!("cannot read {}: {error}", path.display()))
            .hint("write the file with `rethread thread export REF --output FILE`")
    })
}

/// The id that a file is named after, as in `ID.jsonl` and `ID/session.jsonl`.
fn id_in_path(path: &Path) -> Option<ThreadId> {
    let names = [path.file_stem(), path.parent().and_then(Path::file_name)];
    names.into_iter().flatten().find_map(|name| name.to_str()?.parse().ok())
}
