//! The sessions with the highest cost, the most messages or the longest duration in the chosen period.

use maud::{Markup, html};
use rethread_engine::{SessionRank, UsageDetails};

use super::super::components::{cost, headings, non_blank, session_link, tabs};
use super::UsagePageParams;
use crate::render::{duration, number, short_number};
use crate::serve::ApiError;

/// The orders, as they are in a URL; the first is the default.
const RANKS: [(&str, SessionRank); 3] =
    [("cost", SessionRank::Cost), ("messages", SessionRank::Messages), ("duration", SessionRank::Duration)];

/// The chosen order.
pub(super) fn rank(params: &UsagePageParams) -> Result<SessionRank, ApiError> {
    let Some(text) = non_blank(params.top.as_ref()) else { return Ok(SessionRank::default()) };
    let found = RANKS.iter().find(|(name, _)| *name == text);
    found.map(|(_, rank)| *rank).ok_or_else(|| ApiError::bad_request(format!("unknown order {text:?}")))
}

pub(super) fn top(params: &UsagePageParams, details: &UsageDetails) -> Result<Markup, ApiError> {
    let chosen = rank(params)?;
    let tab = |(name, rank): (&str, SessionRank)| {
        let address = params.link("/usage", (rank != SessionRank::default()).then_some(name));
        (format!("{address}#top"), html! { (name) }, rank == chosen)
    };
    Ok(html! {
        section.top-list id="top" {
            div.head { h2 { "Top sessions" } (tabs("Top sessions by", &RANKS.map(tab))) }
            table.plain-table.top-sessions {
                (headings(&["Session", "Messages", "Duration", "Tokens", "Cost"]))
                tbody {
                    @for one in &details.top_sessions {
                        tr data-item {
                            th scope="row" { (session_link(&one.session)) }
                            td { (number(one.totals.messages)) }
                            td { @if let Some(time) = one.duration() { (duration(time)) } @else { "–" } }
                            td { (short_number(one.totals.tokens.total())) }
                            td { @if one.totals.cost().is_some() { (cost(&one.totals)) } @else { "–" } }
                        }
                    }
                }
            }
        }
    })
}
