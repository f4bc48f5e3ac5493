//! `search`: prints the most relevant entries first.

use std::time::Duration;

use rethread_engine::{Engine, IndexOutcome, SearchReport, SearchRequest, SessionScope};

use super::{CommandContext, Exit, hint_if_unsynced, print_index, scope};
use crate::cli::search::SearchArgs;
use crate::failure::{Failure, FailureKind};
use crate::json::SearchResultJson;
use crate::render::{self, SearchView};

/// How long to wait for another process that writes before the search continues without the newest lines.
const SYNC_LOCK_WAIT: Duration = Duration::from_millis(300);

pub(crate) fn run(context: &CommandContext, args: &SearchArgs) -> Result<Exit, Failure> {
    let text = args.query.join(" ");
    if text.trim().is_empty() && !has_filter(args) {
        return Err(Failure::new(FailureKind::Usage, "empty query")
            .hint("give words or a filter: rethread search 'why did the parser drop a line'"));
    }
    let engine = context.engine()?;
    let request = SearchRequest {
        text,
        scope: match &args.session {
            // A session is searched whatever its project is.
            Some(_) => engine.sessions().current_project(),
            None => scope(context, &engine, &args.scope)?,
        },
        session: args.session.clone(),
        agent: args.agent,
        kinds: args.kinds.clone(),
        files: args.files.clone(),
        tools: args.tools.clone(),
        state: None,
        since: args.time.since.clone(),
        until: args.time.until.clone(),
        limit: usize::from(args.limit),
        full_text: args.full,
        include_exchanges: args.exchange,
        read_only: false,
    };
    let (report, unsynced) = search_newest_content(context, &engine, &request)?;
    if let Some(notice) = &report.notice {
        context.printer.note_line(notice);
    }
    match &report.degraded {
        Some(warning) => context.printer.warn(warning),
        None => print_index(context, &report.index),
    }
    if args.json.json {
        context.printer.json(&SearchResultJson::new(&request.text, &report, args.full, args.exchange))?;
    } else if !report.hits.is_empty() {
        print(context, &engine, (args, &request), &report)?;
    }
    if report.hits.is_empty() {
        explain_empty(context, &engine, &request)?;
    }
    if unsynced > 0 {
        context.printer.hint(&render::unsynced_transcripts(unsynced));
    }
    Ok(if report.hits.is_empty() { Exit::Nothing } else { Exit::Done })
}

/// Searches, and returns the number of transcripts whose new content was not searched.
///
/// Looking for new content takes as long as the search, so both run at once. Most of the time there is nothing new.
fn search_newest_content(
    context: &CommandContext,
    engine: &Engine,
    request: &SearchRequest,
) -> Result<(SearchReport, u64), Failure> {
    let syncing = context.quiet_engine()?.with_store_timeout(SYNC_LOCK_WAIT);
    if engine.search().asks_model() {
        // Every search sends a request to the model, so there must be only one.
        let unsynced = syncing.sync().unsynced()?;
        let is_synced = syncing.sync().run_if_small(unsynced)?;
        return Ok((engine.search().run(request)?, if is_synced { 0 } else { unsynced.transcripts }));
    }
    let (report, unsynced) = std::thread::scope(|scope| {
        let unsynced = scope.spawn(|| syncing.sync().unsynced());
        (engine.search().run(request), unsynced.join())
    });
    let unsynced = unsynced.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let mut report = report?;
    let is_synced = syncing.sync().run_if_small(unsynced).unwrap_or_else(|error| {
        context.printer.warn(&format!("new lines could not be read: {error}"));
        false
    });
    // Another process may have stored something after the search and before the comparison.
    if is_synced || unsynced.change > report.change {
        let again = engine.search().run(request)?;
        let index = if again.index == IndexOutcome::UpToDate { report.index } else { again.index };
        report = SearchReport { index, ..again };
    }
    Ok((report, if is_synced { 0 } else { unsynced.transcripts }))
}

fn has_filter(args: &SearchArgs) -> bool {
    let time = &args.time;
    let lists = [args.kinds.is_empty(), args.files.is_empty(), args.tools.is_empty()];
    let ones = [args.agent.is_some(), args.session.is_some(), time.since.is_some(), time.until.is_some()];
    lists.contains(&false) || ones.contains(&true)
}

fn print(
    context: &CommandContext,
    engine: &Engine,
    (args, request): (&SearchArgs, &SearchRequest),
    report: &SearchReport,
) -> Result<(), Failure> {
    let options = SearchView { now: engine.now(), with_project: request.scope == SessionScope::AllProjects };
    let mut page = context.printer.page();
    if args.group {
        render::search_by_session(&mut page, report, options);
    } else {
        render::search(&mut page, report, options);
    }
    context.printer.answer(&page)?;
    context.printer.note_line(&format!("\n{}", render::search_summary(report)));
    if let Some(best) = report.hits.first().map(|found| &found.hit) {
        let citation = best.session.citation(best.entry.location.line);
        context.printer.hint(&format!("rethread show {citation}"));
    }
    Ok(())
}

fn explain_empty(context: &CommandContext, engine: &Engine, request: &SearchRequest) -> Result<(), Failure> {
    context.printer.note_line("Nothing found.");
    let is_limited = request.scope != SessionScope::AllProjects && request.session.is_none();
    let everywhere = SearchRequest {
        scope: SessionScope::AllProjects,
        limit: 1,
        full_text: false,
        include_exchanges: false,
        ..request.clone()
    };
    if is_limited && !engine.search().run(&everywhere)?.hits.is_empty() {
        context.printer.hint("there are results in other projects: add --all-projects");
        return Ok(());
    }
    hint_if_unsynced(context, engine)
}
