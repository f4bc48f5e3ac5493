//! Checks for `doctor`: whether each agent's hooks are installed, run and call this program.

use std::path::{Path, PathBuf};

use rethread_model::Agent;

use super::codex_trust;
use super::entry::NAME;
use super::file_change::FileChange;
use super::hook_check::HookCheck;
use super::host::{HostFiles, HostPlace, Switch};
use super::program::is_in_build_folder;
use super::settings::Syntax;
use super::settings_plan::ParsedSettings;
use super::{HostInstaller, INSTALLERS, InstallError, InstallScope, claude_code, is_own_file, plugin, program_in};
use crate::install::InstallService;
use crate::reports::{Diagnosis, FindingLevel, with_cause};

pub(super) const AREA: &str = "hooks";

impl InstallService<'_> {
    /// Checks the hooks of each installed agent.
    pub(crate) fn check_hooks(self, diagnosis: &mut Diagnosis) {
        for host in INSTALLERS {
            self.check_host(host, diagnosis);
        }
        self.check_program(diagnosis);
    }

    /// Whether the copy that hooks call is older than this build. Only programs in a build directory have a copy.
    fn check_program(self, diagnosis: &mut Diagnosis) {
        let Some(copy) = self.program().and_then(|program| program.copy) else { return };
        if copy.to.exists() {
            let message = format!("{} differs from this build, {}", copy.to.display(), copy.from.display());
            diagnosis.add(AREA, FindingLevel::Info, message, Some("run: rethread install --all"));
        }
    }

    /// Checks one host, in the project if it is installed there, and for the user.
    fn check_host(self, host: &'static HostInstaller, diagnosis: &mut Diagnosis) {
        let known = self.binary().unwrap_or_default();
        let in_scope = |scope| host.place(self, scope, &known).ok();
        let in_project = in_scope(InstallScope::Project).is_some_and(|place| host.check(&place, diagnosis));
        let Some(place) = in_scope(InstallScope::User).filter(|place| host.is_found(place)) else { return };
        let for_user = host.check(&place, diagnosis);
        let plugin = if host.agent == Agent::ClaudeCode { self.enabled_plugin() } else { None };
        match plugin {
            Some(used) if in_project || for_user => {
                let message =
                    format!("Claude Code hooks are installed twice: in its settings and by the plugin {}", used.name);
                let hint = format!("run: rethread uninstall claude-code, or: claude plugin uninstall {}", used.name);
                diagnosis.add(AREA, FindingLevel::Problem, message, Some(&hint));
            }
            Some(used) => self.check_plugin(&used, diagnosis),
            // Claude Code runs equal hooks once.
            None if in_project && for_user && host.agent != Agent::ClaudeCode => {
                let message =
                    format!("Rethread is installed twice in {}: for you and in this project", host.agent.label());
                let hint = format!("run: rethread uninstall {} --project", host.agent);
                diagnosis.add(AREA, FindingLevel::Problem, message, Some(&hint));
            }
            None if in_project || for_user || !host.has_hooks() => {}
            None => host.report_missing(&place, diagnosis),
        }
    }

    fn enabled_plugin(self) -> Option<plugin::EnabledPlugin> {
        let settings = ParsedSettings::read(self.claude_settings(InstallScope::User), Syntax::Json).ok()?;
        plugin::enabled_plugin(&settings.value)
    }

    fn check_plugin(self, used: &plugin::EnabledPlugin, diagnosis: &mut Diagnosis) {
        let hooks = used.folder.as_deref().map(|folder| (folder, plugin::hooks_in(folder)));
        let Some((folder, hooks)) = hooks else {
            let message = format!("Claude Code hooks are installed by the plugin {}", used.name);
            return diagnosis.add(AREA, FindingLevel::Ok, message, None);
        };
        let again = format!("run: rethread install claude-code --plugin {}", folder.display());
        let known = self.binary().unwrap_or_default();
        let place = HostPlace { install: self, agent: Agent::ClaudeCode, scope: InstallScope::User, binary: &known };
        let settings = ParsedSettings::read(hooks.clone(), Syntax::Json).ok();
        let programs =
            |settings: &ParsedSettings| claude_code::hooks(&known).called_programs(&settings.value, &place.owner());
        let called = settings.as_ref().and_then(|settings| programs(settings).into_iter().next());
        let Some((settings, called)) = settings.zip(called) else {
            let message = format!("the plugin {} has no hooks in {}", used.name, hooks.display());
            return diagnosis.add(AREA, FindingLevel::Problem, message, Some(&again));
        };
        let binary = self.expected_program(&called);
        let owner = HostPlace { binary: &binary, ..place };
        let expected = settings.with(&[claude_code::hooks(&binary)], &owner.owner());
        let is_up_to_date = expected.is_ok_and(|text| text == settings.text());
        let host = &claude_code::INSTALLER;
        let check = HookCheck { host, path: &hooks, called_binary: &called, binary: &binary, is_up_to_date };
        check.report(&again, diagnosis);
    }

    /// The program that hooks should call if they call `called` now. For a build, any installed program will do.
    fn expected_program(self, called: &str) -> String {
        let is_build = self.engine.environment.binary.as_deref().is_some_and(is_in_build_folder);
        let is_installed = Path::new(called).exists() && !is_in_build_folder(Path::new(called));
        let known = if is_build && is_installed { None } else { self.binary() };
        known.unwrap_or_else(|| called.to_owned())
    }

    /// Whether a program exists: by its path, or by its name in `PATH`.
    pub(super) fn is_program(self, program: &str) -> bool {
        let path = self.engine.environment.variable("PATH");
        let mut folders = path.into_iter().flat_map(std::env::split_paths);
        if program == NAME { folders.any(|folder| folder.join(NAME).is_file()) } else { Path::new(program).exists() }
    }
}

