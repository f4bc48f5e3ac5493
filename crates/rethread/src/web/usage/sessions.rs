//! The sessions with the highest cost in the chosen period.

use maud::{Markup, html};
use rethread_engine::UsageDetails;

use super::super::components::{headings, session_link};
use crate::render::{number, rough_cost, short_number};

pub(super) fn top(details: &UsageDetails) -> Markup {
    html! {
        section {
            h2 { "Most expensive sessions" }
            table.plain-table.top-sessions {
                (headings(&["Session", "Messages", "Tokens", "Cost"]))
                tbody {
                    @for one in &details.top_sessions {
                        tr data-item {
                            th scope="row" { (session_link(&one.session)) }
                            td { (number(one.totals.messages)) }
                            td { (short_number(one.totals.tokens.total())) }
                            td { (rough_cost(&one.totals)) }
                        }
                    }
                }
            }
        }
    }
}
