//! Whether agents call us, and the right program, for `doctor`.

use std::path::{Path, PathBuf};

use super::change::FileChange;
use super::claude_code::Settings;
use super::{InstallError, Place, SettingsOf, is_ours, pi, plugin, settings};
use crate::Engine;
use crate::doctor::{Diagnosis, Health, with_causes};

const AREA: &str = "hooks";
const AGAIN_PI: &str = "run: rethread install pi";

impl Engine {
    /// Looks at what makes each agent call us, where the agent is there.
    pub(crate) fn look_at_hooks(&self, diagnosis: &mut Diagnosis) {
        self.look_at_claude_code(diagnosis);
        self.look_at_pi(diagnosis);
    }

    /// Looks at the user's settings of Claude Code, at the project's where hooks of ours are in them, and at our plugin
    /// where they use it.
    fn look_at_claude_code(&self, diagnosis: &mut Diagnosis) {
        let (user, project) = (self.settings_path(SettingsOf::User), self.settings_path(SettingsOf::Project));
        let again = "run: rethread install claude-code --project";
        let mut is_called = self.look_at_settings(&project, again, diagnosis);
        if !user.parent().is_some_and(Path::exists) {
            return;
        }
        // In the home directory both are the same file.
        if user != project || !is_called {
            is_called |= self.look_at_settings(&user, "run: rethread install claude-code", diagnosis);
        }
        let value = Settings::read(user.clone()).map(|settings| settings.value).unwrap_or_default();
        match plugin::used(&value) {
            Some(used) if is_called => {
                let message = format!("Claude Code calls rethread twice, also by the plugin {}", used.name);
                let hint = format!("run: rethread uninstall claude-code, or: claude plugin uninstall {}", used.name);
                diagnosis.add(AREA, Health::Ill, message, Some(&hint));
            }
            Some(used) => self.look_at_plugin(&used, diagnosis),
            None if is_called => {}
            None => {
                let place = user.display();
                let message = format!("Claude Code does not call rethread: there is no hook of ours in {place}");
                diagnosis.add(AREA, Health::Note, message, Some("run: rethread install claude-code"));
            }
        }
    }

    fn look_at_plugin(&self, used: &plugin::Used, diagnosis: &mut Diagnosis) {
        let hooks = used.folder.as_deref().map(|folder| (folder, plugin::hooks_in(folder)));
        let Some((folder, hooks)) = hooks else {
            let message = format!("Claude Code calls rethread, by the plugin {}", used.name);
            return diagnosis.add(AREA, Health::Well, message, None);
        };
        let again = format!("run: rethread install claude-code --plugin {}", folder.display());
        if !self.look_at_settings(&hooks, &again, diagnosis) {
            let message = format!("the plugin {} has no hooks in {}", used.name, hooks.display());
            diagnosis.add(AREA, Health::Ill, message, Some(&again));
        }
    }

    /// Tells about hooks in one file, if there are any or nobody can know. Says whether it told anything.
    fn look_at_settings(&self, path: &Path, again: &str, diagnosis: &mut Diagnosis) -> bool {
        let value = match Settings::read(path.to_owned()) {
            Ok(settings) => settings.value,
            Err(error) => {
                let hint = "mend the file by hand; Claude Code cannot use it either";
                diagnosis.add(AREA, Health::Ill, with_causes(&error), Some(hint));
                return true;
            }
        };
        let known = self.binary();
        let Some(called) = settings::commands(&value, known.as_deref()).next() else { return false };
        let binary = known.as_deref().unwrap_or(called);
        let called = settings::commands(&value, Some(binary)).find(|called| *called != binary).unwrap_or(binary);
        if value.get("disableAllHooks").is_some_and(|off| *off == true) {
            let message = format!("Claude Code calls no hooks: disableAllHooks is set in {}", path.display());
            diagnosis.add(AREA, Health::Ill, message, Some("take it out of that file"));
            return true;
        }
        let is_whole = settings::with_hooks(&value, binary).is_ok_and(|wanted| wanted == value);
        let calls = Calls { agent: "Claude Code", what: "hooks", path, called, binary, is_whole };
        calls.tell(again, diagnosis);
        true
    }

    /// Looks at our extension of pi: the project's where there is one, and the user's.
    fn look_at_pi(&self, diagnosis: &mut Diagnosis) {
        let in_project = self.look_at_extension(SettingsOf::Project, diagnosis);
        let folder = self.pi_folder(SettingsOf::User);
        if folder.exists() && !self.look_at_extension(SettingsOf::User, diagnosis) && !in_project {
            let message = format!("pi does not call rethread: there is no extension of ours in {}", folder.display());
            diagnosis.add(AREA, Health::Note, message, Some(AGAIN_PI));
        }
    }

    /// Tells about the extension in one place, if there is one. Says whether it told anything.
    fn look_at_extension(&self, whose: SettingsOf, diagnosis: &mut Diagnosis) -> bool {
        let [path, _] = self.pi_files(whose);
        let Some(text) = FileChange::read(path.clone()).ok().and_then(|file| file.before) else { return false };
        let again = if whose == SettingsOf::User { AGAIN_PI } else { "run: rethread install pi --project" };
        if !is_ours(&text) {
            let message = with_causes(&InstallError::Foreign(path));
            diagnosis.add(AREA, Health::Ill, message, Some(&format!("move it away, then {again}")));
            return true;
        }
        let called = pi::program(&text).unwrap_or_default();
        let binary = self.binary().unwrap_or_else(|| called.clone());
        let is_whole = self.plan_install(&Place::Pi(whose)).is_ok_and(|plan| plan.is_empty());
        let calls = Calls { agent: "pi", what: "extension", path: &path, called: &called, binary: &binary, is_whole };
        calls.tell(again, diagnosis);
        true
    }
}

/// What makes an agent call us.
struct Calls<'a> {
    agent: &'static str,
    what: &'static str,
    path: &'a Path,
    /// The program that is called.
    called: &'a str,
    /// The program that should be.
    binary: &'a str,
    is_whole: bool,
}

impl Calls<'_> {
    fn tell(&self, again: &str, diagnosis: &mut Diagnosis) {
        let Self { agent, what, called, binary, .. } = self;
        let place = self.path.display();
        let verb = if *what == "hooks" { "call" } else { "calls" };
        let message = if !PathBuf::from(called).exists() {
            format!("the {what} in {place} {verb} {called}, which is not there")
        } else if called != binary {
            format!("the {what} in {place} {verb} {called}, and this is {binary}")
        } else if !self.is_whole && *what == "hooks" {
            format!("the hooks in {place} are not all there, or of an older version")
        } else if !self.is_whole {
            format!("the extension in {place} or its skill is of an older version, or changed")
        } else {
            let message = format!("{agent} calls rethread, by {place}");
            return diagnosis.add(AREA, Health::Well, message, None);
        };
        diagnosis.add(AREA, Health::Ill, message, Some(again));
    }
}