impl HostInstaller {
    /// Whether the host was used on this machine.
    fn is_found(&self, place: &HostPlace<'_>) -> bool {
        let files = (self.files)(place);
        let paths = files.settings.iter().map(|file| &file.path).chain(files.own.iter().map(|(path, _)| path));
        place.install.has_agent(self.agent) || paths.into_iter().any(|path| path.exists())
    }

    fn report_missing(&self, place: &HostPlace<'_>, diagnosis: &mut Diagnosis) {
        let files = (self.files)(place);
        let (label, what) = (self.agent.label(), self.component);
        let message = match files.settings.first() {
            Some(file) if what == "hooks" => {
                format!("{label} hooks are not installed: none found in {}", file.path.display())
            }
            _ => format!("the {label} {what} is not installed: not found in {}", place.home().display()),
        };
        let hint = format!("run: rethread install {}", self.agent);
        diagnosis.add(AREA, FindingLevel::Info, message, Some(&hint));
    }

    /// The command that installs it again in this scope.
    fn again(&self, place: &HostPlace<'_>) -> String {
        let scope = if place.scope == InstallScope::Project { " --project" } else { "" };
        format!("run: rethread install {}{scope}", self.agent)
    }

    /// Reports on one scope. Returns whether it is installed there, or cannot be read.
    fn check(&self, place: &HostPlace<'_>, diagnosis: &mut Diagnosis) -> bool {
        let files = (self.files)(place);
        self.check_server(place, &files, diagnosis);
        let mut is_called = false;
        for file in files.settings.iter().chain(&files.former) {
            let settings = match ParsedSettings::read(file.path.clone(), file.syntax) {
                Ok(settings) => settings,
                Err(error) => {
                    let hint = format!("fix the file by hand; {} cannot read it either", self.agent.label());
                    diagnosis.add(AREA, FindingLevel::Problem, with_cause(&error), Some(&hint));
                    is_called = true;
                    continue;
                }
            };
            let called = file.entries.iter().flat_map(|entry| entry.called_programs(&settings.value, &place.owner()));
            let called: Vec<String> = called.collect();
            if !called.is_empty() {
                self.check_settings(place, &settings, &called, diagnosis);
                is_called = true;
            }
        }
        self.check_own_file(place, &files, diagnosis) || is_called
    }

