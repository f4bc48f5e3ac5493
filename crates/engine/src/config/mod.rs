//! Settings in layers: default, user file, project file, environment, flags. Each value records its layer.

mod declaration;
mod keys;
mod live;
mod settings;
mod unset;
mod value;

use std::path::{Path, PathBuf};

use rethread_ingest::source::exclude::{ExcludeRules, InvalidPattern, PROJECT_CONFIG};
use rethread_store::{OWNER_ONLY_FOLDER, create_folders};

use declaration::selected_agents;
use keys::SettingKind;
pub use keys::{SETTING_KEYS, SettingKey};
pub use live::ConfigReload;
pub(crate) use live::LiveConfig;
pub(crate) use settings::{ArchivedPeriods, EmbeddingSettings, IntakeMode, SessionInjection};
pub use settings::{ServeSettings, Settings};
pub use value::SettingValue;

use crate::{Environment, home};

/// What happens to most invalid parts of a file.
const IGNORED: &str = "ignored";
/// The setting that is never ignored if it is invalid.
const STORE_URL: &str = "store.url";

/// Where a value comes from; later layers override earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigLayer {
    /// The built-in default.
    Default,
    /// The user's `config.toml`.
    User(PathBuf),
    /// The project's `.rethread.toml`.
    Project(PathBuf),
    /// An environment variable with this name.
    Variable(String),
    /// A command line flag.
    Flag,
}

impl std::fmt::Display for ConfigLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConfigLayer::Default => f.write_str("default"),
            ConfigLayer::User(path) | ConfigLayer::Project(path) => write!(f, "{}", path.display()),
            ConfigLayer::Variable(name) => write!(f, "${name}"),
            ConfigLayer::Flag => f.write_str("command line"),
        }
    }
}

/// A resolved setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name, type and help of the setting.
    pub key: &'static SettingKey,
    /// The resolved value.
    pub value: SettingValue,
    /// The layer that the value comes from.
    pub layer: ConfigLayer,
}

/// A part of the configuration that was ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}; {effect}")]
pub struct ConfigProblem {
    /// The file, variable or section.
    location: String,
    /// What is wrong.
    message: String,
    /// What applies instead.
    effect: &'static str,
}

impl ConfigProblem {
    fn new(location: impl std::fmt::Display, message: impl Into<String>, effect: &'static str) -> Self {
        Self { location: location.to_string(), message: message.into(), effect }
    }
}

/// An unusable configuration, or an invalid change to it.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not valid TOML.
    #[error("{} is not valid TOML", path.display())]
    NotToml {
        /// Path of the file.
        path: PathBuf,
        /// The parse error.
        #[source]
        cause: Box<toml_edit::TomlError>,
    },
    /// A file was already invalid when the program started, and the operation depends on it.
    #[error("{} is not valid TOML: {reason}", path.display())]
    InvalidFile {
        /// Path of the file.
        path: PathBuf,
        /// The parse error as text.
        reason: String,
    },
    /// A setting without which a command would do something else than the user wants.
    #[error("{0}")]
    Unusable(String),
    /// There is no setting with that name.
    #[error("unknown setting {0:?}")]
    UnknownKey(String),
    /// The value is not valid for this setting.
    #[error("invalid value {given:?} for {key}: expected {expected}")]
    InvalidValue {
        /// Name of the setting.
        key: &'static str,
        /// A description of valid values.
        expected: String,
        /// The rejected value.
        given: String,
    },
    /// A pattern of paths cannot be used.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
    /// The file cannot be read or written.
    #[error("cannot read or write {}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        cause: std::io::Error,
    },
}

/// All settings, resolved from every layer.
#[derive(Clone, Debug)]
pub struct Config {
    entries: Vec<Setting>,
    settings: Settings,
    problems: Vec<ConfigProblem>,
    path: PathBuf,
    /// A file that is not valid TOML, and the parse error.
    invalid_file: Option<(PathBuf, String)>,
}

