//! `search`: what was said and done, best first.

use rethread_engine::{Engine, Scope, SearchReport, SearchRequest};

use super::{Context, Exit, scope, tell_index};
use crate::cli::Search;
use crate::failure::{Failure, Kind};
use crate::json::Recall;
use crate::render::{self, Wanted};

/// Finds what fits best in a project, in all, or in one session.
pub(crate) fn run(context: &Context, request: &Search) -> Result<Exit, Failure> {
    let text = request.query.join(" ");
    if text.trim().is_empty() && !has_filter(request) {
        return Err(Failure::new(Kind::Usage, "nothing to search for")
            .hint("give words or a filter: rethread search 'why did the parser drop a line'"));
    }
    let engine = context.engine()?;
    let wanted = SearchRequest {
        text,
        scope: scope(&engine, &request.place),
        session: request.session.clone(),
        agent: request.agent,
        kinds: request.kinds.clone(),
        files: request.files.clone(),
        tools: request.tools.clone(),
        since: request.time.since.clone(),
        until: request.time.until.clone(),
        limit: usize::from(request.limit),
        full: request.full,
        exchanges: request.exchange,
        only_reads: false,
    };
    let report = engine.search(&wanted)?;
    match &report.degraded {
        Some(what) => context.printer.warn(what),
        None => tell_index(context, &report.index),
    }
    if request.json.json {
        context.printer.json(&Recall::new(&wanted.text, &report, request.full, request.exchange))?;
    } else if !report.hits.is_empty() {
        tell(context, &engine, request, &report)?;
    }
    if report.hits.is_empty() {
        explain(context, &engine, &wanted)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn has_filter(request: &Search) -> bool {
    let time = &request.time;
    let lists = [request.kinds.is_empty(), request.files.is_empty(), request.tools.is_empty()];
    let ones = [request.agent.is_some(), request.session.is_some(), time.since.is_some(), time.until.is_some()];
    lists.contains(&false) || ones.contains(&true)
}

fn tell(context: &Context, engine: &Engine, request: &Search, report: &SearchReport) -> Result<(), Failure> {
    let wanted = Wanted { now: engine.now(), with_project: request.place.all_projects };
    let mut page = context.printer.page();
    if request.group {
        render::grouped(&mut page, report, wanted);
    } else {
        render::search(&mut page, report, wanted);
    }
    context.printer.answer(&page)?;
    context.printer.note_line(&format!("\n{}", render::summary(report)));
    if let Some(best) = report.hits.first().map(|found| &found.hit) {
        let citation = best.session.citation(best.entry.place.line);
        context.printer.hint(&format!("rethread show {citation}"));
    }
    Ok(())
}

/// Says where something could be when there is nothing here.
fn explain(context: &Context, engine: &Engine, wanted: &SearchRequest) -> Result<(), Failure> {
    context.printer.note_line("Nothing found.");
    let is_confined = wanted.scope != Scope::AllProjects && wanted.session.is_none();
    let everywhere =
        SearchRequest { scope: Scope::AllProjects, limit: 1, full: false, exchanges: false, ..wanted.clone() };
    if is_confined && !engine.search(&everywhere)?.hits.is_empty() {
        context.printer.hint("there are hits in other projects: add --all-projects");
    } else {
        match engine.status()?.statistics {
            None => context.printer.hint("nothing was read yet: rethread init"),
            Some(all) if all.entries == 0 => context.printer.hint("nothing was read yet: rethread sync"),
            Some(_) => {}
        }
    }
    Ok(())
}
