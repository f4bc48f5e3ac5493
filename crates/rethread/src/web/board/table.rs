//! All sessions in one table, by day or sorted by a column.

use jiff::ToSpan;
use jiff::civil::Date;
use maud::{Markup, html};
use rethread_engine::{Board, BoardColumn, BoardOrder, BoardSession};
use rethread_model::{SessionKind, Timestamp};

use super::super::components::{self, OneLine, PageContext, count};
use super::super::edit::{pin_button, tag_list};
use super::super::links::{link, to_session};
use super::outcome::outcome;
use super::{BoardParams, SESSIONS_PER_PAGE, sort};
use crate::render::{number, session_label};

/// Class and name of each column after that of the pins.
const COLUMNS: [(&str, &str); 8] = [
    ("name", "Session"),
    ("outcome", "Outcome"),
    ("project", "Project"),
    ("agent", "Agent"),
    ("cost", "Cost"),
    ("failures", "Failures"),
    ("files", "Files"),
    ("time", "Last activity"),
];

/// The table. Pinned sessions come first, in a group of their own, unless a column sorts it.
pub(super) fn table(context: PageContext<'_>, params: &BoardParams, board: &Board, may_write: bool) -> Markup {
    let order = sort::of(params);
    let has_pinned_group = order == BoardOrder::default();
    let today = context.date(Some(context.now));
    let group = |one: &BoardSession| {
        let day = context.date(one.listed.session.last_activity_at);
        match order.column {
            BoardColumn::Activity if one.is_pinned && has_pinned_group => SessionGroup::Pinned,
            BoardColumn::Activity => SessionGroup::Day(day),
            _ => SessionGroup::All,
        }
    };
    html! {
        table.sessions id="sessions" tabindex="-1" {
            caption.sr { "Sessions" }
            thead {
                tr {
                    th.pin scope="col" { span.sr { "Pinned" } }
                    @for (class, name) in COLUMNS { (sort::heading(params, class, name)) }
                }
            }
            @for of_day in board.sessions.chunk_by(|one, next| group(one) == group(next)) {
                tbody id=(group(&of_day[0]).id()) {
                    @if let Some(title) = group(&of_day[0]).title(today) {
                        tr.day { th scope="rowgroup" colspan=(COLUMNS.len() + 1) { (title) } }
                    }
                    @for one in of_day { (row(context, one, group(one), may_write)) }
                }
            }
        }
    }
}

/// What the rows of a group have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionGroup {
    Pinned,
    Day(Option<Date>),
    /// The table is sorted by something else than time.
    All,
}

impl SessionGroup {
    fn id(self) -> String {
        match self {
            Self::Pinned => "pinned".to_owned(),
            Self::Day(None) => "day-unknown".to_owned(),
            Self::Day(Some(day)) => format!("day-{day}"),
            Self::All => "all-days".to_owned(),
        }
    }

    fn title(self, today: Option<Date>) -> Option<String> {
        Some(match self {
            Self::All => return None,
            Self::Pinned => "Pinned".to_owned(),
            Self::Day(None) => "Without a time".to_owned(),
            Self::Day(day) if day == today => "Today".to_owned(),
            Self::Day(Some(day)) if day.checked_add(1.day()).ok() == today => "Yesterday".to_owned(),
            Self::Day(Some(day)) => day.strftime("%A, %-d %B %Y").to_string(),
        })
    }
}

fn row(context: PageContext<'_>, one: &BoardSession, group: SessionGroup, may_write: bool) -> Markup {
    let session = &one.listed.session;
    let (counts, place) = (session.counts, session.project.as_deref().or(session.cwd.as_deref()));
    let name = session_label(session);
    html! {
        tr id={ "s-" (session.id) } data-item {
            td.pin { (pin_button(session.id, &name, one.is_pinned, may_write)) }
            th.name scope="row" {
                a href=(to_session(session.id)) { (OneLine(&name)) }
                @if session.kind == SessionKind::Main && one.parent.is_some() { " " span.badge { "fork" } }
                (tag_list(session.id, &one.tags, None))
                span.sub { (outcome(one)) span { (components::project(place)) } span { (session.agent.as_str()) } (context.ago(session.last_activity_at)) }
            }
            td.outcome { (outcome(one)) }
            td.project { @if let Some(place) = place { a href=(link("/", &[("project", Some(place))])) { (components::project(Some(place))) } } @else { span.dim { "none" } } }
            td.agent { (session.agent.as_str()) }
            td.cost { @if one.usage.cost().is_some() { (components::cost(&one.usage)) } @else { span.dim title="unknown cost" { "–" } } }
            td.failures { @if counts.tool_errors > 0 { span.bad { (number(counts.tool_errors)) } } @else { span.dim { "0" } } }
            td.files { @if counts.files_edited > 0 { (number(counts.files_edited)) } @else { span.dim { "0" } } }
            td.time { @if let SessionGroup::Day(_) = group { (last_activity(context, session.last_activity_at)) } @else { (context.ago(session.last_activity_at)) } }
        }
    }
}

/// The time of day, because the date is above; within a day, the age.
fn last_activity(context: PageContext<'_>, at: Option<Timestamp>) -> Markup {
    let is_recent = at.is_some_and(|at| context.now.millis_since(at) < 24 * 3_600_000);
    if is_recent { context.ago(at) } else { context.time_of_day(at) }
}

/// Links to the previous and the next page.
pub(super) fn pager(params: &BoardParams, board: &Board) -> Markup {
    let (from, until, all) = (params.from, params.from + board.sessions.len(), board.matching);
    let page = |from: usize| {
        let from = (from > 0).then(|| from.to_string());
        params.link(&[("from", from.as_deref())])
    };
    html! {
        @if from > 0 || until < all {
            nav.around aria-label="More" {
                @if from > 0 { a.plain href=(page(from.saturating_sub(SESSIONS_PER_PAGE))) rel="prev" { "Newer" } }
                span.dim { (number((from as u64).saturating_add(1))) "–" (number(until as u64)) " of " (count(all as u64, "session")) }
                @if until < all {
                    a.plain href=(page(until)) rel="next" { "Show " (number(SESSIONS_PER_PAGE.min(all - until) as u64)) " more" }
                }
            }
        }
    }
}
