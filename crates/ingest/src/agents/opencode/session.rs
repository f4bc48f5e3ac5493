//! What is stored about an OpenCode session as a whole: directory, title, the session that started it.

use serde::Deserialize;

use crate::parse::ParseContext;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::LenientText;
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

/// Names of the fields that `TranscriptHead::usual_fields` knows, as the queries and loaders write them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OpenCodeHeader<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    parent_session_id: LenientText<'a>,
    #[serde(borrow)]
    forked_from: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
}

/// The events of a header.
pub(super) fn add_header(
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let header: OpenCodeHeader<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, None, "header".to_owned());
    out.push(EventBody::Header(SessionHeader {
        external_id: header.session_id.into_string(),
        cwd: header.cwd.non_empty().map(Into::into),
        parent_id: header.forked_from.non_empty().map(Into::into),
        parent_path: None,
    }));
    if !is_default_title(header.title.as_str()) {
        out.add_title(TitleRank::Generated, header.title, None, &mut context.sink);
    }
    Ok(out.events)
}

/// Whether the model of another session wrote the prompts of this one.
pub(super) fn is_subagent(context: &ParseContext<'_>) -> bool {
    let header: OpenCodeHeader<'_> =
        context.header().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    header.parent_session_id.non_empty().is_some()
}

/// The title until a model wrote one: `New session - 2026-01-05T10:00:00.000Z`.
fn is_default_title(title: &str) -> bool {
    let time = ["New session - ", "Child session - "].into_iter().find_map(|start| title.strip_prefix(start));
    time.is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
}
