//! Settings files of agents: one way to add our entries to them and to remove them, for each syntax.

mod json;
mod toml;
mod yaml;
mod yaml_check;
mod yaml_remove;
mod yaml_tree;
mod yaml_write;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value};

use super::entry::{Owner, SettingsEntry, SettingsProblem};

/// Some editors write it at the start of a file. It is kept.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// What a missing or empty JSON file stands for.
const EMPTY_OBJECT: &str = "{}\n";

/// The syntax of a settings file, as far as the agent that reads it accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON as standardized.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// JSON5: also unquoted keys and single quotes.
    Json5,
    Toml,
    Yaml,
}

/// Why settings cannot be changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditError {
    /// A value is not in the documented format.
    Unexpected(SettingsProblem),
    /// The text is valid, but written in a way that cannot be changed safely. With the lines to add by hand.
    Unclear { lines: String },
}

impl From<SettingsProblem> for EditError {
    fn from(problem: SettingsProblem) -> Self {
        EditError::Unexpected(problem)
    }
}

impl Syntax {
    /// Its name in messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Syntax::Json | Syntax::Jsonc => "JSON",
            Syntax::Json5 => "JSON5",
            Syntax::Toml => "TOML",
            Syntax::Yaml => "YAML",
        }
    }

    /// Parses settings; an empty file counts as an empty object.
    pub(super) fn parse(self, text: &str) -> Result<Value, std::io::Error> {
        let (_, body) = self.split_mark(text);
        let parsed = match self {
            Syntax::Json => serde_json::from_str(body).map_err(std::io::Error::other),
            Syntax::Jsonc | Syntax::Json5 => {
                let document = CstRootNode::parse(body, &self.options()).map_err(std::io::Error::other);
                document.map(|document| document.to_serde_value().unwrap_or_default())
            }
            Syntax::Toml => toml::parse(body),
            Syntax::Yaml => yaml::parse(body),
        };
        // A file with nothing but comments.
        parsed.map(|value: Value| if value.is_null() { Value::Object(Map::new()) } else { value })
    }

    /// The settings with each of our entries exactly once and up to date.
    pub(super) fn with(self, text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Result<String, EditError> {
        let (mark, body) = self.split_mark(text);
        let value = self.parse(text).map_err(|_| SettingsProblem::new(&[], "an object"))?;
        entries.iter().try_for_each(|entry| entry.check(&value))?;
        let edited = match self {
            Syntax::Json | Syntax::Jsonc | Syntax::Json5 => json::with(body, entries, owner)?,
            Syntax::Toml => toml::with(body, entries, owner)?,
            Syntax::Yaml => yaml::with(body, entries, owner)?,
        };
        Ok(format!("{mark}{edited}"))
    }

    /// The settings without our entries and without the containers this leaves empty; `None` if they cannot be
    /// changed.
    pub(super) fn without(self, text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Option<String> {
        let (mark, body) = self.split_mark(text);
        let edited = match self {
            Syntax::Json | Syntax::Jsonc | Syntax::Json5 => json::without(body, entries, owner),
            Syntax::Toml => toml::without(body, entries, owner),
            Syntax::Yaml => yaml::without(body, entries, owner),
        };
        edited.map(|edited| format!("{mark}{edited}"))
    }

    /// The mark at the start of a text, and the settings after it.
    fn split_mark(self, text: &str) -> (&str, &str) {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mark = &text[..text.len() - body.len()];
        let is_json = matches!(self, Syntax::Json | Syntax::Jsonc | Syntax::Json5);
        (mark, if is_json && body.trim().is_empty() { EMPTY_OBJECT } else { body })
    }

    fn options(self) -> ParseOptions {
        let is_json5 = self == Syntax::Json5;
        ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: is_json5,
            allow_missing_commas: false,
            allow_single_quoted_strings: is_json5,
            allow_hexadecimal_numbers: is_json5,
            allow_unary_plus_numbers: is_json5,
            allow_bare_decimal_point_numbers: is_json5,
            allow_non_finite_numbers: is_json5,
            allow_extended_string_escapes: is_json5,
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod json_tests;
#[cfg(test)]
mod tests;
