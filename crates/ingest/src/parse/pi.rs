//! Lines of pi transcripts, versions 1 to 3 and the entries of version 4.

use rethread_model::{INJECTION_TAG, Place, Speech, Timestamp, Tokens, clip, one_line};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::{Content, Measured};
use super::loose::{Flag, Number, Object, Text};
use super::out::Out;
use super::outcome::outcome;
use super::tool::kind_of;
use super::{Event, Header, Scribe, TitleRank, What, human, id_by_content};

/// Texts of extensions are kept as one short line.
const ASIDE_CHARS: usize = 300;
/// Names under which our own extension writes; its messages are never read back.
const OUR_CUSTOM_TYPES: [&str; 2] = ["session-update", INJECTION_TAG];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    /// Version 4 says what a line is here and wraps the entry.
    #[serde(rename = "kind", borrow)]
    wrapper: Text<'a>,
    #[serde(borrow)]
    entry: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    parent_id: Text<'a>,
    timestamp: Moment,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow, alias = "branchedFrom", alias = "legacyParentSessionPath")]
    parent_session: Text<'a>,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    custom_type: Text<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    target_id: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are those of the wire")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    /// Undecoded until the role is known: a tool's result is only measured.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Text<'a>,
    usage: Option<Object<Usage>>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
    #[serde(borrow)]
    error_message: Text<'a>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    tool_name: Text<'a>,
    is_error: Flag,
    #[serde(borrow)]
    command: Text<'a>,
    exit_code: Number,
    #[serde(borrow)]
    custom_type: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    input: Number,
    output: Number,
    cache_read: Number,
    cache_write: Number,
    cost: Object<Cost>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: Number,
}

/// A time as text or, in version 4, as milliseconds.
#[derive(Default, Clone, Copy)]
pub(super) struct Moment(pub(super) Option<Timestamp>);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &RawValue = Deserialize::deserialize(deserializer)?;
        let text = raw.get().trim_matches('"');
        let millis = || text.parse::<f64>().ok().map(|millis| Timestamp::from_millis(millis as i64));
        Ok(Self(text.parse().ok().or_else(millis)))
    }
}

/// All events of one line.
pub(super) fn events(text: &str, place: Place, scribe: &mut Scribe<'_>) -> Result<Vec<Event>, serde_json::Error> {
    let mut line: Line<'_> = serde_json::from_str(text)?;
    if let ("entry", Some(entry)) = (line.wrapper.as_str(), line.entry) {
        line = serde_json::from_str(entry.get())?;
    }
    let header = line.kind.as_str() == "session" || line.wrapper.as_str() == "header";
    let own_id = line.id.0.take().map(String::from);
    let native_id = own_id.clone().unwrap_or_else(|| id_by_content(text));
    let mut out = Out::new(place, line.timestamp.0, native_id);
    if header {
        out.push(What::Header(Header {
            external_id: own_id.unwrap_or_default(),
            cwd: line.cwd.filled().map(Into::into),
            parent: line.parent_session.filled().map(Into::into),
        }));
        return Ok(out.events);
    }
    if line.kind.as_str() == "leaf" {
        let target = line.target_id.into_string();
        // With an id of its own it may be what the next entry follows.
        out.push(match own_id {
            Some(id) => What::Node { id, parent: Some(target) },
            None => What::Leaf { target },
        });
        return Ok(out.events);
    }
    if let Some(id) = own_id {
        let parent = line.parent_id.0.take().map(String::from).filter(|parent| *parent != id);
        out.push(What::Node { id, parent });
    }
    match line.kind.as_str() {
        "message" => message(line.message.0, &mut out, scribe),
        "compaction" | "branch_summary" => out.text(Speech::Summary, line.summary.into_string(), None, scribe),
        "custom_message" => custom(&line.custom_type, &line.content, &mut out, scribe),
        "session_info" => out.title(TitleRank::Custom, line.name, None, scribe),
        // Model changes, labels, extension state and types yet to be invented are only nodes of the tree.
        _ => {}
    }
    Ok(out.events)
}

pub(super) fn message(message: Message<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    match message.role.as_str() {
        "user" => user(&read(message.content), out, scribe),
        "assistant" => assistant(message, out, scribe),
        "toolResult" => result(message, out, scribe),
        "bashExecution" => {
            let code =
                message.exit_code.0.filter(|code| *code != 0.0).map_or(String::new(), |code| format!(" (exit {code})"));
            out.text(Speech::Shell, format!("! {}{code}", message.command.as_str()), None, scribe);
        }
        "custom" | "hookMessage" => custom(&message.custom_type, &read(message.content), out, scribe),
        "branchSummary" | "compactionSummary" => out.text(Speech::Summary, message.summary.into_string(), None, scribe),
        _ => {}
    }
}

fn user(content: &Content<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let texts: Vec<_> = content.0.iter().map(|block| human::without_added_parts(block.text.as_str())).collect();
    let text = texts.join("\n");
    let text = text.trim_matches('\n');
    if !text.trim().is_empty() {
        out.text(Speech::Prompt, text.to_owned(), None, scribe);
    } else if content.0.iter().any(|block| block.kind.as_str() == "image") {
        out.text(Speech::Prompt, "[image]".to_owned(), None, scribe);
    }
}

fn assistant(message: Message<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let id = out.native_id.clone();
    if let Some(Object(usage)) = message.usage {
        out.push(What::Usage {
            message: id.clone(),
            tokens: Tokens {
                input: usage.input.count(),
                output: usage.output.count(),
                cache_read: usage.cache_read.count(),
                cache_write: usage.cache_write.count(),
            },
            model: message.model.filled().map(Into::into),
            cost_usd: usage.cost.0.total.0.filter(|cost| *cost > 0.0),
        });
    }
    for block in read::<Content<'_>>(message.content).0 {
        match block.kind.as_str() {
            "text" => out.text(Speech::Said, block.text.into_string(), Some(&id), scribe),
            "toolCall" => out.call(block, &id, scribe),
            "thinking" => out.reasoning(&block, scribe),
            _ => {}
        }
    }
    match message.stop_reason.as_str() {
        "error" => {
            let text =
                message.error_message.filled().map_or_else(|| "the model's answer failed".to_owned(), Into::into);
            out.text(Speech::Failure, text, None, scribe);
        }
        "aborted" => out.text(Speech::Interruption, "[interrupted by user]".to_owned(), None, scribe),
        _ => {}
    }
}

fn result(message: Message<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let name = message.tool_name.as_str();
    let measured: Measured = read(message.content);
    let asked = name.to_ascii_lowercase().contains("ask_user") && !message.is_error.0;
    let answer = asked.then(|| scribe.clean(measured.head.clone()));
    let outcome = outcome(measured, message.is_error.0, Some(kind_of(name)), scribe);
    out.push(What::Result { call: message.tool_call_id.into_string(), outcome, answer });
}

/// A value that accepts anything, read from its undecoded form.
fn read<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn custom(custom_type: &Text<'_>, content: &Content<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    if OUR_CUSTOM_TYPES.contains(&custom_type.as_str()) {
        return;
    }
    let texts: Vec<_> = content.0.iter().map(|block| human::without_added_parts(block.text.as_str())).collect();
    let text = scribe.clean(one_line(&texts.join(" ")));
    if !text.is_empty() {
        let text = format!("[{}] {text}", custom_type.as_str());
        out.text(Speech::Injected, clip(&text, ASIDE_CHARS).into_owned(), None, scribe);
    }
}
