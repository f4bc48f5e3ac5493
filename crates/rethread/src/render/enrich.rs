//! Text output of `rethread enrich`: facts that a model adds to those extracted by rules.

use rethread_engine::{
    EnrichFailure, EnrichOutcome, EnrichPlan, EnrichReport, EnrichmentEstimate, EnrichmentStatus, SessionType,
};
use rethread_model::{Session, Timestamp};

use super::card::cost;
use super::format::{age, count, number};
use super::{CellAlign, TextPage, Tone, sanitize_line};

/// Columns before the details of a session.
const INDENT: usize = 10;
/// Width of the longest session type.
const TYPE_WIDTH: usize = "implementation".len();

/// Renders what was added to each session, and the cost.
pub(crate) fn enrichment_report(page: &mut TextPage, report: &EnrichReport, now: Timestamp) {
    for one in &report.sessions {
        heading(page, &one.session, now);
        let tone = if one.added > 0 { Tone::Success } else { Tone::Plain };
        let parts = [
            (tone, format!("{} added", count(one.added, "fact"))),
            (Tone::Plain, format!("{} dropped", number(one.dropped))),
            (Tone::Plain, count(one.tokens, "token")),
            (Tone::Plain, cost(one.cost)),
        ];
        page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts, INDENT);
        match &one.outcome {
            EnrichOutcome::Done => {}
            EnrichOutcome::Retry { until, reason } => {
                problem_line(page, &format!("{}; retry at {until}", sanitize_line(reason)));
            }
            EnrichOutcome::GivenUp { reason } => problem_line(page, &format!("{}; not retried", sanitize_line(reason))),
        }
    }
    if report.queued > 0 {
        page.line(Tone::Dim, &format!("{} still waiting", count(report.queued, "session")));
    }
}

/// Renders the waiting sessions, their maximum cost, and why they wait.
pub(crate) fn enrichment_plan(page: &mut TextPage, plan: &EnrichPlan, now: Timestamp) {
    for planned in &plan.sessions {
        heading(page, &planned.session, now);
        let sum = &planned.planned;
        let parts = [
            (Tone::Plain, count(planned.requests, "request")),
            (Tone::Plain, format!("about {} input tokens", number(sum.input_tokens))),
            (Tone::Plain, format!("at most {} output tokens", number(sum.output_tokens))),
            (Tone::Plain, format!("at most {}", cost(sum.cost))),
        ];
        page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts, INDENT);
        if let Some(reason) = planned.reason.as_deref().filter(|_| planned.next_at > now) {
            problem_line(page, &format!("{}; retry at {}", sanitize_line(reason), planned.next_at));
        }
    }
    let tokens = plan.sessions.iter().map(|one| one.planned.input_tokens + one.planned.output_tokens).sum();
    let waiting = count(plan.sessions.len() as u64, "session");
    page.line(
        Tone::Strong,
        &format!("{waiting} for {}, at most {}", sanitize_line(&plan.model), count(tokens, "token")),
    );
    if let Some(until) = plan.paused_until {
        problem_line(page, &format!("too many requests failed in a row; no requests before {until}"));
    }
    if let Some(why) = &plan.refusal_reason {
        problem_line(page, &format!("no request would be sent: {}", sanitize_line(why)));
    }
}

/// Renders the sessions that are not retried.
pub(crate) fn enrichment_failures(page: &mut TextPage, failures: &[EnrichFailure], now: Timestamp) {
    for failure in failures {
        heading(page, &failure.session, now);
        let tries = if failure.attempts == 1 {
            "1 attempt".to_owned()
        } else {
            format!("{} attempts", number(failure.attempts))
        };
        let when = age(Some(failure.failed_at), now);
        page.add(Tone::Plain, &" ".repeat(INDENT)).line(Tone::Plain, &format!("failed {when} after {tries}"));
        problem_line(page, &sanitize_line(&failure.reason));
    }
}

/// Renders what adding facts would cost, by type of session.
pub(crate) fn enrichment_estimates(page: &mut TextPage, estimates: &[EnrichmentEstimate]) {
    if estimates.is_empty() {
        return;
    }
    page.end_line();
    page.line(Tone::Strong, "Estimated cost if the model added facts to these sessions (facts.model):");
    for estimate in estimates {
        page.cell(Tone::Plain, estimate.kind.map_or("type unknown", SessionType::as_str), TYPE_WIDTH, CellAlign::Left);
        let (sessions, tokens) = (count(estimate.sessions, "session"), count(estimate.tokens, "token"));
        page.line(Tone::Plain, &format!("  {sessions} · {tokens} · {}", cost(estimate.cost)));
    }
    if estimates.iter().any(|estimate| estimate.kind.is_none()) {
        page.line(
            Tone::Dim,
            "The type of a session is known after it is read; until then the average of all types is used.",
        );
    }
}

/// The state of the model in one line; `None` if it is off and no session waits or failed.
pub(crate) fn enrichment_summary(status: &EnrichmentStatus) -> Option<String> {
    if status.level == 2 && status.queued + status.failed == 0 {
        return None;
    }
    let how = match status.level {
        0 => "extracted by rules and a model",
        1 => "the model is unreachable",
        _ => "extracted by rules only",
    };
    let (waiting, failed) = (count(status.queued, "session"), number(status.failed));
    Some(format!("{how}; {waiting} waiting ({} to retry), {failed} failed", number(status.retrying)))
}

fn heading(page: &mut TextPage, session: &Session, now: Timestamp) {
    let id = rethread_model::short_id(&session.id.to_string()).to_owned();
    let name = session.name.as_deref().map_or_else(|| "(no name)".to_owned(), sanitize_line);
    page.cell(Tone::Dim, &id, INDENT, CellAlign::Left).add(Tone::Strong, &name);
    page.line(Tone::Dim, &format!(" · {} · {}", session.agent, age(session.last_activity_at, now)));
}

fn problem_line(page: &mut TextPage, text: &str) {
    page.add(Tone::Plain, &" ".repeat(INDENT)).line(Tone::Warning, text);
}
