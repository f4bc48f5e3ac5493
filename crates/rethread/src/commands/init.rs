//! `init`: finds agents, shows what would change, asks, and reads for the first time.

use std::path::Path;

use rethread_engine::{DryRun, Engine, ListRequest, Place, Plan, SettingsOf, SyncRequest};
use rethread_model::Agent;

use super::{Context, Exit, sync};
use crate::cli::Init;
use crate::demo;
use crate::failure::Failure;
use crate::render::{Page, Side, Tone, bytes, count, number};

/// Sets Rethread up, or only shows how when nobody can be asked.
pub(crate) fn run(context: &Context, request: &Init) -> Result<Exit, Failure> {
    let mut context = context.clone();
    let agents = request.agents.iter().map(|agent| agent.as_str()).collect::<Vec<_>>().join(",");
    if !agents.is_empty() {
        context.environment.flags.push(("intake.agents".to_owned(), agents.clone()));
    }
    let engine = context.engine()?;
    let found = engine.sync_dry_run(&SyncRequest::default())?;
    if found.iter().all(|run| run.files == 0) {
        return nobody_here(&context);
    }
    let mut page = context.printer.page();
    let hooks = if request.no_hooks { Vec::new() } else { hooks(&context, &engine, &found) };
    plan(&mut page, &found, &engine, &agents);
    for (agent, plan) in &hooks {
        let (verb, what) = if *agent == Agent::ClaudeCode { ("add", "hooks to ") } else { ("write", "") };
        plan.changes().for_each(|file| step(&mut page, verb, &format!("{what}{}", file.path.display())));
    }
    if !hooks.is_empty() {
        page.end();
    }
    for (agent, _) in &hooks {
        let what = format!("`rethread install {agent} --print` shows this, `rethread uninstall {agent}` takes it out");
        page.line(Tone::Dim, &what);
    }
    page.end();
    context.printer.answer(&page)?;
    if !request.yes && !agreed(&context)? {
        return Ok(Exit::Done);
    }
    if !agents.is_empty() {
        engine.config().set("intake.agents", &agents)?;
    }
    let bar = context.printer.bar();
    let report = engine.sync(&SyncRequest::default(), &mut |progress| bar.show(progress))?;
    drop(bar);
    sync::tell(&context, &report)?;
    for (agent, plan) in &hooks {
        engine.carry_out(plan)?;
        context.printer.note_line(&format!("Sessions of {agent} that start from now on call rethread."));
    }
    three_things(&context, &engine)?;
    Ok(Exit::Done)
}

/// What would make the agents that were found call us. Settings that cannot be changed are told, and no reason to stop.
fn hooks(context: &Context, engine: &Engine, found: &[DryRun]) -> Vec<(Agent, Plan)> {
    let is_there = |agent| found.iter().any(|run| run.agent == agent && run.files > 0);
    let mut plans = Vec::new();
    for (agent, place) in
        [(Agent::ClaudeCode, Place::ClaudeCode(SettingsOf::User)), (Agent::Pi, Place::Pi(SettingsOf::User))]
    {
        let has_plugin = agent == Agent::ClaudeCode && engine.uses_plugin();
        if !is_there(agent) || has_plugin {
            continue;
        }
        match engine.plan_install(&place) {
            Ok(plan) if plan.is_empty() => {}
            Ok(plan) => plans.push((agent, plan)),
            Err(error) => context.printer.warn(&format!("{agent} cannot be made to call rethread: {error}")),
        }
    }
    plans
}

/// What was found and what would change.
fn plan(page: &mut Page, found: &[DryRun], engine: &Engine, agents: &str) {
    page.line(Tone::Strong, "Found");
    for run in found {
        page.add(Tone::Plain, "  ").cell(Tone::Plain, run.agent.as_str(), 13, Side::Left);
        page.cell(Tone::Plain, &number(run.files), 6, Side::Right);
        let noun = if run.files == 1 { "transcript" } else { "transcripts" };
        let size = if run.files_changed == 0 { "nothing new".to_owned() } else { bytes(run.bytes) };
        page.line(Tone::Plain, &format!(" {noun}, {size}"));
    }
    let folder = engine.folder();
    page.end().line(Tone::Strong, "This will");
    let verb = if is_new(folder) { "create" } else { "use" };
    step(page, verb, &format!("{} (for your eyes only)", folder.display()));
    if !agents.is_empty() {
        step(page, "set", &format!("intake.agents = {agents} in {}", engine.config().path().display()));
    }
    let files = found.iter().map(|run| run.files_changed).sum();
    step(page, "read", &format!("{}; secrets are removed before anything is stored", count(files, "transcript")));
}

fn step(page: &mut Page, verb: &str, what: &str) {
    page.add(Tone::Plain, "  ").cell(Tone::Good, verb, 8, Side::Left).line(Tone::Plain, what);
}

fn is_new(folder: &Path) -> bool {
    !folder.exists()
}

/// Asks where somebody can answer; otherwise says how to go on.
fn agreed(context: &Context) -> Result<bool, Failure> {
    if !context.printer.can_ask() {
        context.printer.note_line("Nothing was changed.");
        context.printer.hint("go on with: rethread init --yes");
        return Ok(false);
    }
    let agreed = context.printer.confirm("Go on?")?;
    if !agreed {
        context.printer.note_line("Nothing was changed.");
    }
    Ok(agreed)
}

fn three_things(context: &Context, engine: &Engine) -> Result<(), Failure> {
    let newest = engine.sessions(&ListRequest { limit: Some(1), ..ListRequest::default() })?;
    let reference =
        newest.first().map_or_else(|| "REF".to_owned(), |listed| listed.session.id.to_string()[..10].to_owned());
    let mut page = context.printer.page();
    page.end().line(Tone::Strong, "Try");
    let things = [
        ("rethread sessions --all-projects".to_owned(), "what was worked on, newest first"),
        (format!("rethread show {reference}"), "the newest session as a conversation"),
        ("rethread search 'why did it fail'".to_owned(), "what was said and done, wherever it was"),
    ];
    for (command, what) in things {
        page.add(Tone::Plain, "  ").cell(Tone::Good, &command, 34, Side::Left).line(Tone::Dim, what);
    }
    Ok(context.printer.answer(&page)?)
}

/// Says that there is nothing to read, and shows what it would be like.
fn nobody_here(context: &Context) -> Result<Exit, Failure> {
    let agents = Agent::OTHERS.map(Agent::as_str).join(" or ");
    let mut page = context.printer.page();
    page.line(Tone::Strong, &format!("No transcripts of {agents} were found."));
    page.line(Tone::Plain, "`rethread doctor` shows where they are looked for. Meanwhile, here is a scene:").end();
    context.printer.answer(&page)?;
    demo::play_all(context)
}
