//! The health page: checks, suggested fixes and storage numbers.

use maud::{Markup, html};
use rethread_engine::{Diagnosis, EngineStatus, Finding, FindingLevel, IndexLag};

use super::NoPageParams;
use super::components::{OneLine, command, count};
use super::layout::{NavPage, WebPage};
use super::viewer::Viewer;
use crate::render::{bytes, number};
use crate::serve::ApiError;

pub(super) fn page(app: &Viewer<'_>, _: &NoPageParams) -> Result<WebPage, ApiError> {
    let diagnosis = app.engine.reports().doctor()?;
    // An unreadable store is one of the findings; then there are no numbers.
    let status = app.engine.reports().status().ok();
    let body = html! {
        (heading(&diagnosis))
        (next_steps(&diagnosis, status.as_ref()))
        div.columns.two {
            section { h2 { "Checks" } (findings(&diagnosis)) }
            @if let Some(status) = &status { (storage(status)) }
        }
    };
    Ok(WebPage::new("Health", NavPage::Health, body))
}

fn heading(diagnosis: &Diagnosis) -> Markup {
    let ill = problems(diagnosis).count() as u64;
    html! {
        header.health.ill[ill > 0] {
            h1 {
                @match ill {
                    0 => "No problems",
                    1 => "1 problem",
                    _ => { (number(ill)) " problems" }
                }
            }
            p.dim { (count(diagnosis.findings.len() as u64, "check")) " run just now" }
        }
    }
}

fn problems(diagnosis: &Diagnosis) -> impl Iterator<Item = &Finding> {
    diagnosis.findings.iter().filter(|finding| finding.level == FindingLevel::Problem)
}

/// Next steps: problems first, then optional ones.
fn next_steps(diagnosis: &Diagnosis, status: Option<&EngineStatus>) -> Markup {
    let is_empty = status.is_some_and(|status| status.statistics.as_ref().is_none_or(|all| all.sessions == 0));
    let hooks =
        diagnosis.findings.iter().filter(|finding| finding.level == FindingLevel::Info && finding.hint.is_some());
    let hints: Vec<(&Finding, &str)> =
        problems(diagnosis).chain(hooks).filter_map(|finding| Some((finding, finding.hint.as_deref()?))).collect();
    html! {
        @if is_empty || !hints.is_empty() {
            section.to-do {
                h2 { @if is_empty || problems(diagnosis).next().is_some() { "Next steps" } @else { "Suggestions" } }
                ul {
                    @if is_empty { li { (command("rethread init")) p.dim { "finds your agents, installs hooks and syncs all transcripts" } } }
                    @for (finding, hint) in hints {
                        li { p { strong { (OneLine(capitalized(&finding.message))) } } p { (hint_markup(hint)) } }
                    }
                }
            }
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

/// A hint; if it is a command, with a copy button.
fn hint_markup(hint: &str) -> Markup {
    html! {
        @match hint.split_once("run: ") {
            Some((before, text)) if before.is_empty() && text.starts_with("rethread ") && !text.contains([',', '…']) => { (command(text)) }
            _ => { (OneLine(hint)) }
        }
    }
}

fn findings(diagnosis: &Diagnosis) -> Markup {
    html! {
        ul.findings {
            @for finding in &diagnosis.findings {
                @let (class, word) = match finding.level {
                    FindingLevel::Ok => ("well", "ok"),
                    FindingLevel::Info => ("note", "info"),
                    FindingLevel::Problem => ("ill", "problem"),
                };
                li class=(class) data-item {
                    span.health-sign { i aria-hidden="true" {} (word) }
                    strong { (OneLine(&finding.area)) }
                    span.message { (OneLine(&finding.message)) }
                }
            }
        }
    }
}

fn storage(status: &EngineStatus) -> Markup {
    let lag = match status.index_lag {
        IndexLag::None => "up to date".to_owned(),
        IndexLag::Entries(entries) => {
            format!("{} behind, searched in the store", count(entries, "entry").replace("entrys", "entries"))
        }
        IndexLag::Unusable(_) => "rebuilt by the next search".to_owned(),
    };
    let all = status.statistics.clone().unwrap_or_default();
    let secrets: u64 = all.redactions.iter().map(|(_, many)| many).sum();
    let rows = [
        ("Sessions", number(all.sessions)),
        ("Sub-agents", number(all.child_sessions)),
        ("Entries", number(all.entries)),
        ("Episodes", number(all.episodes)),
        ("Facts", number(all.facts)),
        ("Transcripts", format!("{}, {}", number(all.transcripts), bytes(all.bytes_read))),
        ("Secrets redacted", number(secrets)),
        ("Store", bytes(status.database_bytes)),
        ("Search index", format!("{}, {lag}", bytes(status.index_bytes))),
        ("Home", status.folder.display().to_string()),
        ("Version", format!("{}, schema {}", status.version, all.schema)),
    ];
    html! {
        section {
            h2 { "Storage" }
            dl.numbers.wide { @for (name, value) in rows { dt { (name) } dd { (OneLine(value)) } } }
        }
    }
}
