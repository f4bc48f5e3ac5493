//! Text output of `rethread admin`: one line per space, member, token or event.

use jiff::tz::TimeZone;
use rethread_engine::{AuditRow, MemberRow, SpaceRow, TokenRow};
use rethread_model::{MemberName, Timestamp};

use super::format::{bytes, count, local_time, number};
use super::{CellAlign, TextPage, Tone, sanitize_line};

/// Width of a local time and the gap after it.
const TIME_WIDTH: usize = 18;

/// Renders spaces: name, time of creation, retention.
pub(crate) fn spaces(page: &mut TextPage, spaces: &[SpaceRow], zone: &TimeZone) {
    let width = name_width(spaces.iter().map(|row| row.space.as_str()));
    for row in spaces {
        page.cell(Tone::Strong, row.space.as_str(), width, CellAlign::Left);
        page.cell(Tone::Dim, &local_time(Some(row.created_at), zone), TIME_WIDTH, CellAlign::Left);
        let kept = row.retention_days.map_or_else(
            || "keeps all sessions".to_owned(),
            |days| format!("keeps sessions for {}", count(days, "day")),
        );
        page.line(Tone::Plain, &kept);
    }
}

/// Renders members: name, role, since when or until when, limits.
pub(crate) fn members(page: &mut TextPage, members: &[MemberRow], zone: &TimeZone) {
    let width = name_width(members.iter().map(|row| row.name.as_str()));
    for row in members {
        let tone = if row.revoked_at.is_some() { Tone::Dim } else { Tone::Strong };
        page.cell(tone, row.name.as_str(), width, CellAlign::Left);
        page.cell(Tone::Plain, row.role.as_str(), 9, CellAlign::Left);
        page.cell(Tone::Dim, &local_time(Some(row.created_at), zone), TIME_WIDTH, CellAlign::Left);
        page.line(Tone::Plain, &member_notes(row, zone).join(" · "));
    }
}

fn member_notes(row: &MemberRow, zone: &TimeZone) -> Vec<String> {
    let limits = row.limits;
    let notes = [
        row.revoked_at.map(|at| format!("revoked {}", local_time(Some(at), zone))),
        limits.requests_per_minute.map(|limit| format!("{} per minute", count(limit, "request"))),
        limits.max_body_bytes.map(|limit| format!("{} per request", bytes(limit))),
        limits.max_bytes_per_day.map(|limit| format!("{} per day", bytes(limit))),
    ];
    notes.into_iter().flatten().collect()
}

/// Renders tokens: id, member, scope, state.
pub(crate) fn tokens(page: &mut TextPage, tokens: &[TokenRow], now: Timestamp, zone: &TimeZone) {
    let width = name_width(tokens.iter().map(|row| row.member.as_str()));
    for row in tokens {
        let tone = if row.is_valid(now) { Tone::Strong } else { Tone::Dim };
        page.cell(tone, &row.id, 14, CellAlign::Left).cell(Tone::Plain, row.member.as_str(), width, CellAlign::Left);
        page.cell(Tone::Plain, &row.scope.to_string(), 18, CellAlign::Left);
        let last_use = row.last_used_at.map(|at| format!("last used {}", local_time(Some(at), zone)));
        let last_use = last_use.unwrap_or_else(|| "never used".to_owned());
        page.line(Tone::Plain, &format!("{} · {last_use}", token_state(row, now, zone)));
    }
}

fn token_state(row: &TokenRow, now: Timestamp, zone: &TimeZone) -> String {
    match (row.revoked_at, row.expires_at) {
        (Some(at), _) => format!("revoked {}", local_time(Some(at), zone)),
        (None, Some(at)) if at <= now => format!("expired {}", local_time(Some(at), zone)),
        (None, Some(at)) => format!("expires {}", local_time(Some(at), zone)),
        (None, None) => "does not expire".to_owned(),
    }
}

/// Renders events: number, time, member, access, target, items, status.
pub(crate) fn audit(page: &mut TextPage, rows: &[AuditRow], zone: &TimeZone) {
    let member = |row: &AuditRow| row.event.member.as_ref().map_or("-", MemberName::as_str).to_owned();
    let names: Vec<String> = rows.iter().map(member).collect();
    let width = name_width(names.iter().map(String::as_str));
    for (row, name) in rows.iter().zip(&names) {
        let event = &row.event;
        page.cell(Tone::Dim, &number(row.number), 8, CellAlign::Right).add(Tone::Plain, "  ");
        page.cell(Tone::Dim, &local_time(Some(event.at), zone), TIME_WIDTH, CellAlign::Left);
        page.cell(Tone::Strong, name, width, CellAlign::Left);
        page.cell(Tone::Plain, event.access.as_str(), 7, CellAlign::Left);
        let target = sanitize_line(&event.target);
        page.line(Tone::Plain, &format!("{target} · {} · {}", count(event.items, "item"), event.status));
    }
}

fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0) + 2
}
