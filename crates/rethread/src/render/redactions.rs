//! How many secrets were removed, by kind, in one sentence.

use super::format::count;

/// The sentence, also if there were none.
pub(crate) fn redaction_summary(redactions: &[(&'static str, u64)]) -> String {
    let total: u64 = redactions.iter().map(|(_, count)| count).sum();
    let kinds: Vec<String> = redactions.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    match total {
        0 => "No secrets were left to remove.".to_owned(),
        _ => format!("Removed {}: {}.", count(total, "secret"), kinds.join(", ")),
    }
}
