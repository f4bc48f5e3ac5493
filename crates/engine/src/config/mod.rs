//! Settings in layers: default, the user's file, the project's file, environment, flags. Each value knows its layer.

mod keys;
mod value;

use std::path::{Path, PathBuf};

use rethread_ingest::Filter;
use rethread_ingest::source::exclude::PROJECT_CONFIG;
use rethread_llm::NanoUsd;

pub use keys::{KEYS, Key};
pub use value::Value;

use crate::{Environment, home};

/// Where a value comes from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Built in.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The project's file.
    Project(PathBuf),
    /// An environment variable.
    Variable(String),
    /// The command line.
    Flag,
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Layer::Default => f.write_str("default"),
            Layer::User(path) | Layer::Project(path) => write!(f, "{}", path.display()),
            Layer::Variable(name) => write!(f, "${name}"),
            Layer::Flag => f.write_str("command line"),
        }
    }
}

/// One setting as resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its key.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Where the value comes from.
    pub layer: Layer,
}

/// Something in a configuration that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Where it stands.
    pub place: String,
    /// What is wrong and what holds instead.
    pub message: String,
}

/// A configuration that cannot be used at all, or a change that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("{} is not valid TOML", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        cause: Box<toml_edit::TomlError>,
    },
    /// A file could not be understood when the program started, and what it says matters now.
    #[error("{} is not valid TOML: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// No such key.
    #[error("there is no setting {0:?}")]
    UnknownKey(String),
    /// The value has the wrong shape.
    #[error("{key} must be {expected}, not {given:?}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What it must be.
        expected: String,
        /// What was given.
        given: String,
    },
    /// The file cannot be read or written.
    #[error("{} cannot be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
}

/// All settings, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    settings: Vec<Setting>,
    problems: Vec<ConfigProblem>,
    path: PathBuf,
    /// A file that is no TOML, and why.
    unusable: Option<(PathBuf, String)>,
}

impl Config {
    /// Resolves all layers. A bad value is passed over and noted, so that a typing error switches nothing else off.
    pub(crate) fn load(environment: &Environment, folder: &Path) -> Result<Self, ConfigError> {
        let path = folder.join("config.toml");
        let settings =
            KEYS.iter().map(|key| Setting { key, value: key.default_value(), layer: Layer::Default }).collect();
        let mut config = Self { settings, problems: Vec::new(), path: path.clone(), unusable: None };
        config.take_file(&path, &Layer::User(path.clone()), |_| true)?;
        if let Some(project) = project_file(environment) {
            // A project's file comes with the code of strangers: it may only narrow what is read.
            config.take_file(&project, &Layer::Project(project.clone()), |key| key.name.starts_with("intake."))?;
        }
        for key in &KEYS {
            let name = key.variable();
            if let Some((_, text)) = environment.variables.iter().find(|(variable, _)| *variable == name) {
                config.take_text(key, text, Layer::Variable(name.clone()));
            }
        }
        for (name, text) in &environment.flags {
            let key = find(name)?;
            let value = Value::parse(key, text)?;
            config.put(key, value, Layer::Flag);
        }
        if config.text("embeddings.endpoint").is_empty() != config.text("embeddings.model").is_empty() {
            let message = "embeddings need both endpoint and model; they are off".to_owned();
            config.problems.push(ConfigProblem { place: "embeddings".to_owned(), message });
        }
        if (config.text("model.provider") == "none") != config.text("model.name").is_empty() {
            let message = "a model needs both provider and name; it is off".to_owned();
            config.problems.push(ConfigProblem { place: "model".to_owned(), message });
        }
        if let Some(problem) = crate::cards::problem_in(&config) {
            let message = format!("{problem}; no model writes cards");
            config.problems.push(ConfigProblem { place: "cards".to_owned(), message });
        }
        Ok(config)
    }

    /// All settings in the order of the reference.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What was passed over.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    /// The user's file, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses to go on when a file could not be understood: it may say what must not be read.
    pub(crate) fn must_be_usable(&self) -> Result<(), ConfigError> {
        match &self.unusable {
            None => Ok(()),
            Some((path, reason)) => Err(ConfigError::Unusable { path: path.clone(), reason: reason.clone() }),
        }
    }

    /// One setting.
    pub fn get(&self, name: &str) -> Result<&Setting, ConfigError> {
        let found = self.settings.iter().find(|setting| setting.key.name == name);
        found.ok_or_else(|| ConfigError::UnknownKey(name.to_owned()))
    }

