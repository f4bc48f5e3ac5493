//! Health: what is well, what is not, how much there is, and what to do next.

use maud::{Markup, html};
use rethread_engine::{Diagnosis, Finding, Health, IndexLag, Status};

use super::Nothing;
use super::parts::{Line, command, count};
use super::shell::{Page, Place};
use crate::render::{bytes, number};
use crate::serve::{App, Refusal};

/// The health page.
pub(super) fn page(app: &App, _: &Nothing) -> Result<Page, Refusal> {
    let diagnosis = app.engine.doctor()?;
    // A store that cannot be read is told among the findings; numbers are then not to be had.
    let status = app.engine.status().ok();
    let body = html! {
        (heading(&diagnosis))
        (to_do(&diagnosis, status.as_ref()))
        div.columns.two {
            section { h2 { "What was looked at" } (findings(&diagnosis)) }
            @if let Some(status) = &status { (numbers(status)) }
        }
    };
    Ok(Page::new("Health", Place::Health, body))
}

fn heading(diagnosis: &Diagnosis) -> Markup {
    let ill = ill(diagnosis).count() as u64;
    html! {
        header.health.ill[ill > 0] {
            h1 {
                @match ill {
                    0 => "All is well",
                    1 => "One thing needs mending",
                    _ => { (number(ill)) " things need mending" }
                }
            }
            p.dim { (count(diagnosis.findings.len() as u64, "thing")) " looked at just now" }
        }
    }
}

fn ill(diagnosis: &Diagnosis) -> impl Iterator<Item = &Finding> {
    diagnosis.findings.iter().filter(|finding| finding.health == Health::Ill)
}

/// What to do next: what needs mending first, then what would be worth it.
fn to_do(diagnosis: &Diagnosis, status: Option<&Status>) -> Markup {
    let is_empty = status.is_some_and(|status| status.statistics.as_ref().is_none_or(|all| all.sessions == 0));
    let hooks = diagnosis.findings.iter().filter(|finding| finding.health == Health::Note && finding.hint.is_some());
    let hints: Vec<(&Finding, &str)> =
        ill(diagnosis).chain(hooks).filter_map(|finding| Some((finding, finding.hint.as_deref()?))).collect();
    html! {
        @if is_empty || !hints.is_empty() {
            section.to-do {
                h2 { "What to do next" }
                ul {
                    @if is_empty { li { (command("rethread init")) p.dim { "finds your agents, adds the hooks, reads everything once" } } }
                    @for (finding, hint) in hints {
                        li { p { strong { (Line(&finding.area)) } " " (hinted(hint)) } p.dim { (Line(&finding.message)) } }
                    }
                }
            }
        }
    }
}

/// A hint, with the command in it as something to copy.
fn hinted(hint: &str) -> Markup {
    html! {
        @match hint.split_once("run: ") {
            Some((before, text)) if before.is_empty() && text.starts_with("rethread ") && !text.contains([',', '…']) => { (command(text)) }
            _ => { (Line(hint)) }
        }
    }
}

fn findings(diagnosis: &Diagnosis) -> Markup {
    html! {
        ul.findings {
            @for finding in &diagnosis.findings {
                @let (class, word) = match finding.health {
                    Health::Well => ("well", "well"),
                    Health::Note => ("note", "note"),
                    Health::Ill => ("ill", "ill"),
                };
                li class=(class) data-item {
                    span.health-sign { i aria-hidden="true" {} (word) }
                    strong { (Line(&finding.area)) }
                    span.message { (Line(&finding.message)) }
                }
            }
        }
    }
}

fn numbers(status: &Status) -> Markup {
    let lag = match status.index_lag {
        IndexLag::None => "up to date".to_owned(),
        IndexLag::Entries(entries) => {
            format!("{} behind, read from the store meanwhile", count(entries, "entry").replace("entrys", "entries"))
        }
        IndexLag::Unusable(_) => "made again by the next search".to_owned(),
    };
    let all = status.statistics.clone().unwrap_or_default();
    let secrets: u64 = all.redactions.iter().map(|(_, many)| many).sum();
    let rows = [
        ("Sessions", number(all.sessions)),
        ("Sub-agents", number(all.children)),
        ("Entries", number(all.entries)),
        ("Exchanges", number(all.episodes)),
        ("Facts", number(all.facts)),
        ("Transcripts", format!("{}, {}", number(all.transcripts), bytes(all.bytes_read))),
        ("Secrets kept out", number(secrets)),
        ("Store", bytes(status.database_bytes)),
        ("Search index", format!("{}, {lag}", bytes(status.index_bytes))),
        ("Home", status.folder.display().to_string()),
        ("Version", format!("{}, schema {}", status.version, all.schema)),
    ];
    html! {
        section {
            h2 { "How much there is" }
            dl.numbers.wide { @for (name, value) in rows { dt { (name) } dd { (Line(value)) } } }
        }
    }
}
