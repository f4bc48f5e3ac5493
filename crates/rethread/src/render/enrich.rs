//! What a model added to facts, as people read it.

use rethread_engine::{
    EnrichFailure, EnrichOutcome, EnrichPlan, EnrichReport, EnrichmentEstimate, EnrichmentStatus, WorkKind,
};
use rethread_model::{Session, Timestamp};

use super::card::cost;
use super::words::{age, count, number};
use super::{Page, SHORT_ID, Side, Tone, single};

/// Columns of what stands before the numbers of a session.
const INDENT: usize = SHORT_ID + 2;
/// The width of the longest type of session.
const TYPE: usize = "implementation".len();

/// One session after the other: what was added, and what it took.
pub(crate) fn enriched(page: &mut Page, report: &EnrichReport, now: Timestamp) {
    for told in &report.sessions {
        heading(page, &told.session, now);
        let news = if told.added > 0 { Tone::Good } else { Tone::Plain };
        let parts = [
            (news, format!("{} added", count(told.added, "fact"))),
            (Tone::Plain, format!("{} dropped", number(told.dropped))),
            (Tone::Plain, count(told.tokens, "token")),
            (Tone::Plain, cost(told.cost)),
        ];
        page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts, INDENT);
        match &told.outcome {
            EnrichOutcome::Done => {}
            EnrichOutcome::Waits { until, reason } => {
                trouble(page, &format!("{}; it waits until {until}", single(reason)));
            }
            EnrichOutcome::Failed { reason } => trouble(page, &format!("{}; it is given up", single(reason))),
        }
    }
    if report.waiting > 0 {
        page.line(Tone::Dim, &format!("{} still waiting", count(report.waiting, "session")));
    }
}

/// Sessions that wait, what they may cost, and what keeps them waiting.
pub(crate) fn would_enrich(page: &mut Page, plan: &EnrichPlan, now: Timestamp) {
    for planned in &plan.sessions {
        heading(page, &planned.session, now);
        let sum = &planned.planned;
        let parts = [
            (Tone::Plain, count(planned.requests, "request")),
            (Tone::Plain, format!("about {} tokens read", number(sum.input_tokens))),
            (Tone::Plain, format!("at most {} written", number(sum.output_tokens))),
            (Tone::Plain, format!("at most {}", cost(sum.cost))),
        ];
        page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts, INDENT);
        if let Some(reason) = planned.reason.as_deref().filter(|_| planned.next_at > now) {
            trouble(page, &format!("{}; it waits until {}", single(reason), planned.next_at));
        }
    }
    let tokens = plan.sessions.iter().map(|one| one.planned.input_tokens + one.planned.output_tokens).sum();
    let waiting = count(plan.sessions.len() as u64, "session");
    page.line(Tone::Strong, &format!("{waiting} for {}, at most {}", single(&plan.model), count(tokens, "token")));
    if let Some(until) = plan.held_until {
        trouble(page, &format!("the model failed too often in a row; it is not asked before {until}"));
    }
    if let Some(why) = &plan.refused {
        trouble(page, &format!("nothing would be asked: {}", single(why)));
    }
}

/// Sessions that are not tried any more.
pub(crate) fn not_enriched(page: &mut Page, failures: &[EnrichFailure], now: Timestamp) {
    for failure in failures {
        heading(page, &failure.session, now);
        let tries = if failure.tries == 1 { "1 try".to_owned() } else { format!("{} tries", number(failure.tries)) };
        let when = age(Some(failure.failed_at), now);
        page.add(Tone::Plain, &" ".repeat(INDENT)).line(Tone::Plain, &format!("given up {when} after {tries}"));
        trouble(page, &single(&failure.reason));
    }
}

/// What adding facts would cost, by type of session.
pub(crate) fn estimates(page: &mut Page, estimates: &[EnrichmentEstimate]) {
    if estimates.is_empty() {
        return;
    }
    page.end();
    page.line(Tone::Strong, "If the model added facts to these sessions (facts.model), about:");
    for estimate in estimates {
        page.cell(Tone::Plain, estimate.kind.map_or("type unknown", WorkKind::as_str), TYPE, Side::Left);
        let (sessions, tokens) = (count(estimate.sessions, "session"), count(estimate.tokens, "token"));
        page.line(Tone::Plain, &format!("  {sessions} · {tokens} · {}", cost(estimate.cost)));
    }
    if estimates.iter().any(|estimate| estimate.kind.is_none()) {
        page.line(Tone::Dim, "A type is known once a session was read; until then it counts like all others together.");
    }
}

/// How it stands with the model, in one line; nothing where it is off and nobody waits.
pub(crate) fn enrichment(status: &EnrichmentStatus) -> Option<String> {
    if status.level == 2 && status.waiting + status.failed == 0 {
        return None;
    }
    let how = match status.level {
        0 => "added by the model too",
        1 => "the model cannot be reached",
        _ => "by rules only",
    };
    let (waiting, failed) = (count(status.waiting, "session"), number(status.failed));
    Some(format!("{how}; {waiting} waiting, {} tried before, {failed} given up", number(status.retrying)))
}

fn heading(page: &mut Page, session: &Session, now: Timestamp) {
    let id: String = session.id.to_string().chars().take(SHORT_ID).collect();
    let name = session.name.as_deref().map_or_else(|| "(no name)".to_owned(), single);
    page.cell(Tone::Dim, &id, INDENT, Side::Left).add(Tone::Strong, &name);
    page.line(Tone::Dim, &format!(" · {} · {}", session.agent, age(session.last_activity_at, now)));
}

fn trouble(page: &mut Page, text: &str) {
    page.add(Tone::Plain, &" ".repeat(INDENT)).line(Tone::Careful, text);
}
