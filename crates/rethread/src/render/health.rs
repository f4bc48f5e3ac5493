//! Text output of `doctor` and `verify`: each check with a mark, its result and a hint.

use rethread_engine::{Diagnosis, FindingLevel, VerifyReport};

use super::format::count;
use super::{CellAlign, TextPage, Tone};

/// Renders all checks of `rethread doctor`.
pub(crate) fn diagnosis(page: &mut TextPage, diagnosis: &Diagnosis) {
    let widest = diagnosis.findings.iter().map(|finding| finding.area.len()).max().unwrap_or(0);
    for finding in &diagnosis.findings {
        let (sign, tone) = match finding.level {
            FindingLevel::Ok => ("✓", Tone::Success),
            FindingLevel::Info => ("·", Tone::Dim),
            FindingLevel::Problem => ("✗", Tone::Error),
        };
        page.add(tone, sign).add(Tone::Plain, " ").cell(Tone::Strong, &finding.area, widest, CellAlign::Left);
        page.add(Tone::Plain, "  ").block(Tone::Plain, &finding.message, widest + 4);
        if let Some(hint) = &finding.hint {
            page.add(Tone::Plain, &" ".repeat(widest + 4)).add(Tone::Warning, "hint: ");
            page.block(Tone::Plain, hint, widest + 10);
        }
    }
}

/// Renders all checks of `rethread debug verify`.
pub(crate) fn verify_report(page: &mut TextPage, report: &VerifyReport) {
    for check in &report.checks {
        let damage: Vec<_> = report.damage.iter().filter(|damage| damage.check == *check).collect();
        let (sign, tone) = if damage.is_empty() { ("✓", Tone::Success) } else { ("✗", Tone::Error) };
        page.add(tone, sign).add(Tone::Plain, " ").line(Tone::Plain, check);
        for damage in damage {
            page.line(Tone::Plain, &format!("    {}", damage.detail));
        }
    }
    page.line(Tone::Dim, &format!("{} checked", count(report.sessions, "session")));
}