impl Config {
    /// Resolves all layers. An invalid value is ignored and reported, so that a typo disables nothing else.
    pub(crate) fn load(environment: &Environment, folder: &Path) -> Result<Self, ConfigError> {
        let path = folder.join("config.toml");
        let default = |key| Setting { key, value: SettingKey::default_value(key), layer: ConfigLayer::Default };
        let entries: Vec<Setting> = SETTING_KEYS.iter().map(default).collect();
        let settings = Settings::read(&entries);
        let mut config = Self { entries, settings, problems: Vec::new(), path: path.clone(), invalid_file: None };
        config.apply_file(&path, &ConfigLayer::User(path.clone()), |_| true)?;
        if let Some(project) = project_file(environment) {
            // A project file may come from an untrusted repository: it may only restrict what is read.
            config
                .apply_file(&project, &ConfigLayer::Project(project.clone()), |key| key.name.starts_with("intake."))?;
        }
        for key in SETTING_KEYS.iter() {
            let name = key.env_variable();
            if let Some(text) = environment.variable(&name) {
                config.apply_text(key, text, ConfigLayer::Variable(name.clone()));
            }
        }
        for (name, text) in &environment.config_overrides {
            let key = find_key(name)?;
            let value = SettingValue::parse(key, text)?;
            config.apply(key, value, ConfigLayer::Flag);
        }
        config.settings = Settings::read(&config.entries);
        let Self { settings, problems, .. } = &mut config;
        let Settings { embeddings, model, .. } = settings;
        if embeddings.endpoint.is_empty() != embeddings.model.is_empty() {
            let message = "set both embeddings.endpoint and embeddings.model";
            problems.push(ConfigProblem::new("embeddings", message, "embeddings are disabled"));
        }
        if model.provider.is_none() != model.name.is_empty() {
            let message = "set both model.provider and model.name";
            problems.push(ConfigProblem::new("model", message, "the model is disabled"));
        }
        if let Some(message) = crate::cards::config_problem(settings) {
            problems.push(ConfigProblem::new("cards", message, "cards are generated without a model"));
        }
        Ok(config)
    }

    /// The address of the store on a server, if one is set. Fails if it is invalid: without it, the local store would be
    /// used instead.
    pub fn store_url(environment: &Environment) -> Result<Option<String>, ConfigError> {
        let config = Self::load(environment, &environment.rethread_folder())?;
        config.ensure_usable()?;
        match config.problems.iter().find(|problem| problem.message.contains(STORE_URL)) {
            Some(problem) => Err(ConfigError::Unusable(problem.message.clone())),
            None => Ok(Some(config.settings.store.url).filter(|url| !url.is_empty())),
        }
    }

    /// All settings, typed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All settings with their layers, in the order of the reference.
    pub fn entries(&self) -> &[Setting] {
        &self.entries
    }

    /// Invalid parts of the configuration that were ignored.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    /// Path of the user's file, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if a file could not be parsed: it may list what must not be read.
    pub(crate) fn ensure_usable(&self) -> Result<(), ConfigError> {
        match &self.invalid_file {
            None => Ok(()),
            Some((path, reason)) => Err(ConfigError::InvalidFile { path: path.clone(), reason: reason.clone() }),
        }
    }

    /// Looks up a setting by its full name.
    pub fn get(&self, name: &str) -> Result<&Setting, ConfigError> {
        let found = self.entries.iter().find(|setting| setting.key.name == name);
        found.ok_or_else(|| ConfigError::UnknownKey(name.to_owned()))
    }

    /// Changes one setting in the user's file and leaves the rest of the file unchanged.
    pub fn set(&self, name: &str, text: &str) -> Result<(), ConfigError> {
        let key = find_key(name)?;
        let value = SettingValue::parse(key, text)?;
        if let ("intake.exclude", SettingValue::List(patterns)) = (key.name.as_ref(), &value) {
            ExcludeRules::new(patterns, Path::new("/"), &[])?;
        }
        let mut document = parse_toml(&self.path, &self.user_text()?)?;
        let (section, field) = key.section_and_field();
        let table = document.entry(section).or_insert(toml_edit::table()).as_table_like_mut();
        let not_a_section = || self.failed(std::io::Error::other(format!("{section:?} is not a section")));
        table.ok_or_else(not_a_section)?.insert(field, value.to_toml());
        self.write_user_text(&document.to_string())
    }

    /// Removes one setting from the user's file and leaves the rest of the file unchanged, comments included. Returns
    /// whether it was set there. An unknown setting is removed too, if it is there.
    pub fn unset(&self, name: &str) -> Result<bool, ConfigError> {
        let (section, field) = name.split_once('.').ok_or_else(|| ConfigError::UnknownKey(name.to_owned()))?;
        match unset::without_setting(&self.path, &self.user_text()?, section, field)? {
            Some(text) => self.write_user_text(&text).map(|()| true),
            None => find_key(name).map(|_| false),
        }
    }

    /// Creates the folder of the user's file, so that an editor can write it.
    pub fn create_folder(&self) -> Result<(), ConfigError> {
        let folder = self.path.parent().map_or(Ok(()), |folder| create_folders(folder, OWNER_ONLY_FOLDER));
        folder.map_err(|cause| self.failed(cause))
    }

