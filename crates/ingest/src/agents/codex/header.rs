//! What the beginning of a rollout says about its session, and about how to read its lines.

use std::io::{BufRead, BufReader};
use std::path::Path;

use rethread_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::files::indexed_name;
use super::user_text::directory_in_context;
use crate::parse::content::MessageContent;
use crate::parse::is_uuid;
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp};
use crate::source::file;

/// The question which lines have the prompts is answered by the first answer of the model, which comes before this.
const MAX_HEADER_BYTES: u64 = 64 << 20;
/// A fork's copy of its parent is written at once, in less time than this.
const MAX_COPY_MILLIS: i64 = 2000;

/// Facts about a rollout that its single lines do not show.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RolloutHeader {
    pub(super) id: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) name: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
    /// The session that started this one as its sub-agent.
    pub(super) parent: Option<String>,
    pub(super) is_child: bool,
    pub(super) forked_from: Option<String>,
    /// How many lines at the beginning are the parent's.
    pub(super) copied_lines: u64,
    pub(super) prompts: PromptSource,
}

/// Which lines have what the user typed: most versions write it twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PromptSource {
    /// The model has not answered yet.
    #[default]
    Unknown,
    /// Events, which have nothing else.
    Events,
    /// Messages to the model, among which Codex puts its own.
    Messages,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadLine<'a> {
    timestamp: LenientTimestamp,
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    /// Missing before version 0.32: the line is what later became the payload.
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadPayload<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow, rename = "timestamp")]
    started_at: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    forked_from_id: LenientText<'a>,
    #[serde(borrow)]
    parent_thread_id: LenientText<'a>,
    source: Value,
    #[serde(borrow)]
    thread_source: LenientText<'a>,
    #[serde(borrow)]
    history_mode: LenientText<'a>,
    #[serde(borrow)]
    git: LenientObject<HeadGit<'a>>,
    #[serde(borrow)]
    turn_id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
    #[serde(borrow)]
    item: LenientObject<HeadItem<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadGit<'a> {
    #[serde(borrow)]
    branch: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadItem<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
}

/// The header of a file, as JSON.
pub(super) fn of_file(path: &Path) -> Option<String> {
    let (file, _) = file::open(path).ok()?;
    let lines = BufReader::new(std::io::Read::take(file, MAX_HEADER_BYTES)).split(b'\n').map_while(Result::ok);
    Some(RolloutHeader::read(lines).with_name(path).to_json())
}

fn parse(bytes: &[u8]) -> Option<(HeadLine<'_>, HeadPayload<'_>)> {
    let line: HeadLine<'_> = serde_json::from_slice(bytes).ok()?;
    let payload = line.payload.map_or(bytes, |payload| payload.get().as_bytes());
    Some((line, serde_json::from_slice(payload).ok()?))
}

impl RolloutHeader {
    /// Reads as many lines as it takes to know everything.
    pub(super) fn read(lines: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut header = Self::default();
        let mut copy = CopiedPart::default();
        for (number, bytes) in (1..).zip(lines) {
            let Some((line, payload)) = parse(&bytes) else { continue };
            header.add(number, &line, payload, &mut copy);
            if header.prompts != PromptSource::Unknown && !copy.is_open {
                break;
            }
        }
        header
    }

