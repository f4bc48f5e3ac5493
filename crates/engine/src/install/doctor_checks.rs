//! Checks for `doctor`: whether each agent's hooks are installed and call this program.

use std::path::{Path, PathBuf};

use super::claude_code::ClaudeSettings;
use super::file_change::FileChange;
use super::program::is_in_build_folder;
use super::{HostInstaller, INSTALLERS, InstallError, InstallScope, claude_code, has_marker, pi, plugin, settings};
use crate::install::InstallService;
use crate::reports::{Diagnosis, FindingLevel, with_cause};

const AREA: &str = "hooks";
const INSTALL_PI_HINT: &str = "run: rethread install pi";

impl InstallService<'_> {
    /// Checks the hooks of each installed agent.
    pub(crate) fn check_hooks(self, diagnosis: &mut Diagnosis) {
        for host in INSTALLERS {
            (host.check)(self, diagnosis);
        }
        self.check_program(diagnosis);
    }

    /// Whether the copy that hooks call is older than this build. Only programs in a build directory have a copy.
    fn check_program(self, diagnosis: &mut Diagnosis) {
        let Some(copy) = self.program().and_then(|program| program.copy) else { return };
        if copy.to.exists() {
            let message = format!("{} differs from this build, {}", copy.to.display(), copy.from.display());
            let installs = INSTALLERS.map(|host| format!("rethread install {}", host.agent));
            diagnosis.add(AREA, FindingLevel::Info, message, Some(&format!("run: {}", installs.join(", or: "))));
        }
    }

    /// Checks the user's Claude Code settings, the project's if they contain our hooks, and our plugin if it is
    /// enabled.
    pub(super) fn check_claude_code(self, diagnosis: &mut Diagnosis) {
        let user = self.settings_path(InstallScope::User);
        let again = "run: rethread install claude-code --project";
        let mut is_called = self.check_settings(&self.settings_path(InstallScope::Project), again, diagnosis);
        if let Some(shared) = self.shared_settings_path(InstallScope::Project) {
            is_called |= self.check_settings(&shared, again, diagnosis);
        }
        if !user.parent().is_some_and(Path::exists) {
            return;
        }
        is_called |= self.check_settings(&user, "run: rethread install claude-code", diagnosis);
        let value = ClaudeSettings::read(user.clone()).map(|settings| settings.value).unwrap_or_default();
        match plugin::enabled_plugin(&value) {
            Some(used) if is_called => {
                let message =
                    format!("Claude Code hooks are installed twice: in its settings and by the plugin {}", used.name);
                let hint = format!("run: rethread uninstall claude-code, or: claude plugin uninstall {}", used.name);
                diagnosis.add(AREA, FindingLevel::Problem, message, Some(&hint));
            }
            Some(used) => self.check_plugin(&used, diagnosis),
            None if is_called => {}
            None => {
                let place = user.display();
                let message = format!("Claude Code hooks are not installed: none found in {place}");
                diagnosis.add(AREA, FindingLevel::Info, message, Some("run: rethread install claude-code"));
            }
        }
    }

    fn check_plugin(self, used: &plugin::EnabledPlugin, diagnosis: &mut Diagnosis) {
        let hooks = used.folder.as_deref().map(|folder| (folder, plugin::hooks_in(folder)));
        let Some((folder, hooks)) = hooks else {
            let message = format!("Claude Code hooks are installed by the plugin {}", used.name);
            return diagnosis.add(AREA, FindingLevel::Ok, message, None);
        };
        let again = format!("run: rethread install claude-code --plugin {}", folder.display());
        if !self.check_settings(&hooks, &again, diagnosis) {
            let message = format!("the plugin {} has no hooks in {}", used.name, hooks.display());
            diagnosis.add(AREA, FindingLevel::Problem, message, Some(&again));
        }
    }

    /// Reports on the hooks in one settings file. Returns whether it reported anything: it does if the file has our
    /// hooks or cannot be read.
    fn check_settings(self, path: &Path, again: &str, diagnosis: &mut Diagnosis) -> bool {
        let settings = match ClaudeSettings::read(path.to_owned()) {
            Ok(settings) => settings,
            Err(error) => {
                let hint = "fix the file by hand; Claude Code cannot read it either";
                diagnosis.add(AREA, FindingLevel::Problem, with_cause(&error), Some(hint));
                return true;
            }
        };
        let value = &settings.value;
        let known = self.binary();
        let Some(called_binary) = settings::called_programs(value, known.as_deref()).next() else { return false };
        let binary = self.expected_program(&called_binary);
        let binary = binary.as_str();
        let called_binary = settings::called_programs(value, Some(binary)).find(|called| *called != binary);
        let called_binary = called_binary.as_deref().unwrap_or(binary);
        if value.get("disableAllHooks").is_some_and(|off| *off == true) {
            let message = format!("Claude Code hooks are disabled: disableAllHooks is set in {}", path.display());
            diagnosis.add(AREA, FindingLevel::Problem, message, Some("remove disableAllHooks from that file"));
            return true;
        }
        let is_up_to_date =
            settings::with_hooks(settings.text(), binary).is_ok_and(|expected| expected == settings.text());
        let calls = HookCheck { host: &claude_code::INSTALLER, path, called_binary, binary, is_up_to_date };
        calls.report(again, diagnosis);
        true
    }

    /// The program that hooks should call if they call `called` now. For a build, any installed program will do.
    fn expected_program(self, called: &str) -> String {
        let is_build = self.engine.environment.binary.as_deref().is_some_and(is_in_build_folder);
        let is_installed = Path::new(called).exists() && !is_in_build_folder(Path::new(called));
        let known = if is_build && is_installed { None } else { self.binary() };
        known.unwrap_or_else(|| called.to_owned())
    }

    /// Checks our pi extension in the project, if there is one, and for the user.
    pub(super) fn check_pi(self, diagnosis: &mut Diagnosis) {
        let in_project = self.check_extension(InstallScope::Project, diagnosis);
        let folder = self.pi_folder(InstallScope::User);
        if folder.exists() && !self.check_extension(InstallScope::User, diagnosis) && !in_project {
            let message = format!("the pi extension is not installed: not found in {}", folder.display());
            diagnosis.add(AREA, FindingLevel::Info, message, Some(INSTALL_PI_HINT));
        }
    }

    /// Reports on the extension in one scope. Returns whether there is one.
    fn check_extension(self, scope: InstallScope, diagnosis: &mut Diagnosis) -> bool {
        let [path, _] = self.pi_files(scope);
        let Some(text) = FileChange::read(path.clone()).ok().and_then(|file| file.before) else { return false };
        let again = if scope == InstallScope::User { INSTALL_PI_HINT } else { "run: rethread install pi --project" };
        if !has_marker(&text) {
            let message = with_cause(&InstallError::NotOurs(path));
            diagnosis.add(AREA, FindingLevel::Problem, message, Some(&format!("move it away, then {again}")));
            return true;
        }
        let called = pi::program_in(&text).unwrap_or_default();
        let binary = self.expected_program(&called);
        let is_up_to_date = self.plan_extension(scope, &binary).is_ok_and(|plan| plan.is_empty());
        let calls =
            HookCheck { host: &pi::INSTALLER, path: &path, called_binary: &called, binary: &binary, is_up_to_date };
        calls.report(again, diagnosis);
        true
    }
}

