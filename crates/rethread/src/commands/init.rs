//! `init`: finds agents, shows what would change, asks, runs the first sync and installs hooks.

use std::path::Path;

use rethread_engine::{
    AgentCoverage, AgentSyncPlan, Engine, HostInstaller, InstallLocation, InstallPlan, InstallScope,
    SessionListRequest, SyncRequest,
};
use rethread_model::Agent;

use super::{CommandContext, Exit, install, install_all, print_suggestions, sync};
use crate::cli::setup::InitArgs;
use crate::demo;
use crate::failure::{Failure, FailureKind};
use crate::render::{CellAlign, TextPage, Tone, bytes, count, number};

/// Columns of an agent's name.
const NAME_WIDTH: usize = Agent::MAX_NAME_LENGTH + 2;

/// What was found, and what `init` would do.
struct InitPlan {
    /// The agents that can be read, with or without transcripts.
    agents: Vec<AgentSyncPlan>,
    /// Agents that are not read: the label and why.
    unread: Vec<(&'static str, String)>,
    /// The value of `--agents`, to be stored; empty if it was not given.
    selected: String,
    hooks: Vec<(&'static HostInstaller, InstallPlan)>,
}

/// Without a terminal and without `--yes` it only shows the plan.
pub(crate) fn run(context: &CommandContext, args: &InitArgs) -> Result<Exit, Failure> {
    let mut context = context.clone();
    let selected = args.agents.iter().map(|agent| agent.as_str()).collect::<Vec<_>>().join(",");
    if !selected.is_empty() {
        context.environment.config_overrides.push(("intake.agents".to_owned(), selected.clone()));
    }
    let engine = context.engine()?;
    let agents = readable_agents(&engine)?;
    let unread = unread_agents(&engine)?;
    if agents.is_empty() {
        return no_agents(&context, &unread);
    }
    let hooks = if args.no_hooks { Vec::new() } else { hook_plans(&context, &engine, &agents) };
    let plan = InitPlan { agents, unread, selected, hooks };
    show_plan(&context, &engine, &plan)?;
    if !args.yes && !context.printer.can_ask() {
        context.printer.note_line("Nothing was changed.");
        context.printer.hint("to continue, run `rethread init --yes`");
        return Ok(Exit::Done);
    }
    let may_read = args.yes || context.printer.confirm("Read the transcripts?")?;
    let may_install = !plan.hooks.is_empty() && (args.yes || context.printer.confirm("Install the hooks?")?);
    if !may_read && !may_install {
        context.printer.note_line("Nothing was changed.");
        return Ok(Exit::Done);
    }
    if may_read {
        read(&context, &engine, &plan.selected)?;
    }
    let mut exit = Exit::Done;
    if may_install {
        exit = install_hooks(&context, &engine, &plan.hooks);
    }
    suggest(&context, &engine)?;
    Ok(exit)
}

/// The selected agents that were used on this machine, with or without transcripts.
fn readable_agents(engine: &Engine) -> Result<Vec<AgentSyncPlan>, Failure> {
    let mut found = engine.sync().plan(&SyncRequest::default())?;
    found.retain(|run| run.agent != Agent::Native && run.files > 0);
    let selected = &engine.settings().intake.agents;
    for agent in Agent::EXTERNAL.into_iter().filter(|agent| engine.install().has_agent(*agent)) {
        if selected.contains(&agent) && found.iter().all(|run| run.agent != agent) {
            found.push(AgentSyncPlan { agent, files: 0, files_changed: 0, bytes: 0, excluded: 0, unread: Vec::new() });
        }
    }
    Ok(found)
}

/// The agents that were used on this machine and are not read, and why.
fn unread_agents(engine: &Engine) -> Result<Vec<(&'static str, String)>, Failure> {
    let found = engine.reports().agents()?.into_iter();
    // What the user left out needs no explanation.
    let is_listed = |coverage| matches!(coverage, AgentCoverage::OptIn { .. } | AgentCoverage::Impossible { .. });
    let unread = found.filter(|found| is_listed(found.coverage));
    Ok(unread.filter_map(|found| Some((found.label, found.coverage.explanation()?))).collect())
}

fn read(context: &CommandContext, engine: &Engine, selected: &str) -> Result<(), Failure> {
    if !selected.is_empty() {
        engine.config().set("intake.agents", selected)?;
    }
    let bar = context.printer.bar();
    let report = engine.sync().run(&SyncRequest::default(), &mut |progress| bar.show(progress))?;
    drop(bar);
    sync::print_report(context, &report)
}

/// Installs one host after the other. One that fails is reported, and the others are still installed.
fn install_hooks(context: &CommandContext, engine: &Engine, hooks: &[(&'static HostInstaller, InstallPlan)]) -> Exit {
    let mut installed = Vec::new();
    for (host, _) in hooks {
        // Planned again: the host before it may have written the skill that they share.
        if let Err(error) = engine.install().run(&place(host)) {
            let error = install_all::describe(&error);
            context.printer.warn(&format!("cannot install hooks for {}: {error}", host.agent));
            continue;
        }
        installed.push(host.agent);
        context.printer.note_line(&format!("Installed hooks for {}; new sessions use them.", host.agent));
        install::print_host_hints(context, engine, host, InstallScope::User, true);
    }
    if let Some((_, plan)) = hooks.first().filter(|_| !installed.is_empty()) {
        install::print_program(context, engine, plan);
    }
    let agents = match installed.as_slice() {
        [] => None,
        [agent] => Some(agent.as_str()),
        _ => Some("--all"),
    };
    if let Some(agents) = agents {
        context.printer.hint(&format!("to add the MCP tools as well: rethread install {agents} --mcp"));
    }
    if installed.len() == hooks.len() { Exit::Done } else { Exit::Reported(FailureKind::SettingsFile.exit_code()) }
}

const fn place(host: &'static HostInstaller) -> InstallLocation {
    InstallLocation::Host { host, scope: InstallScope::User, with_mcp: false }
}

/// The changes for the hosts that were found. Settings that cannot be changed are reported and skipped.
fn hook_plans(
    context: &CommandContext,
    engine: &Engine,
    agents: &[AgentSyncPlan],
) -> Vec<(&'static HostInstaller, InstallPlan)> {
    let mut plans = Vec::new();
    // An agent that is not read gets no hooks either: they would report to Rethread what happens in it.
    let is_read = |host: &&HostInstaller| agents.iter().any(|run| run.agent == host.agent);
    let hosts = engine.install().found_hosts().into_iter().filter(|host| host.has_hooks());
    for host in hosts.filter(is_read) {
        match engine.install().plan(&place(host)) {
            Ok(plan) if plan.is_empty() => {}
            Ok(plan) => plans.push((host, plan)),
            Err(error) => context.printer.warn(&format!("cannot install hooks for {}: {error}", host.agent)),
        }
    }
    plans
}

fn show_plan(context: &CommandContext, engine: &Engine, plan: &InitPlan) -> Result<(), Failure> {
    let mut page = context.printer.page();
    print_found(&mut page, plan);
    page.end_line().line(Tone::Strong, "Read");
    let folder = engine.folder();
    let verb = if is_new(folder) { "create" } else { "use" };
    step(&mut page, verb, &format!("{} (readable only by you)", folder.display()));
    if !plan.selected.is_empty() {
        let path = engine.config().path();
        step(&mut page, "set", &format!("intake.agents = {} in {}", plan.selected, path.display()));
    }
    let files = plan.agents.iter().map(|run| run.files_changed).sum();
    step(&mut page, "read", &format!("{}; secrets are removed before anything is stored", count(files, "transcript")));
    print_hooks(&mut page, &plan.hooks);
    page.end_line();
    Ok(context.printer.answer(&page)?)
}

fn print_found(page: &mut TextPage, plan: &InitPlan) {
    page.line(Tone::Strong, "Found");
    for run in &plan.agents {
        page.add(Tone::Plain, "  ").cell(Tone::Plain, run.agent.as_str(), NAME_WIDTH, CellAlign::Left);
        if run.files == 0 {
            page.line(Tone::Plain, "  no transcripts yet");
            continue;
        }
        page.cell(Tone::Plain, &number(run.files), 6, CellAlign::Right);
        let noun = if run.files == 1 { "transcript" } else { "transcripts" };
        let size = match run.bytes {
            _ if run.files_changed == 0 => ", nothing new".to_owned(),
            // The size of sessions in a database is not known before they are read.
            0 => String::new(),
            known => format!(", {}", bytes(known)),
        };
        page.line(Tone::Plain, &format!(" {noun}{size}"));
    }
    print_unread(page, &plan.unread);
}

fn print_unread(page: &mut TextPage, unread: &[(&str, String)]) {
    for (label, reason) in unread {
        page.add(Tone::Plain, "  ").line(Tone::Dim, &format!("{label}: {reason}"));
    }
    if !unread.is_empty() {
        page.line(Tone::Dim, "  They can still use the memory as MCP tools: add `rethread mcp` as a server.");
    }
}

fn print_hooks(page: &mut TextPage, hooks: &[(&'static HostInstaller, InstallPlan)]) {
    if hooks.is_empty() {
        return;
    }
    page.end_line().line(Tone::Strong, "Hooks");
    if let Some(copy) = hooks.iter().find_map(|(_, plan)| plan.program.as_ref()) {
        step(page, "copy", &format!("this program to {}, because a build directory does not last", copy.to.display()));
    }
    let mut shown: Vec<&Path> = Vec::new();
    for file in hooks.iter().flat_map(|(_, plan)| plan.changes()) {
        // Several hosts share the skill.
        if !shown.contains(&file.path.as_path()) {
            let (verb, what) = if file.is_own { ("write", "") } else { ("add", "hooks to ") };
            step(page, verb, &format!("{what}{}", file.path.display()));
            shown.push(&file.path);
        }
    }
    page.end_line();
    let agent = if let [(host, _)] = hooks { host.agent.as_str() } else { "AGENT" };
    let undo = format!("`rethread install {agent} --print` shows the change, `rethread uninstall {agent}` undoes it");
    page.line(Tone::Dim, &undo);
}

fn step(page: &mut TextPage, verb: &str, what: &str) {
    page.add(Tone::Plain, "  ").cell(Tone::Success, verb, 8, CellAlign::Left).line(Tone::Plain, what);
}

fn is_new(folder: &Path) -> bool {
    !folder.exists()
}

fn suggest(context: &CommandContext, engine: &Engine) -> Result<(), Failure> {
    let newest = engine.sessions().list(&SessionListRequest { limit: Some(1), ..SessionListRequest::default() })?;
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
fn no_agents(context: &CommandContext, unread: &[(&str, String)]) -> Result<Exit, Failure> {
    let agents = Agent::EXTERNAL.map(Agent::label).join(", ");
    let mut page = context.printer.page();
    page.line(Tone::Strong, "No transcripts of a coding agent were found.");
    page.line(Tone::Plain, &format!("Rethread reads: {agents}."));
    print_unread(&mut page, unread);
    page.line(Tone::Plain, "To add a directory with transcripts: rethread config set sources.claude-code DIR");
    page.line(Tone::Plain, "Here is a demo instead:").end_line();
    context.printer.answer(&page)?;
    demo::run_in_temporary_home(context)
}
