//! Removes secrets from the rows of an export. Texts were redacted when they were read, by the rules of that time.

use rethread_ingest::{RedactionFindings, Redactor, state_texts};
use rethread_store::PortableColumns;
use serde_json::Value;

/// Columns with text of people, programs and models.
const TEXT_COLUMNS: [&str; 19] = [
    "alias",
    "arguments",
    "branch",
    "cwd",
    "detail",
    "error",
    "fields",
    "name",
    "output",
    "paths",
    "project",
    "prompt_entities",
    "recent_files",
    "script",
    "summary",
    "target",
    "task",
    "text",
    "recent_tools",
];
/// The state of the assembler of a session, as JSON.
const STATE_COLUMN: &str = "assembler_state";
/// A hash of the texts of an entry.
const CHECKSUM_COLUMN: &str = "checksum";

/// Redacts a row in place.
pub(super) fn redact_row(table: &str, row: &mut PortableColumns, findings: &mut RedactionFindings) {
    let mut is_changed = false;
    for name in TEXT_COLUMNS {
        if let Some(Value::String(text)) = row.get_mut(name) {
            is_changed |= redact_json_or_text(text, findings);
        }
    }
    if let Some(Value::String(state)) = row.get_mut(STATE_COLUMN) {
        let texts = state_texts(state);
        redact_within_json(state, &|text| texts.iter().any(|one| one == text), findings);
    }
    if is_changed && table == "entry" {
        row.remove(CHECKSUM_COLUMN);
    }
}

/// The text without secrets, for exports that are only read.
pub(super) fn redact_text(text: &str, findings: &mut RedactionFindings) -> String {
    Redactor::shared().redact(text, findings).into_owned()
}

/// A text of JSON stays JSON.
fn redact_json_or_text(text: &mut String, findings: &mut RedactionFindings) -> bool {
    if text.starts_with(['{', '['])
        && let Some(is_changed) = redact_within_json(text, &|_| true, findings)
    {
        return is_changed;
    }
    let redacted = redact_text(text, findings);
    let is_changed = redacted != *text;
    *text = redacted;
    is_changed
}

/// Redacts the texts in a text of JSON. `None` if it is not JSON.
fn redact_within_json(
    json: &mut String,
    is_text: &dyn Fn(&str) -> bool,
    findings: &mut RedactionFindings,
) -> Option<bool> {
    let mut value: Value = serde_json::from_str(json).ok()?;
    let is_changed = redact_value(&mut value, is_text, findings);
    if is_changed {
        *json = value.to_string();
    }
    Some(is_changed)
}

fn redact_value(value: &mut Value, is_text: &dyn Fn(&str) -> bool, findings: &mut RedactionFindings) -> bool {
    match value {
        Value::String(text) if is_text(text) => {
            let redacted = redact_text(text, findings);
            let is_changed = redacted != *text;
            *text = redacted;
            is_changed
        }
        Value::Array(all) => all.iter_mut().fold(false, |any, one| redact_value(one, is_text, findings) | any),
        Value::Object(all) => all.values_mut().fold(false, |any, one| redact_value(one, is_text, findings) | any),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rethread_store::PortableColumns;
    use serde_json::json;

    use super::*;

    fn redacted(table: &str, row: &Value) -> (PortableColumns, u64) {
        let mut row = row.as_object().unwrap().clone();
        let mut findings = RedactionFindings::default();
        redact_row(table, &mut row, &mut findings);
        (row, findings.total())
    }

    #[test]
    fn texts_and_json_lose_secrets_and_ids_stay() {
        let row = json!({
            "text": "export DB_PASSWORD=tr0ub4dor",
            "arguments": r#"{"command":"export DB_PASSWORD=tr0ub4dor"}"#,
            "native_id": "DB_PASSWORD=tr0ub4dor",
            "checksum": 7,
        });
        let (row, found) = redacted("entry", &row);
        assert_eq!(found, 2);
        assert_eq!(row["text"], "export DB_PASSWORD=[REDACTED:password]");
        assert_eq!(row["arguments"], r#"{"command":"export DB_PASSWORD=[REDACTED:password]"}"#);
        assert_eq!(row["native_id"], "DB_PASSWORD=tr0ub4dor");
        assert!(!row.contains_key("checksum"), "it is of another text");
    }

    #[test]
    fn a_redacted_text_stays_as_it_is() {
        let row = json!({ "text": "export DB_PASSWORD=[REDACTED:password] {\"a\": 1}", "checksum": 7 });
        assert_eq!(redacted("entry", &row), (row.as_object().unwrap().clone(), 0));
    }
}
