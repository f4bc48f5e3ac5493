//! Separates what a human wrote to Cursor from the context that it puts around it.

use rethread_model::Timestamp;

use crate::parse::user_text::{strip_added_tags, strip_tag, tag_content};

/// Around what was typed.
const QUERY_TAG: &str = "user_query";
/// Around context. A message may consist of nothing else.
const CONTEXT_TAGS: [&str; 29] = [
    "timestamp",
    "external_links",
    "user_info",
    "git_status",
    "project_layout",
    "rules",
    "user_rules",
    "always_applied_workspace_rules",
    "agent_requestable_workspace_rules",
    "agent_skills",
    "agent_transcripts",
    "mcp_file_system",
    "open_and_recently_viewed_files",
    "attached_files",
    "attached_images",
    "image_files",
    "additional_data",
    "manually_attached_skills",
    "cursor_commands",
    "terminal_files_information",
    "linter_errors",
    "edit_history",
    "recent_edits",
    "system_reminder",
    "system_notification",
    "task_notification",
    "subagent_notification",
    "todo_reminder",
    "context",
];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What was typed; empty if the message is only context.
pub(super) fn typed_text(text: &str) -> String {
    let text = strip_added_tags(text);
    // What a web page says may contain any tag.
    let text = strip_tag(&text, "external_links");
    let (open, close) = (format!("<{QUERY_TAG}>"), format!("</{QUERY_TAG}>"));
    if let Some(start) = text.find(&open).map(|at| at + open.len()) {
        // The user may write about the tag: the last one ends it.
        let end = text[start..].rfind(&close).map_or(text.len(), |at| start + at);
        return text[start..end].trim().to_owned();
    }
    let stripped = CONTEXT_TAGS.iter().fold(text.into_owned(), |text, name| strip_tag(&text, name).into_owned());
    stripped.trim().to_owned()
}

/// When a message was sent, as newer versions write it for the model: `Sunday, Aug 2, 2026, 3:51 AM (UTC-7)`.
pub(super) fn sent_at(text: &str) -> Option<Timestamp> {
    if !text.starts_with("<timestamp>") {
        return None;
    }
    let parts: Vec<&str> = tag_content(text, "timestamp")?.split(',').map(str::trim).collect();
    let [_, date, year, time] = parts[..] else { return None };
    let (month, day) = date.split_once(' ')?;
    let month = MONTHS.iter().position(|name| month.starts_with(name))? + 1;
    let mut words = time.split_whitespace();
    let (hour, minute) = words.next()?.split_once(':')?;
    let is_afternoon = words.next()?.eq_ignore_ascii_case("PM");
    let hour = hour.parse::<u32>().ok()? % 12 + if is_afternoon { 12 } else { 0 };
    let day: u32 = day.parse().ok()?;
    let zone = words.next().and_then(|zone| zone.trim_matches(['(', ')']).strip_prefix("UTC")).unwrap_or_default();
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00{}", offset(zone)?).parse().ok()
}

/// `-7` or `+5:30` as an offset from UTC.
fn offset(zone: &str) -> Option<String> {
    let sign = match zone.as_bytes() {
        [] => return Some("Z".to_owned()),
        [b'+', ..] => '+',
        [b'-', ..] => '-',
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':').unwrap_or((&zone[1..], "00"));
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(format!("{sign}{hours:02}:{minutes:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_query_is_typed() {
        let links = "<external_links>\n<user_query>old</user_query>\n</external_links>\n";
        assert_eq!(typed_text(&format!("{links}<user_query>\nnew\n</user_query>")), "new");
        assert_eq!(typed_text("<user_info>\nOS: linux\n</user_info>"), "");
        assert_eq!(typed_text("<timestamp>x</timestamp>\n<user_query>\nfix it\n</user_query>"), "fix it");
        assert_eq!(typed_text("plain words"), "plain words");
        assert_eq!(typed_text("<attached_files>x</attached_files> look"), "look");
        assert_eq!(typed_text("<user_query>why </user_query> here?</user_query>"), "why </user_query> here?");
        assert_eq!(typed_text("<system_reminder>x</system_reminder>"), "");
    }

    #[test]
    fn time_of_a_message_is_read_with_its_zone() {
        let at = |text: &str| sent_at(&format!("<timestamp>{text}</timestamp>\nx")).map(|at| at.to_string());
        let expect = Some("2026-08-02T10:51:00.000Z".to_owned());
        assert_eq!(at("Sunday, Aug 2, 2026, 3:51 AM (UTC-7)"), expect);
        assert_eq!(at("Sunday, Aug 2, 2026, 4:21 PM (UTC+5:30)"), expect);
        assert_eq!(at("Sunday, Aug 2, 2026, 12:05 AM (UTC)"), Some("2026-08-02T00:05:00.000Z".to_owned()));
        assert_eq!(at("yesterday"), None);
        assert_eq!(sent_at("what is <timestamp>x</timestamp>?"), None);
    }
}