    /// Reports on the hooks in one settings file.
    fn check_settings(
        &self,
        place: &HostPlace<'_>,
        settings: &ParsedSettings,
        called: &[String],
        diagnosis: &mut Diagnosis,
    ) {
        if self.check_switches(place, diagnosis) {
            return;
        }
        let path = &settings.file.path;
        let binary = place.install.expected_program(&called[0]);
        let expected = HostPlace { binary: &binary, ..*place };
        let files = (self.files)(&expected);
        let wanted = files.settings.iter().chain(&files.former).find(|file| file.path == *path);
        let is_up_to_date = wanted.is_some_and(|file| {
            settings.with(&file.entries, &expected.owner()).is_ok_and(|text| text == settings.text())
        });
        // Committed files call the program by its name.
        let by_name = called.iter().all(|called| called == NAME) && expected.program() == NAME;
        let binary = if by_name { NAME } else { binary.as_str() };
        let called_binary = called.iter().find(|called| *called != binary).map_or(binary, String::as_str);
        HookCheck { host: self, path, called_binary, binary, is_up_to_date }.report_in(
            place,
            &self.again(place),
            diagnosis,
        );
        if self.agent == Agent::Codex && is_up_to_date {
            codex_trust::check(place, settings, diagnosis);
        }
    }

    /// Reports a setting that turns our hooks off. Returns whether there is one.
    fn check_switches(&self, place: &HostPlace<'_>, diagnosis: &mut Diagnosis) -> bool {
        let is_off = |switch: &Switch| {
            let settings = ParsedSettings::read(switch.path.clone(), switch.syntax);
            let value =
                settings.ok().and_then(|settings| super::entry::value_at(&settings.value, switch.keys).cloned());
            value.is_some_and(|value| value == switch.off)
        };
        let Some(switch) = (self.switches)(place).into_iter().find(is_off) else { return false };
        let (label, key, path) = (self.agent.label(), switch.keys.join("."), switch.path.display());
        let what = if self.component == "hooks" { "hooks are" } else { "plugin is" };
        let (verb, hint) = if switch.off {
            ("is set", format!("remove {key} from that file"))
        } else {
            ("is false", format!("set {key} to true in that file"))
        };
        let message = format!("{label} {what} disabled: {key} {verb} in {path}");
        diagnosis.add(AREA, FindingLevel::Problem, message, Some(&hint));
        true
    }

    /// Reports on a plugin or extension: the first of our own files that calls the program.
    fn check_own_file(&self, place: &HostPlace<'_>, files: &HostFiles, diagnosis: &mut Diagnosis) -> bool {
        let calls_program = |(_, text): &&(PathBuf, String)| program_in(text).is_some();
        let Some((path, _)) = files.own.iter().find(calls_program) else { return false };
        let Some(text) = FileChange::read(path.clone()).ok().and_then(|file| file.before) else { return false };
        if !is_own_file(&text) {
            let message = with_cause(&InstallError::NotOurs(path.clone()));
            let hint = format!("move it away, then {}", self.again(place));
            diagnosis.add(AREA, FindingLevel::Problem, message, Some(&hint));
            return true;
        }
        if self.check_switches(place, diagnosis) {
            return true;
        }
        let called = program_in(&text).unwrap_or_default();
        let binary = place.install.expected_program(&called);
        let expected = HostPlace { binary: &binary, ..*place };
        let is_up_to_date = self.plan(&expected, false).is_ok_and(|plan| plan.is_empty());
        let binary = if called == NAME && expected.program() == NAME { NAME } else { binary.as_str() };
        let check = HookCheck { host: self, path, called_binary: &called, binary, is_up_to_date };
        check.report_in(place, &self.again(place), diagnosis);
        true
    }

    /// Reports on the MCP server, if it is set up.
    fn check_server(&self, place: &HostPlace<'_>, files: &HostFiles, diagnosis: &mut Diagnosis) {
        let Some(file) = &files.server else { return };
        // A file that cannot be read is reported with the hooks, if it has any.
        let Ok(settings) = ParsedSettings::read(file.path.clone(), file.syntax) else { return };
        let called = file.entries.iter().flat_map(|entry| entry.called_programs(&settings.value, &place.owner()));
        let Some(called) = called.collect::<Vec<_>>().into_iter().next() else { return };
        let binary = if called == NAME { NAME.to_owned() } else { place.install.expected_program(&called) };
        let path = file.path.display();
        let message = if !place.install.is_program(&called) {
            format!("the MCP server in {path} is {called}, which does not exist")
        } else if called != binary {
            format!("the MCP server in {path} is {called}, but this program is {binary}")
        } else {
            let message = format!("the {} MCP server is configured in {path}", self.agent.label());
            return diagnosis.add(AREA, FindingLevel::Ok, message, None);
        };
        diagnosis.add(AREA, FindingLevel::Problem, message, Some(&format!("{} --mcp", self.again(place))));
    }
}