    /// The text of the user's file; empty if there is none.
    fn user_text(&self) -> Result<String, ConfigError> {
        match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            text => text.map_err(|cause| self.failed(cause)),
        }
    }

    fn write_user_text(&self, text: &str) -> Result<(), ConfigError> {
        self.create_folder()?;
        home::write_atomic(&self.path, text).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: std::io::Error) -> ConfigError {
        ConfigError::File { path: self.path.clone(), cause }
    }

    fn apply_file(
        &mut self,
        path: &Path,
        layer: &ConfigLayer,
        allowed: fn(&SettingKey) -> bool,
    ) -> Result<(), ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(cause) => return Err(ConfigError::File { path: path.to_owned(), cause }),
        };
        let document: toml_edit::DocumentMut = match text.parse() {
            Ok(document) => document,
            Err(error) => {
                let reason = error.to_string().trim().replace('\n', " ");
                let message = format!("invalid TOML ({reason})");
                self.add_problem(path, message, "no transcripts are read until it is fixed");
                self.invalid_file = Some((path.to_owned(), reason));
                return Ok(());
            }
        };
        for (section, item) in document.iter() {
            let Some(table) = item.as_table_like() else {
                self.add_problem(path, format!("{section:?} is not a section"), IGNORED);
                continue;
            };
            for (field, item) in table.iter() {
                let name = format!("{section}.{field}");
                match SETTING_KEYS.iter().find(|key| key.name == name) {
                    None => self.add_problem(path, format!("unknown setting {name:?}"), IGNORED),
                    Some(key) if !allowed(key) => {
                        self.add_problem(path, format!("{name} cannot be set in a project file"), IGNORED);
                    }
                    Some(key) => match SettingValue::from_toml(key, item) {
                        Some(value) => self.apply(key, value, layer.clone()),
                        None => self.add_problem(
                            path,
                            format!("invalid value for {name}: expected {}", key.expected_value()),
                            IGNORED,
                        ),
                    },
                }
            }
        }
        Ok(())
    }

    fn apply_text(&mut self, key: &'static SettingKey, text: &str, layer: ConfigLayer) {
        match SettingValue::parse(key, text) {
            Ok(value) => self.apply(key, value, layer),
            Err(error) => self.problems.push(ConfigProblem::new(layer, error.to_string(), IGNORED)),
        }
    }

    fn apply(&mut self, key: &'static SettingKey, value: SettingValue, layer: ConfigLayer) {
        if let Some(setting) = self.entries.iter_mut().find(|setting| setting.key.name == key.name) {
            // Every layer may exclude more, but a stronger layer cannot undo the exclusions of a weaker one.
            let value = match (&setting.value, value) {
                (SettingValue::List(before), SettingValue::List(more))
                    if key.kind == SettingKind::List { is_joined: true } =>
                {
                    SettingValue::List(before.iter().chain(&more).cloned().collect())
                }
                // A project cannot turn on agents, least of all those with private conversations.
                (SettingValue::List(before), SettingValue::List(chosen))
                    if matches!((&key.kind, &layer), (SettingKind::Names { .. }, ConfigLayer::Project(_))) =>
                {
                    let (before, chosen) = (selected_agents(before), selected_agents(&chosen));
                    let kept = chosen.iter().filter(|agent| before.contains(agent));
                    SettingValue::List(kept.map(ToString::to_string).collect())
                }
                (_, value) => value,
            };
            *setting = Setting { key, value, layer };
        }
    }

    fn add_problem(&mut self, path: &Path, message: String, effect: &'static str) {
        self.problems.push(ConfigProblem::new(path.display(), message, effect));
    }
}

fn find_key(name: &str) -> Result<&'static SettingKey, ConfigError> {
    SETTING_KEYS.iter().find(|key| key.name == name).ok_or_else(|| ConfigError::UnknownKey(name.to_owned()))
}

/// Whether a text is a configuration in which every section is one of ours, judged by its name.
pub(crate) fn has_only_known_sections(text: &str) -> bool {
    let is_section = |name: &str| SETTING_KEYS.iter().any(|key| key.section_and_field().0 == name);
    text.parse::<toml_edit::DocumentMut>().is_ok_and(|document| document.iter().all(|(name, _)| is_section(name)))
}

fn parse_toml(path: &Path, text: &str) -> Result<toml_edit::DocumentMut, ConfigError> {
    text.parse().map_err(|cause| ConfigError::NotToml { path: path.to_owned(), cause: Box::new(cause) })
}

/// The nearest project file in the current directory or above it.
fn project_file(environment: &Environment) -> Option<PathBuf> {
    environment.cwd.ancestors().map(|folder| folder.join(PROJECT_CONFIG)).find(|path| path.is_file())
}
