//! Removes one setting from the text of a configuration file. Everything else stays as it is, comments included.

use std::ops::Range;
use std::path::Path;

use super::{ConfigError, parse_toml};

/// The text without a setting; `None` if it is not set.
pub(super) fn without_setting(
    path: &Path,
    text: &str,
    section: &str,
    field: &str,
) -> Result<Option<String>, ConfigError> {
    let mut document = parse_toml(path, text)?;
    let Some(table) = document.get_mut(section).and_then(|item| item.as_table_like_mut()) else { return Ok(None) };
    if table.remove(field).is_none() {
        return Ok(None);
    }
    Ok(Some(match own_lines(text, section, field) {
        Some(lines) => format!("{}{}", &text[..lines.start], &text[lines.end..]),
        // It shares its line with others, as in `intake = { mode = "batch", interval_minutes = 1 }`.
        None => document.to_string(),
    }))
}

/// The lines of a setting that has lines of its own.
fn own_lines(text: &str, section: &str, field: &str) -> Option<Range<usize>> {
    let document = toml_edit::Document::parse(text).ok()?;
    let (key, item) = document.get(section)?.as_table_like()?.get_key_value(field)?;
    let (key, value) = (key.span()?, item.span()?);
    let start = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
    let before: String = text[start..key.start].split_whitespace().collect();
    let is_alone = before.is_empty() || before.strip_suffix('.') == Some(section);
    is_alone.then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unset(text: &str) -> Option<String> {
        without_setting(Path::new("config.toml"), text, "intake", "mode").unwrap()
    }

    #[test]
    fn only_the_line_of_the_setting_goes() {
        let text = "# mine\n[intake]\n# why batch\nmode = \"batch\" # slow disk\n# last\nenabled = true\n\n[facts]\n";
        let rest = "# mine\n[intake]\n# why batch\n# last\nenabled = true\n\n[facts]\n";
        assert_eq!(unset(text).as_deref(), Some(rest));
        assert_eq!(unset("intake.mode = \"batch\"\n").as_deref(), Some(""));
        assert_eq!(unset("[intake]\nmode = \"batch\"").as_deref(), Some("[intake]\n"));
        assert_eq!(unset("[intake]\nenabled = true\n"), None);
        assert_eq!(unset(""), None);
    }

    #[test]
    fn a_setting_within_a_line_leaves_its_neighbors() {
        let rest = unset("intake = { mode = \"batch\", enabled = true } # all\n").unwrap();
        assert!(!rest.contains("mode") && rest.contains("enabled = true") && rest.contains("# all"), "{rest}");
    }
}