    /// Adds the name that the user or the agent gave the session.
    pub(super) fn with_name(mut self, path: &Path) -> Self {
        self.name = self.id.as_deref().and_then(|id| indexed_name(path, id));
        self
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn add(&mut self, number: u64, line: &HeadLine<'_>, payload: HeadPayload<'_>, copy: &mut CopiedPart) {
        let kind = if line.payload.is_some() { line.kind.as_str() } else { "" };
        if self.prompts == PromptSource::Unknown {
            self.prompts = payload.prompt_source(kind);
        }
        let is_first_old = kind.is_empty() && number == 1 && payload.kind.as_str().is_empty();
        if kind == "session_meta" || is_first_old {
            return self.add_session(number, payload, line.timestamp.0, copy);
        }
        if self.cwd.is_none() && payload.role.as_str() == "user" {
            self.cwd = payload.content.0.iter().find_map(|block| directory_in_context(block.text.as_str()));
        }
        if copy.is_open && copy.ends_at(&payload, line.timestamp.0) {
            copy.is_open = false;
        } else if copy.is_open {
            self.copied_lines = number;
        }
    }

    /// The first line about a session is about this one. A second one comes from the session that was copied.
    fn add_session(&mut self, number: u64, payload: HeadPayload<'_>, at: Option<Timestamp>, copy: &mut CopiedPart) {
        let id = payload.id.clone().non_empty().or(payload.session_id.clone().non_empty()).map(String::from);
        if self.id.is_none() {
            self.parent = payload.parent();
            self.is_child = self.parent.is_some()
                || payload.source.get("subagent").is_some()
                || payload.thread_source.as_str() == "subagent";
            (copy.began_at, copy.session_millis) = (at, id.as_deref().and_then(uuid_millis));
            self.id = id;
            self.started_at = payload.started_at.non_empty().map(Into::into);
            self.cwd = payload.cwd.non_empty().map(Into::into);
            self.branch = payload.git.0.branch.non_empty().map(Into::into);
            self.forked_from = payload.forked_from_id.non_empty().map(Into::into);
        } else if id.is_some() && id != self.id && number <= 2 {
            self.forked_from = id;
            self.copied_lines = number;
            copy.is_open = true;
        }
    }
}

impl HeadPayload<'_> {
    /// The sub-agent's parent.
    fn parent(&self) -> Option<String> {
        let spawned = &self.source["subagent"]["thread_spawn"]["parent_thread_id"];
        let named = self.parent_thread_id.clone().non_empty().map(String::from);
        named.or_else(|| spawned.as_str().map(str::to_owned)).filter(|parent| !parent.is_empty())
    }

    fn prompt_source(&self, line_kind: &str) -> PromptSource {
        let is_model =
            !matches!(self.role.as_str(), "user" | "developer" | "system") && !self.kind.as_str().ends_with("_output");
        match (line_kind, self.kind.as_str()) {
            ("session_meta", _) if self.history_mode.as_str() == "paginated" => PromptSource::Events,
            ("event_msg", "user_message") => PromptSource::Events,
            ("event_msg", "item_completed") if self.item.0.kind.as_str() == "UserMessage" => PromptSource::Events,
            ("response_item", _) if is_model => PromptSource::Messages,
            ("", kind) if is_model && !kind.is_empty() => PromptSource::Messages,
            _ => PromptSource::Unknown,
        }
    }
}

/// Recognizes the end of what a fork copied.
#[derive(Default)]
struct CopiedPart {
    is_open: bool,
    began_at: Option<Timestamp>,
    /// When the session was created.
    session_millis: Option<i64>,
}

impl CopiedPart {
    /// Whether a line is the fork's own: its turn is younger than the session, or it was written later than the copy.
    fn ends_at(&self, payload: &HeadPayload<'_>, at: Option<Timestamp>) -> bool {
        let turn = uuid_millis(payload.turn_id.as_str());
        let is_new_turn = turn.zip(self.session_millis).is_some_and(|(turn, session)| turn >= session);
        let elapsed = at.zip(self.began_at).map(|(at, start)| at.as_millis() - start.as_millis());
        is_new_turn || elapsed.is_some_and(|elapsed| elapsed > MAX_COPY_MILLIS)
    }
}

