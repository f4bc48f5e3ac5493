//! Whether our hooks are installed, for `doctor`.

use std::path::Path;

use super::{SettingsFile, SettingsOf, settings};
use crate::Engine;
use crate::doctor::{Diagnosis, Health, with_causes};

const AREA: &str = "hooks";

impl Engine {
    /// Looks at the user's settings of Claude Code, and at the project's where hooks of ours are in them.
    pub(crate) fn look_at_hooks(&self, diagnosis: &mut Diagnosis) {
        let in_project = self.look_at_settings(SettingsOf::Project, diagnosis);
        let path = self.settings_path(SettingsOf::User);
        if !path.parent().is_some_and(Path::exists) {
            return;
        }
        // In the home directory both are the same file.
        let is_same = path == self.settings_path(SettingsOf::Project);
        let is_installed = (is_same && in_project) || self.look_at_settings(SettingsOf::User, diagnosis);
        if !is_installed && !in_project {
            let message = format!("Claude Code does not call rethread: there is no hook of ours in {}", path.display());
            diagnosis.add(AREA, Health::Note, message, Some("run: rethread install claude-code"));
        }
    }

    /// Tells about hooks in one file, if there are any or nobody can know. Says whether it told anything.
    fn look_at_settings(&self, whose: SettingsOf, diagnosis: &mut Diagnosis) -> bool {
        let again = match whose {
            SettingsOf::User => "run: rethread install claude-code",
            SettingsOf::Project => "run: rethread install claude-code --project",
        };
        let path = self.settings_path(whose);
        let file = match SettingsFile::read(path.clone()) {
            Ok(file) => file,
            Err(error) => {
                let hint = "mend the file by hand; Claude Code cannot use it either";
                diagnosis.add(AREA, Health::Ill, with_causes(&error), Some(hint));
                return true;
            }
        };
        let known = self.binary();
        let Some(called) = settings::commands(&file.value, known.as_deref()).next() else { return false };
        let binary = known.as_deref().unwrap_or(called);
        if let Some(gone) = settings::commands(&file.value, Some(binary)).find(|path| !Path::new(path).exists()) {
            let message = format!("the hooks in {} call {gone}, which is not there", path.display());
            diagnosis.add(AREA, Health::Ill, message, Some(again));
        } else if let Some(other) = settings::commands(&file.value, Some(binary)).find(|path| *path != binary) {
            let message = format!("the hooks in {} call {other}, and this is {binary}", path.display());
            diagnosis.add(AREA, Health::Ill, message, Some(again));
        } else if settings::with_hooks(&file.value, binary).is_ok_and(|wanted| wanted == file.value) {
            diagnosis.add(AREA, Health::Well, format!("Claude Code calls rethread, by {}", path.display()), None);
        } else {
            let message = format!("the hooks in {} are not all there, or of an older version", path.display());
            diagnosis.add(AREA, Health::Ill, message, Some(again));
        }
        true
    }
}
