//! What a host gets: files of our own, entries in its settings, and the skill. A host is data; planning is the same
//! for all of them.

use std::path::{Path, PathBuf};

use rethread_ingest::agents::format_of;
use rethread_model::Agent;

use super::entry::{KeyPath, NAME, Owner, SettingsEntry, hook_command};
use super::file_change::InstallPlan;
use super::settings::Syntax;
use super::{INSTALLERS, InstallError, InstallScope, is_own_file, plan_file_removal, plan_files, skill_text};
use crate::install::InstallService;

/// The component of hosts that call no hooks.
pub(super) const SERVER_ONLY: &str = "MCP server";

/// How Rethread is installed into one host.
#[derive(Debug)]
pub struct HostInstaller {
    /// The agent that gets it.
    pub agent: Agent,
    /// What calls our hook, such as `hooks`, or `MCP server` if nothing does.
    pub component: &'static str,
    /// Whether it can be installed for one project.
    pub(super) has_project_scope: bool,
    /// Which skill it reads.
    pub(super) skill: Skill,
    /// What it gets.
    pub(super) files: fn(&HostPlace<'_>) -> HostFiles,
    /// What the user has to do after an install.
    pub(super) note: fn(InstallScope) -> Option<&'static str>,
    /// Settings that turn our hooks off.
    pub(super) switches: fn(&HostPlace<'_>) -> Vec<Switch>,
}

/// The defaults of most hosts, for `..DEFAULTS`.
pub(super) const DEFAULTS: HostInstaller = HostInstaller {
    agent: Agent::Native,
    component: "hooks",
    has_project_scope: true,
    skill: Skill::Shared,
    files: |_| HostFiles::default(),
    note: |_| None,
    switches: |_| Vec::new(),
};

/// Where a host's skill is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skill {
    /// In `.agents/skills`, which several hosts read.
    Shared,
    /// Among the host's own files, or it reads none.
    Own,
}

/// What a host gets in one scope.
#[derive(Debug, Default)]
pub(super) struct HostFiles {
    /// Files that are ours alone: path and text.
    pub(super) own: Vec<(PathBuf, String)>,
    /// Files that get our hooks, or that load our plugin.
    pub(super) settings: Vec<SettingsFile>,
    /// The file that gets our MCP server; `None` if there is none in this scope.
    pub(super) server: Option<SettingsFile>,
    /// Where older versions put hooks. They are removed.
    pub(super) former: Vec<SettingsFile>,
    /// Files of our own that older versions wrote. They are removed.
    pub(super) former_own: Vec<PathBuf>,
}

/// A settings file of a host, and what we add to it.
#[derive(Clone, Debug)]
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) syntax: Syntax,
    pub(super) entries: Vec<SettingsEntry>,
}

/// A setting with which the user turned our hooks off.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) path: PathBuf,
    pub(super) syntax: Syntax,
    pub(super) keys: KeyPath,
    /// The value that turns them off.
    pub(super) off: bool,
}

/// Where a host is installed, and what it calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostPlace<'a> {
    pub(super) install: InstallService<'a>,
    pub(super) agent: Agent,
    pub(super) scope: InstallScope,
    /// The path of the program.
    pub(super) binary: &'a str,
}

impl HostPlace<'_> {
    /// A file in the agent's folder of the user, or in the folder of that name in the project.
    pub(super) fn file(&self, in_project: &str, name: &str) -> PathBuf {
        match self.scope {
            InstallScope::User => self.home().join(name),
            InstallScope::Project => self.install.project_folder().join(in_project).join(name),
        }
    }

    /// The agent's folder of the user.
    pub(super) fn home(&self) -> PathBuf {
        (format_of(self.agent).home)(&self.install.engine.source_config())
    }

    /// A folder in the user's configuration folder, unless a variable names another one.
    pub(super) fn config_folder(&self, variable: &str, name: &str) -> PathBuf {
        let config = self.install.engine.source_config();
        if let Some(named) = config.env_var(variable) {
            return config.expand_home(named);
        }
        let folder = config.env_var("XDG_CONFIG_HOME").map(|folder| config.expand_home(folder));
        folder.unwrap_or_else(|| config.home.join(".config")).join(name)
    }

    /// What files call that may be committed: in a project the program by its name, because its path is personal.
    pub(super) fn program(&self) -> &str {
        if self.scope == InstallScope::Project { NAME } else { self.binary }
    }

    /// The shell line of a hook in such a file.
    pub(super) fn command(&self) -> String {
        hook_command(self.program(), self.agent)
    }

    pub(super) fn owner(&self) -> Owner<'_> {
        Owner { agent: self.agent, binary: Some(self.binary) }
    }

    /// The skill that several hosts share.
    fn shared_skill(&self) -> PathBuf {
        let folder = match self.scope {
            InstallScope::User => self.install.engine.environment.home.clone(),
            InstallScope::Project => self.install.project_folder(),
        };
        folder.join(".agents/skills").join(NAME).join("SKILL.md")
    }

    /// The folder below which everything of ours is: it stays when the others become empty.
    pub(super) fn top_folder(&self) -> PathBuf {
        match self.scope {
            InstallScope::User => self.install.engine.environment.home.clone(),
            InstallScope::Project => self.install.project_folder(),
        }
    }
}

