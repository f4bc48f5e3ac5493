//! `install --all` and `uninstall --all`: every host that was used on this machine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rethread_engine::{Engine, EngineError, HostInstaller, INSTALLERS, InstallLocation, InstallPlan, InstallScope};
use rethread_model::Agent;

use super::install::{STOP_SERVICE, is_confirmed, print_host_hints, print_program, show};
use super::{CommandContext, Exit, purge};
use crate::cli::install::{InstallArgs, UninstallArgs};
use crate::failure::{Failure, FailureKind};
use crate::json;

/// What to do with each host, and the hosts that cannot be changed.
#[derive(Default)]
struct AllPlans {
    plans: Vec<(&'static HostInstaller, InstallPlan)>,
    failed: Vec<(Agent, String)>,
}

impl AllPlans {
    fn add(&mut self, host: &'static HostInstaller, plan: Result<InstallPlan, EngineError>) {
        match plan {
            Ok(plan) => self.plans.push((host, plan)),
            Err(error) => self.failed.push((host.agent, describe(&error))),
        }
    }

    fn changed(&self) -> impl Iterator<Item = &(&'static HostInstaller, InstallPlan)> {
        self.plans.iter().filter(|(_, plan)| !plan.is_empty())
    }

    /// Shows every change once: several hosts share the skill.
    fn show(&self, context: &CommandContext, with_text: bool) -> Result<(), Failure> {
        let mut shown: BTreeSet<PathBuf> = BTreeSet::new();
        for (at, (_, plan)) in self.changed().enumerate() {
            let mut plan = plan.clone();
            plan.program = plan.program.filter(|_| at == 0);
            show(context, &plan, with_text, |file| !shown.contains(&file.path))?;
            shown.extend(plan.changes().map(|file| file.path.clone()));
        }
        Ok(())
    }

    /// Prints the hosts that could not be changed.
    fn finish(&self, context: &CommandContext) -> Exit {
        for (agent, error) in &self.failed {
            context.printer.warn(&format!("skipped {agent}: {error}"));
        }
        if self.failed.is_empty() { Exit::Done } else { Exit::Reported(FailureKind::InvalidSettings.exit_code()) }
    }

    fn report(&self, context: &CommandContext, done: bool) -> Result<Exit, Failure> {
        let plans: Vec<_> = self.plans.iter().map(|(host, plan)| (host.agent, plan.clone())).collect();
        context.printer.json(&json::InstallAllReportJson::new(&plans, &self.failed, done))?;
        Ok(if self.failed.is_empty() { Exit::Done } else { Exit::Reported(FailureKind::InvalidSettings.exit_code()) })
    }
}

pub(super) fn install(context: &CommandContext, args: &InstallArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let hosts: Vec<_> =
        engine.install().found_hosts().into_iter().filter(|host| host.has_hooks() || args.mcp).collect();
    let mut all = AllPlans::default();
    for host in &hosts {
        all.add(host, engine.install().plan(&place(host, args.mcp)));
    }
    if args.json.json {
        if !args.print {
            all = apply(&engine, all, args.mcp);
        }
        return all.report(context, !args.print);
    }
    let Some((_, first)) = all.changed().next() else {
        let state = if hosts.is_empty() { "No supported agent was found" } else { "Already installed" };
        context.printer.note_line(&format!("{state}; nothing to change."));
        return Ok(all.finish(context));
    };
    all.show(context, args.print)?;
    if !is_confirmed(context, args, first)? {
        return Ok(all.finish(context));
    }
    let all = apply(&engine, all, args.mcp);
    if let Some((_, plan)) = all.changed().next() {
        print_program(context, &engine, plan);
    }
    for (host, _) in all.changed() {
        context.printer.note_line(&format!("Installed for {}; new sessions use it.", host.agent.label()));
        print_host_hints(context, &engine, host, InstallScope::User, true);
    }
    Ok(all.finish(context))
}

/// Applies the plans one by one. Each is made again, because the one before it may have written the shared skill.
fn apply(engine: &Engine, all: AllPlans, with_mcp: bool) -> AllPlans {
    let mut done = AllPlans { plans: Vec::new(), failed: all.failed };
    for (host, _) in all.plans {
        done.add(host, engine.install().run(&place(host, with_mcp)));
    }
    done
}

pub(super) fn uninstall(context: &CommandContext, args: &UninstallArgs) -> Result<Exit, Failure> {
    if args.purge && !args.place.all {
        let failure = Failure::new(FailureKind::Usage, "--purge needs --all");
        return Err(failure.hint("run: rethread uninstall --all --purge"));
    }
    let engine = context.engine()?;
    if args.purge && !purge::is_confirmed(context, &engine, args)? {
        return Ok(Exit::Done);
    }
    let mut all = AllPlans::default();
    for host in INSTALLERS {
        match engine.install().plan_removal(&place(host, true)) {
            Ok(None) => {}
            Ok(Some(plan)) => all.add(host, engine.install().apply(&plan).map(|()| plan)),
            Err(error) => all.add(host, Err(error)),
        }
    }
    if args.purge {
        return purge_after(context, &engine, args, &all);
    }
    if args.json.json {
        return all.report(context, true);
    }
    print_removed(context, &all)?;
    if all.plans.is_empty() && all.failed.is_empty() {
        context.printer.note_line("Rethread is not installed here; nothing to change.");
        return Ok(Exit::Nothing);
    }
    Ok(all.finish(context))
}

fn print_removed(context: &CommandContext, all: &AllPlans) -> Result<(), Failure> {
    all.show(context, false)?;
    for (host, _) in &all.plans {
        context.printer.note_line(&format!("Removed from {}.", host.agent.label()));
    }
    Ok(())
}

/// Deletes the memory, unless an agent still has hooks: the originals of its settings are in it.
fn purge_after(
    context: &CommandContext,
    engine: &Engine,
    args: &UninstallArgs,
    all: &AllPlans,
) -> Result<Exit, Failure> {
    if !args.json.json {
        print_removed(context, all)?;
    }
    if !all.failed.is_empty() {
        context.printer.warn("not deleted: the hooks of some agents could not be removed");
        return Ok(all.finish(context));
    }
    if let Some(plan) = engine.install().plan_removal(&InstallLocation::Service)? {
        engine.install().apply(&plan)?;
        context.printer.note_line("Removed the service.");
        context.printer.hint(STOP_SERVICE);
    }
    purge::run(context, engine, args)
}

const fn place(host: &'static HostInstaller, with_mcp: bool) -> InstallLocation {
    InstallLocation::Host { host, scope: InstallScope::User, with_mcp }
}

/// An error with its cause, on one line.
pub(super) fn describe(error: &EngineError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}
