//! Reports on installed hooks, an extension or a plugin, and the program they call.

use std::path::Path;

use super::HostInstaller;
use super::doctor_checks::AREA;
use super::entry::NAME;
use super::host::HostPlace;
use super::program::is_in_build_folder;
use crate::reports::{Diagnosis, FindingLevel};

/// Installed hooks or extension, and the program they call.
pub(super) struct HookCheck<'a> {
    pub(super) host: &'a HostInstaller,
    pub(super) path: &'a Path,
    /// The program that they call.
    pub(super) called_binary: &'a str,
    /// The program that they should call.
    pub(super) binary: &'a str,
    pub(super) is_up_to_date: bool,
}

impl HookCheck<'_> {
    /// Reports on them, unless they call a program by its name that is not in `PATH`.
    pub(super) fn report_in(&self, place: &HostPlace<'_>, again: &str, diagnosis: &mut Diagnosis) {
        if self.called_binary != NAME {
            return self.report(again, diagnosis);
        }
        if !place.install.is_program(NAME) {
            let message = format!("{} calls {NAME} by name, but it is not in PATH", self.path.display());
            return diagnosis.add(AREA, FindingLevel::Problem, message, Some("add the folder of rethread to PATH"));
        }
        self.report(again, diagnosis);
    }

    pub(super) fn report(&self, again: &str, diagnosis: &mut Diagnosis) {
        let Self { called_binary: called, binary, .. } = self;
        let HostInstaller { agent, component: what, .. } = self.host;
        let place = self.path.display();
        let verb = if *what == "hooks" { "call" } else { "calls" };
        let message = if *called != NAME && !Path::new(called).exists() {
            format!("the {what} in {place} {verb} {called}, which does not exist")
        } else if is_in_build_folder(Path::new(called)) {
            format!("the {what} in {place} {verb} {called} in a build directory, where `cargo clean` removes it")
        } else if called != binary {
            format!("the {what} in {place} {verb} {called}, but this program is {binary}")
        } else if !self.is_up_to_date && *what == "hooks" {
            format!("the hooks in {place} are incomplete or outdated")
        } else if !self.is_up_to_date {
            format!("the {what} in {place} or its skill is outdated or was changed")
        } else {
            let message = format!("the {} {what} in {place} {verb} rethread", agent.label());
            return diagnosis.add(AREA, FindingLevel::Ok, message, None);
        };
        diagnosis.add(AREA, FindingLevel::Problem, message, Some(again));
    }
}