impl HostInstaller {
    /// The installer for an agent; `None` if Rethread cannot be installed into it.
    pub fn of(agent: Agent) -> Option<&'static Self> {
        INSTALLERS.into_iter().find(|host| host.agent == agent)
    }

    /// Whether the host calls hooks. The others can only use the MCP server.
    pub fn has_hooks(&self) -> bool {
        self.component != SERVER_ONLY
    }

    /// What the user has to do after an install.
    pub fn note(&self, scope: InstallScope) -> Option<&'static str> {
        (self.note)(scope)
    }

    /// Whether a skill is installed with it.
    pub fn has_skill(&self) -> bool {
        self.has_hooks() && (self.skill == Skill::Shared || self.agent == Agent::ClaudeCode)
    }

    pub(super) fn place<'a>(
        &self,
        install: InstallService<'a>,
        scope: InstallScope,
        binary: &'a str,
    ) -> Result<HostPlace<'a>, InstallError> {
        if scope == InstallScope::Project && !self.has_project_scope {
            return Err(InstallError::NoProjectScope(self.agent));
        }
        // Claude Code has a file of its own for a project, even in the home directory.
        if scope == InstallScope::Project && self.agent != Agent::ClaudeCode && install.is_project_home() {
            return Err(InstallError::ProjectIsHome(install.project_folder()));
        }
        Ok(HostPlace { install, agent: self.agent, scope, binary })
    }

    /// Plans hooks that call the program, and the MCP server if it is wanted.
    pub(super) fn plan(&self, place: &HostPlace<'_>, with_mcp: bool) -> Result<InstallPlan, InstallError> {
        let files = (self.files)(place);
        if !with_mcp && !self.has_hooks() {
            return Err(InstallError::OnlyServer(self.agent));
        }
        if with_mcp && files.server.is_none() {
            return Err(InstallError::NoServer(self.agent));
        }
        let mut plan = InstallPlan::default();
        for file in files.by_path(with_mcp) {
            plan = plan.join(place.plan_settings(&file, &files)?);
        }
        for file in &files.former {
            plan = plan.join(place.plan_remove_settings(file)?);
        }
        plan = plan.join(plan_file_removal(files.former_own.clone(), &place.top_folder(), is_own_file)?);
        plan = plan.join(plan_files(files.own, is_own_file)?);
        if self.skill == Skill::Shared && self.has_hooks() {
            let text = skill_text(place.scope, place.binary);
            plan = plan.join(plan_files(vec![(place.shared_skill(), text)], is_own_file)?);
        }
        Ok(plan)
    }

    /// Plans removing everything of ours. The shared skill stays while another host uses it.
    pub(super) fn plan_removal(&self, place: &HostPlace<'_>) -> Result<InstallPlan, InstallError> {
        let files = (self.files)(place);
        let top = place.top_folder();
        let mut own: Vec<PathBuf> =
            files.own.iter().map(|(path, _)| path.clone()).chain(files.former_own.clone()).collect();
        if self.skill == Skill::Shared && self.has_hooks() && !self.is_skill_needed(place) {
            own.push(place.shared_skill());
        }
        let mut plan = plan_file_removal(own, &top, is_own_file)?;
        for file in files.by_path(true).iter().chain(&files.former) {
            plan = plan.join(place.plan_remove_settings(file)?);
        }
        // The innermost folders first: they have to be empty before the one above them can be removed.
        plan.folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        plan.folders.dedup();
        Ok(plan)
    }

    /// Whether another host that is installed in the same scope reads the shared skill.
    fn is_skill_needed(&self, place: &HostPlace<'_>) -> bool {
        let others = INSTALLERS.into_iter().filter(|host| host.skill == Skill::Shared && host.agent != self.agent);
        let mut places =
            others.filter_map(|host| Some((host, host.place(place.install, place.scope, place.binary).ok()?)));
        places.any(|(host, place)| host.is_installed(&place))
    }

    /// Whether something of ours calls the hook.
    pub(super) fn is_installed(&self, place: &HostPlace<'_>) -> bool {
        let files = (self.files)(place);
        let is_ours = |path: &Path| std::fs::read_to_string(path).is_ok_and(|text| is_own_file(&text));
        files.own.iter().any(|(path, _)| is_ours(path)) || files.settings.iter().any(|file| place.has_entries(file))
    }
}

impl HostFiles {
    /// The settings files with everything they get: one that gets hooks and the MCP server is changed once.
    pub(super) fn by_path(&self, with_mcp: bool) -> Vec<SettingsFile> {
        let mut all: Vec<SettingsFile> = Vec::new();
        for file in self.settings.iter().chain(self.server.as_ref().filter(|_| with_mcp)) {
            match all.iter_mut().find(|known| known.path == file.path) {
                Some(known) => known.entries.extend(file.entries.clone()),
                None => all.push(file.clone()),
            }
        }
        all
    }

    /// Everything that is ours in one settings file.
    pub(super) fn entries_in(&self, path: &Path) -> Vec<SettingsEntry> {
        let file = self.by_path(true).into_iter().find(|file| file.path == path);
        file.map(|file| file.entries).unwrap_or_default()
    }
}
