//! `init`: finds agents, shows what would change, asks, installs hooks and runs the first sync.

use std::path::Path;

use rethread_engine::{
    AgentSyncPlan, Engine, InstallLocation, InstallPlan, InstallScope, SessionListRequest, SyncRequest,
};
use rethread_model::Agent;

use super::{CommandContext, Exit, print_suggestions, sync};
use crate::cli::setup::InitArgs;
use crate::demo;
use crate::failure::Failure;
use crate::render::{CellAlign, TextPage, Tone, bytes, count, number};

/// Without a terminal and without `--yes` it only shows the plan.
pub(crate) fn run(context: &CommandContext, args: &InitArgs) -> Result<Exit, Failure> {
    let mut context = context.clone();
    let agents = args.agents.iter().map(|agent| agent.as_str()).collect::<Vec<_>>().join(",");
    if !agents.is_empty() {
        context.environment.config_overrides.push(("intake.agents".to_owned(), agents.clone()));
    }
    let engine = context.engine()?;
    let found = engine.sync_dry_run(&SyncRequest::default())?;
    if found.iter().all(|run| run.files == 0) {
        return no_transcripts(&context);
    }
    let hooks = if args.no_hooks { Vec::new() } else { hook_plans(&context, &engine, &found) };
    show_plan(&context, &engine, &found, &agents, &hooks)?;
    if !args.yes && !confirm(&context)? {
        return Ok(Exit::Done);
    }
    if !agents.is_empty() {
        engine.config().set("intake.agents", &agents)?;
    }
    let bar = context.printer.bar();
    let report = engine.sync(&SyncRequest::default(), &mut |progress| bar.show(progress))?;
    drop(bar);
    sync::print_report(&context, &report)?;
    for (agent, plan) in &hooks {
        engine.apply_install_plan(plan)?;
        context.printer.note_line(&format!("Installed hooks for {agent}; new sessions use them."));
    }
    suggest(&context, &engine)?;
    Ok(Exit::Done)
}

/// The hook changes for the agents that were found. Settings that cannot be changed are reported and skipped.
fn hook_plans(context: &CommandContext, engine: &Engine, found: &[AgentSyncPlan]) -> Vec<(Agent, InstallPlan)> {
    let is_found = |agent| found.iter().any(|run| run.agent == agent && run.files > 0);
    let mut plans = Vec::new();
    for (agent, place) in [
        (Agent::ClaudeCode, InstallLocation::ClaudeCode(InstallScope::User)),
        (Agent::Pi, InstallLocation::Pi(InstallScope::User)),
    ] {
        let has_plugin = agent == Agent::ClaudeCode && engine.uses_plugin();
        if !is_found(agent) || has_plugin {
            continue;
        }
        match engine.plan_install(&place) {
            Ok(plan) if plan.is_empty() => {}
            Ok(plan) => plans.push((agent, plan)),
            Err(error) => context.printer.warn(&format!("cannot install hooks for {agent}: {error}")),
        }
    }
    plans
}

fn show_plan(
    context: &CommandContext,
    engine: &Engine,
    found: &[AgentSyncPlan],
    agents: &str,
    hooks: &[(Agent, InstallPlan)],
) -> Result<(), Failure> {
    let mut page = context.printer.page();
    plan_lines(&mut page, found, engine, agents);
    for (agent, plan) in hooks {
        let (verb, what) = if *agent == Agent::ClaudeCode { ("add", "hooks to ") } else { ("write", "") };
        plan.changes().for_each(|file| step(&mut page, verb, &format!("{what}{}", file.path.display())));
    }
    if !hooks.is_empty() {
        page.end_line();
    }
    for (agent, _) in hooks {
        let undo =
            format!("`rethread install {agent} --print` shows the change, `rethread uninstall {agent}` undoes it");
        page.line(Tone::Dim, &undo);
    }
    page.end_line();
    Ok(context.printer.answer(&page)?)
}

fn plan_lines(page: &mut TextPage, found: &[AgentSyncPlan], engine: &Engine, agents: &str) {
    page.line(Tone::Strong, "Found");
    for run in found {
        page.add(Tone::Plain, "  ").cell(Tone::Plain, run.agent.as_str(), 13, CellAlign::Left);
        page.cell(Tone::Plain, &number(run.files), 6, CellAlign::Right);
        let noun = if run.files == 1 { "transcript" } else { "transcripts" };
        let size = if run.files_changed == 0 { "nothing new".to_owned() } else { bytes(run.bytes) };
        page.line(Tone::Plain, &format!(" {noun}, {size}"));
    }
    let folder = engine.folder();
    page.end_line().line(Tone::Strong, "This will");
    let verb = if is_new(folder) { "create" } else { "use" };
    step(page, verb, &format!("{} (readable only by you)", folder.display()));
    if !agents.is_empty() {
        step(page, "set", &format!("intake.agents = {agents} in {}", engine.config().path().display()));
    }
    let files = found.iter().map(|run| run.files_changed).sum();
    step(page, "read", &format!("{}; secrets are removed before anything is stored", count(files, "transcript")));
}

fn step(page: &mut TextPage, verb: &str, what: &str) {
    page.add(Tone::Plain, "  ").cell(Tone::Success, verb, 8, CellAlign::Left).line(Tone::Plain, what);
}

fn is_new(folder: &Path) -> bool {
    !folder.exists()
}

fn confirm(context: &CommandContext) -> Result<bool, Failure> {
    if !context.printer.can_ask() {
        context.printer.note_line("Nothing was changed.");
        context.printer.hint("to continue, run `rethread init --yes`");
        return Ok(false);
    }
    let is_confirmed = context.printer.confirm("Continue?")?;
    if !is_confirmed {
        context.printer.note_line("Nothing was changed.");
    }
    Ok(is_confirmed)
}

fn suggest(context: &CommandContext, engine: &Engine) -> Result<(), Failure> {
    let newest = engine.sessions(&SessionListRequest { limit: Some(1), ..SessionListRequest::default() })?;
    let reference = newest.first().map_or_else(|| "REF".to_owned(), super::short_id);
    let mut page = context.printer.page();
    page.end_line();
    print_suggestions(
        &mut page,
        &[
            ("rethread sessions --all-projects".to_owned(), "list all sessions, newest first"),
            (format!("rethread show {reference}"), "show the newest session"),
            ("rethread search --all-projects 'why did it fail'".to_owned(), "search all sessions"),
        ],
    );
    Ok(context.printer.answer(&page)?)
}

/// Plays the demo instead, so that a new user sees what to expect.
fn no_transcripts(context: &CommandContext) -> Result<Exit, Failure> {
    let agents = Agent::EXTERNAL.map(Agent::as_str).join(" or ");
    let mut page = context.printer.page();
    page.line(Tone::Strong, &format!("No transcripts of {agents} were found."));
    page.line(Tone::Plain, "`rethread doctor` shows where Rethread looks for them. Here is a demo instead:").end_line();
    context.printer.answer(&page)?;
    demo::run_in_temporary_home(context)
}