    /// Changes one setting in the user's file and leaves everything else in it as it is.
    pub fn set(&self, name: &str, text: &str) -> Result<(), ConfigError> {
        let key = find(name)?;
        let value = Value::parse(key, text)?;
        let failed = |cause| ConfigError::File { path: self.path.clone(), cause };
        let old = match std::fs::read_to_string(&self.path) {
            Ok(old) => old,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(cause) => return Err(failed(cause)),
        };
        let mut document = parse(&self.path, &old)?;
        let (section, field) = key.parts();
        let table = document.entry(section).or_insert(toml_edit::table());
        table[field] = value.to_toml();
        if let Some(folder) = self.path.parent() {
            home::prepare(folder).map_err(|_| failed(std::io::Error::other("its directory cannot be used")))?;
        }
        home::write_whole(&self.path, &document.to_string()).map_err(failed)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Flag(true)))
    }

    /// A number; 0 if there is no such setting.
    pub fn number(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// A list; empty if there is no such setting.
    pub fn list(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some(Value::List(list)) => list.clone(),
            _ => Vec::new(),
        }
    }

    /// A text; empty if there is no such setting.
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// Dollars; nothing if the setting is empty. A text that is none cannot have become a value.
    pub(crate) fn money(&self, name: &str) -> Option<NanoUsd> {
        self.text(name).parse().ok()
    }

    /// What is kept of transcripts.
    pub(crate) fn filter(&self) -> Filter {
        Filter {
            keep_user_messages: self.flag("filter.keep_user_messages"),
            keep_agent_responses: self.flag("filter.keep_agent_responses"),
            keep_tool_structure: self.flag("filter.keep_tool_structure"),
            omit_tool_outputs: self.flag("filter.omit_tool_outputs"),
            omit_file_contents: self.flag("filter.omit_file_contents"),
            keep_reasoning: self.flag("filter.keep_reasoning"),
            max_output_summary_chars: self.number("filter.max_output_summary_chars") as usize,
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.settings.iter().find(|setting| setting.key.name == name).map(|setting| &setting.value)
    }

    fn take_file(&mut self, path: &Path, layer: &Layer, allowed: fn(&Key) -> bool) -> Result<(), ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(cause) => return Err(ConfigError::File { path: path.to_owned(), cause }),
        };
        let document: toml_edit::DocumentMut = match text.parse() {
            Ok(document) => document,
            Err(error) => {
                let reason = error.to_string().trim().replace('\n', " ");
                self.problem(path, format!("not valid TOML ({reason}); nothing is read before it is mended"));
                self.unusable = Some((path.to_owned(), reason));
                return Ok(());
            }
        };
        for (section, item) in document.iter() {
            let Some(table) = item.as_table_like() else {
                self.problem(path, format!("{section:?} is not a section; it was ignored"));
                continue;
            };
            for (field, item) in table.iter() {
                let name = format!("{section}.{field}");
                match KEYS.iter().find(|key| key.name == name) {
                    None => self.problem(path, format!("there is no setting {name:?}; it was ignored")),
                    Some(key) if !allowed(key) => {
                        self.problem(path, format!("{name} cannot be set by a project; it was ignored"));
                    }
                    Some(key) => match Value::from_toml(key, item) {
                        Some(value) => self.put(key, value, layer.clone()),
                        None => self.problem(path, format!("{name} must be {}; it was ignored", key.expected())),
                    },
                }
            }
        }
        Ok(())
    }

    fn take_text(&mut self, key: &'static Key, text: &str, layer: Layer) {
        match Value::parse(key, text) {
            Ok(value) => self.put(key, value, layer),
            Err(error) => {
                let place = layer.to_string();
                self.problems.push(ConfigProblem { place, message: format!("{error}; it was ignored") });
            }
        }
    }

    fn put(&mut self, key: &'static Key, value: Value, layer: Layer) {
        if let Some(setting) = self.settings.iter_mut().find(|setting| setting.key.name == key.name) {
            // Excluding more is always allowed; a stronger layer does not open what a weaker one closed.
            let value = match (&setting.value, value) {
                (Value::List(before), Value::List(more)) if key.adds_up => {
                    Value::List(before.iter().chain(&more).cloned().collect())
                }
                (_, value) => value,
            };
            *setting = Setting { key, value, layer };
        }
    }

    fn problem(&mut self, path: &Path, message: String) {
        self.problems.push(ConfigProblem { place: path.display().to_string(), message });
    }
}

fn find(name: &str) -> Result<&'static Key, ConfigError> {
    KEYS.iter().find(|key| key.name == name).ok_or_else(|| ConfigError::UnknownKey(name.to_owned()))
}

fn parse(path: &Path, text: &str) -> Result<toml_edit::DocumentMut, ConfigError> {
    text.parse().map_err(|cause| ConfigError::NotToml { path: path.to_owned(), cause: Box::new(cause) })
}

/// The nearest project file at or above the current directory.
fn project_file(environment: &Environment) -> Option<PathBuf> {
    environment.cwd.ancestors().map(|folder| folder.join(PROJECT_CONFIG)).find(|path| path.is_file())
}