/// The time in a UUID of version 7.
fn uuid_millis(id: &str) -> Option<i64> {
    if !is_uuid(id) || id.as_bytes()[14] != b'7' {
        return None;
    }
    i64::from_str_radix(&format!("{}{}", &id[..8], &id[9..13]), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "01a1e826-c482-70b0-992d-c6082fd76052";
    const PARENT: &str = "01a1e000-0000-7000-8000-000000000001";

    fn read(lines: &[&str]) -> RolloutHeader {
        RolloutHeader::read(lines.iter().map(|line| line.as_bytes().to_vec()))
    }

    fn meta(id: &str, more: &str) -> String {
        format!(
            r#"{{"timestamp":"2026-11-17T06:16:57.000Z","type":"session_meta","payload":{{"id":"{id}","cwd":"/app","git":{{"branch":"main"}}{more}}}}}"#
        )
    }

    fn event(millis: u32, payload: &str) -> String {
        format!(r#"{{"timestamp":"2026-11-17T06:16:57.{millis:03}Z","type":"event_msg","payload":{payload}}}"#)
    }

    #[test]
    fn prompts_are_events_if_there_are_any_before_the_first_answer() {
        let message = |role: &str| {
            format!(
                r#"{{"timestamp":"2026-11-17T06:16:58.000Z","type":"response_item","payload":{{"type":"message","role":"{role}","content":[]}}}}"#
            )
        };
        let prompt = event(2, r#"{"type":"user_message","message":"x"}"#);
        let source = |lines: &[&str]| read(lines).prompts;
        let start = meta(OWN, "");
        assert_eq!(source(&[&start, &message("user")]), PromptSource::Unknown);
        assert_eq!(source(&[&start, &message("user"), &prompt]), PromptSource::Events);
        assert_eq!(source(&[&start, &message("user"), &message("assistant"), &prompt]), PromptSource::Messages);
        assert_eq!(source(&[&meta(OWN, r#","history_mode":"paginated""#)]), PromptSource::Events);
        let old = r#"{"id":"a","timestamp":"2025-08-01T10:00:00.000Z","instructions":null,"git":{"branch":"dev"}}"#;
        let text = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/old</cwd>\n</environment_context>"}]}"#;
        let answer = r#"{"type":"reasoning","summary":[]}"#;
        let header = read(&[old, text, answer]);
        assert_eq!((header.prompts, header.cwd.as_deref()), (PromptSource::Messages, Some("/old")));
        assert_eq!((header.id.as_deref(), header.branch.as_deref()), (Some("a"), Some("dev")));
    }

    #[test]
    fn a_fork_ends_its_copy_with_its_first_own_turn() {
        let old_turn = event(1, r#"{"type":"task_started","turn_id":"01a1e000-0000-7000-8000-00000000000a"}"#);
        let prompt = event(2, r#"{"type":"user_message","message":"copied"}"#);
        let own_turn = event(3, r#"{"type":"task_started","turn_id":"01a1e826-c49f-7d61-9038-54d7beb16bea"}"#);
        let lines = [meta(OWN, ""), meta(PARENT, ""), old_turn.clone(), prompt.clone(), own_turn, prompt.clone()];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let header = read(&lines);
        assert_eq!((header.forked_from.as_deref(), header.copied_lines), (Some(PARENT), 4));
        assert_eq!(header.id.as_deref(), Some(OWN), "the first line is the session's own");
        let later = prompt.replace("06:16:57", "06:17:30");
        let lines = [meta(OWN, ""), meta(PARENT, ""), prompt, later];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(read(&lines).copied_lines, 3);
    }

    #[test]
    fn repeated_lines_about_the_session_are_not_a_fork() {
        let header = read(&[&meta(OWN, ""), &meta(OWN, ""), &event(2, r#"{"type":"user_message"}"#)]);
        assert_eq!((header.forked_from, header.copied_lines), (None, 0));
    }

    #[test]
    fn a_sub_agent_names_its_parent() {
        let spawned = format!(r#","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{PARENT}"}}}}}}"#);
        let header = read(&[&meta(OWN, &spawned)]);
        assert_eq!((header.parent.as_deref(), header.is_child), (Some(PARENT), true));
        assert!(read(&[&meta(OWN, r#","source":{"subagent":"review"}"#)]).is_child);
        assert!(!read(&[&meta(OWN, r#","source":"cli""#)]).is_child);
    }
}
