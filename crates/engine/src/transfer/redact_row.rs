//! Removes secrets from the rows of an export. Texts were redacted when they were read, by the rules of that time.

use rethread_ingest::{RedactionFindings, Redactor, state_texts};
use rethread_store::PortableColumns;
use serde_json::Value;

/// Columns with ids, enum values and names from a list. They may look random, so only secrets with a known format count.
/// All others are texts: a column that is added is redacted.
const ID_COLUMNS: [&str; 11] = [
    "closed_as",
    "failed_leaf_id",
    "id",
    "kind",
    "leaf_id",
    "model",
    "namespace",
    "native_id",
    "status",
    "tool_kind",
    "tool_name",
];
/// The key of another session, as in the other lines of the file.
const SESSION_KEY_COLUMN: &str = "parent_external_id";
/// The state of the assembler of a session, as JSON.
const STATE_COLUMN: &str = "assembler_state";
/// A hash of the texts of an entry. Hashes are numbers, and large ones are written as texts.
const CHECKSUM_COLUMN: &str = "checksum";

/// Redacts a row in place.
pub(super) fn redact_row(table: &str, row: &mut PortableColumns, findings: &mut RedactionFindings) {
    let mut is_changed = false;
    for (name, value) in row.iter_mut() {
        let Value::String(text) = value else { continue };
        is_changed |= match name.as_str() {
            SESSION_KEY_COLUMN | CHECKSUM_COLUMN => false,
            hash if hash.ends_with("_key") => false,
            STATE_COLUMN => redact_state(text, findings),
            id if ID_COLUMNS.contains(&id) => replace(text, &mut |text| redact_id(text, findings)),
            _ => redact_json_or_text(text, findings),
        };
    }
    if is_changed && table == "entry" {
        row.remove(CHECKSUM_COLUMN);
    }
}

/// Texts of the state are redacted as texts, everything else as ids.
fn redact_state(state: &mut String, findings: &mut RedactionFindings) -> bool {
    let texts = state_texts(state);
    let mut clean = |text: &str| {
        let is_text = texts.iter().any(|one| one == text);
        if is_text { redact_text(text, findings) } else { redact_id(text, findings) }
    };
    redact_within_json(state, &mut clean).unwrap_or_default()
}

fn redact_id(id: &str, findings: &mut RedactionFindings) -> String {
    Redactor::shared().redact_id(id.to_owned(), findings)
}

/// The text without secrets, for exports that are only read.
pub(super) fn redact_text(text: &str, findings: &mut RedactionFindings) -> String {
    Redactor::shared().redact(text, findings).into_owned()
}

/// A text of JSON stays JSON.
fn redact_json_or_text(text: &mut String, findings: &mut RedactionFindings) -> bool {
    let mut clean = |text: &str| redact_text(text, findings);
    if text.starts_with(['{', '['])
        && let Some(is_changed) = redact_within_json(text, &mut clean)
    {
        return is_changed;
    }
    replace(text, &mut clean)
}

/// Cleans the texts in a text of JSON. `None` if it is not JSON.
fn redact_within_json(json: &mut String, clean: &mut dyn FnMut(&str) -> String) -> Option<bool> {
    let mut value: Value = serde_json::from_str(json).ok()?;
    let is_changed = redact_value(&mut value, clean);
    if is_changed {
        *json = value.to_string();
    }
    Some(is_changed)
}

fn redact_value(value: &mut Value, clean: &mut dyn FnMut(&str) -> String) -> bool {
    match value {
        Value::String(text) => replace(text, clean),
        Value::Array(all) => all.iter_mut().fold(false, |any, one| redact_value(one, clean) | any),
        Value::Object(all) => all.values_mut().fold(false, |any, one| redact_value(one, clean) | any),
        _ => false,
    }
}

/// Replaces a text by its clean form. Whether that differs.
fn replace(text: &mut String, clean: &mut dyn FnMut(&str) -> String) -> bool {
    let cleaned = clean(text);
    let is_changed = cleaned != *text;
    *text = cleaned;
    is_changed
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
            "native_id": "toolu_01Zx8Kd0sLq2mNc4vBx6zTy8wRu1p",
            "native_key": "4111111111111111111",
            "checksum": 7,
        });
        let (row, found) = redacted("entry", &row);
        assert_eq!(found, 2);
        assert_eq!(row["text"], "export DB_PASSWORD=[REDACTED:password]");
        assert_eq!(row["arguments"], r#"{"command":"export DB_PASSWORD=[REDACTED:password]"}"#);
        assert_eq!(row["native_id"], "toolu_01Zx8Kd0sLq2mNc4vBx6zTy8wRu1p");
        assert_eq!(row["native_key"], "4111111111111111111");
        assert!(!row.contains_key("checksum"), "it is of another text");
    }

    #[test]
    fn every_column_loses_secrets_also_one_that_is_not_known_here() {
        let secret = "DB_PASSWORD=tr0ub4dor";
        for name in ["tags", "model", "namespace", "tool_name", "native_id", "id", "kind", "added_by_a_later_version"] {
            let (row, found) = redacted("entry", &json!({ name: secret }));
            assert_eq!((found, row[name].as_str()), (1, Some("DB_PASSWORD=[REDACTED:password]")), "{name}");
        }
        let state = json!({ "anything": [secret] }).to_string();
        assert_eq!(redacted("session", &json!({ "assembler_state": state })).1, 1);
    }

    #[test]
    fn a_redacted_text_stays_as_it_is() {
        let row = json!({ "text": "export DB_PASSWORD=[REDACTED:password] {\"a\": 1}", "checksum": 7 });
        assert_eq!(redacted("entry", &row), (row.as_object().unwrap().clone(), 0));
    }
}
