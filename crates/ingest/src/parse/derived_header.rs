//! A header that we make of the files beside a transcript: what they say about the session as a whole.

use rethread_model::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event_builder::EventBuilder;
use super::lenient::{LenientNumber, LenientText, LenientTimestamp};
use super::{EventBody, ParseContext, SessionHeader, TitleRank, TranscriptEvent};

/// What the files say. The names of the fields are those that `TranscriptHead::usual_fields` reads.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct DerivedHeader {
    /// The agent's id of the session.
    pub(crate) session_id: Option<String>,
    /// The session that started this one as its sub-agent.
    pub(crate) parent_session_id: Option<String>,
    /// The session that this one continues or was forked from.
    pub(crate) forked_from: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) branch: Option<String>,
    /// A title that the user wrote.
    pub(crate) title: Option<String>,
    /// A title that the agent made.
    pub(crate) generated_title: Option<String>,
    pub(crate) model: Option<String>,
    /// When the session began, in any form that `LenientTimestamp` reads.
    pub(crate) timestamp: Value,
    pub(crate) usage: Vec<DerivedUsage>,
}

/// Tokens and cost of a message, or of the whole session under a made-up id.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct DerivedUsage {
    pub(crate) message_id: String,
    pub(crate) model: Option<String>,
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: Option<f64>,
}

impl DerivedHeader {
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The events of a header that was made by `to_json`.
    pub(crate) fn events(
        text: &str,
        context: &mut ParseContext<'_>,
    ) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
        let header: Self = serde_json::from_str(text)?;
        let at = LenientTimestamp::from_value(&header.timestamp).0;
        let mut out = EventBuilder::new(context.location, at, "header".to_owned());
        out.push(EventBody::Header(SessionHeader {
            external_id: header.session_id.unwrap_or_default(),
            cwd: header.cwd,
            parent_id: header.forked_from,
            parent_path: None,
        }));
        if header.branch.is_some() {
            out.push(EventBody::Workspace { cwd: None, branch: header.branch });
        }
        let titles = [(TitleRank::Custom, header.title), (TitleRank::Generated, header.generated_title)];
        for (rank, title) in titles {
            if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
                out.add_title(rank, LenientText(Some(title.into())), None, &mut context.sink);
            }
        }
        let model = header.model.map(|model| DerivedUsage {
            message_id: "model".to_owned(),
            model: Some(model),
            ..DerivedUsage::default()
        });
        for usage in header.usage.into_iter().chain(model) {
            out.push(EventBody::Usage {
                message_id: usage.message_id,
                tokens: usage.tokens,
                hour_write_tokens: 0,
                model: usage.model,
                cost_usd: usage.cost_usd.filter(|cost| *cost > 0.0),
            });
        }
        Ok(out.events)
    }
}

/// A text in a file beside a transcript; `None` if it is missing, empty or something else.
pub(crate) fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A number in a file beside a transcript; 0 if it is missing, negative or something else.
pub(crate) fn count_at(value: &Value, pointer: &str) -> u64 {
    LenientNumber(value.pointer(pointer).and_then(Value::as_f64)).count()
}
