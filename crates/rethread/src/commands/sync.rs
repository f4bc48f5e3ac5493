//! `sync` and `rebuild`: read transcripts, and tell what came of it.

use rethread_engine::{Engine, Indexed, SyncReport, SyncRequest, Unusable};

use super::{Context, Exit, tell_index};
use crate::cli::{Rebuild, Sync};
use crate::failure::Failure;
use crate::json::{Synced, WouldSync};
use crate::render::{self, count};

/// Reads what is new, or shows what would be read.
pub(crate) fn run(context: &Context, request: Sync) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = SyncRequest {
        agent: request.agent,
        paths: request.paths,
        since: request.since.map(|since| since.before(engine.now())),
    };
    if request.dry_run {
        return would_sync(context, &engine, &wanted, request.json.json);
    }
    let bar = context.printer.bar();
    let report = engine.sync(&wanted, &mut |progress| bar.show(progress))?;
    drop(bar);
    if request.json.json {
        context.printer.json(&Synced::new(&report))?;
        index_trouble(context, &report.index.outcome);
    } else {
        tell(context, &report)?;
    }
    Ok(Exit::Done)
}

/// Derives everything again, or only the search index.
pub(crate) fn rebuild(context: &Context, request: Rebuild) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    if request.index_only {
        return rebuild_index(context, &engine);
    }
    let bar = context.printer.bar();
    let report = engine.rebuild(&mut |progress| bar.show(progress))?;
    drop(bar);
    tell(context, &report.sync)?;
    if report.kept > 0 {
        let sessions = count(report.kept, "session");
        context.printer.note_line(&format!("{sessions} kept from before, because their transcripts are gone"));
    }
    Ok(Exit::Done)
}

/// Makes the search index again from what is stored.
fn rebuild_index(context: &Context, engine: &Engine) -> Result<Exit, Failure> {
    let report = engine.rebuild_index()?;
    let mut page = context.printer.page();
    render::indexed(&mut page, &report);
    context.printer.answer(&page)?;
    if page.as_str().is_empty() {
        context.printer.note_line("There is nothing to index.");
        context.printer.hint("nothing was read yet: rethread init");
    }
    Ok(Exit::Done)
}

/// Tells people what was read, and what could not be.
pub(crate) fn tell(context: &Context, report: &SyncReport) -> Result<(), Failure> {
    let mut page = context.printer.page();
    render::synced(&mut page, report);
    context.printer.answer(&page)?;
    let mut side = context.printer.side_page();
    render::warnings(&mut side, &report.agents, context.printer.verbosity() > 0);
    if !index_trouble(context, &report.index.outcome) {
        render::indexed(&mut side, &report.index);
    }
    context.printer.note(&side);
    tell_embeddings(context, report);
    if report.agents.iter().all(|agent| agent.files == 0) {
        nothing_to_read(context);
    }
    Ok(())
}

/// Says what became of the meanings, where an embedding model is configured.
pub(crate) fn tell_embeddings(context: &Context, report: &SyncReport) {
    let Some(report) = &report.embeddings else { return };
    if report.made > 0 {
        context.printer.note_line(&render::embedded(report));
    }
    if let Some(why) = &report.failed {
        context.printer.warn(&render::not_embedded(why));
    }
}

/// Says what was wrong with the index, if anything was. That there was none yet is as it should be.
pub(crate) fn index_trouble(context: &Context, index: &Indexed) -> bool {
    let is_trouble = match index {
        Indexed::Nothing | Indexed::Busy => false,
        Indexed::Episodes { anew, .. } => anew.is_some_and(|why| why != Unusable::Missing),
        Indexed::Failed(_) => true,
    };
    if is_trouble {
        tell_index(context, index);
    }
    is_trouble
}

fn would_sync(context: &Context, engine: &Engine, wanted: &SyncRequest, json: bool) -> Result<Exit, Failure> {
    let (runs, estimates) = engine.sync_dry_run_with_costs(wanted)?;
    if json {
        context.printer.json(&WouldSync::new(&runs, estimates.as_deref()))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::would_sync(&mut page, &runs);
    render::estimates(&mut page, &estimates.unwrap_or_default());
    context.printer.answer(&page)?;
    if runs.iter().all(|run| run.files == 0) {
        nothing_to_read(context);
    }
    Ok(Exit::Done)
}

fn nothing_to_read(context: &Context) {
    context.printer.note_line("No transcripts found.");
    context.printer.hint("`rethread doctor` shows where they are looked for");
}