/// Installed hooks or extension, and the program they call.
struct HookCheck<'a> {
    host: &'static HostInstaller,
    path: &'a Path,
    /// The program that they call.
    called_binary: &'a str,
    /// The program that they should call.
    binary: &'a str,
    is_up_to_date: bool,
}

impl HookCheck<'_> {
    fn report(&self, again: &str, diagnosis: &mut Diagnosis) {
        let Self { called_binary: called, binary, .. } = self;
        let HostInstaller { agent, component: what, .. } = self.host;
        let place = self.path.display();
        let verb = if *what == "hooks" { "call" } else { "calls" };
        let message = if !PathBuf::from(called).exists() {
            format!("the {what} in {place} {verb} {called}, which does not exist")
        } else if is_in_build_folder(Path::new(called)) {
            format!("the {what} in {place} {verb} {called} in a build directory, where `cargo clean` removes it")
        } else if called != binary {
            format!("the {what} in {place} {verb} {called}, but this program is {binary}")
        } else if !self.is_up_to_date && *what == "hooks" {
            format!("the hooks in {place} are incomplete or outdated")
        } else if !self.is_up_to_date {
            format!("the extension in {place} or its skill is outdated or was changed")
        } else {
            let message = format!("the {} {what} in {place} {verb} rethread", agent.label());
            return diagnosis.add(AREA, FindingLevel::Ok, message, None);
        };
        diagnosis.add(AREA, FindingLevel::Problem, message, Some(again));
    }
}
