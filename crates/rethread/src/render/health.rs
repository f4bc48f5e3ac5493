//! What is well and what is not, each with a mark and with what to do.

use rethread_engine::{Diagnosis, Health, VerifyReport};

use super::words::count;
use super::{Page, Side, Tone};

/// Puts everything that was looked at on the page.
pub(crate) fn diagnosis(page: &mut Page, diagnosis: &Diagnosis) {
    let widest = diagnosis.findings.iter().map(|finding| finding.area.len()).max().unwrap_or(0);
    for finding in &diagnosis.findings {
        let (sign, tone) = match finding.health {
            Health::Well => ("✓", Tone::Good),
            Health::Note => ("·", Tone::Dim),
            Health::Ill => ("✗", Tone::Bad),
        };
        page.add(tone, sign).add(Tone::Plain, " ").cell(Tone::Strong, &finding.area, widest, Side::Left);
        page.add(Tone::Plain, "  ").line(Tone::Plain, &finding.message);
        if let Some(hint) = &finding.hint {
            page.add(Tone::Plain, &" ".repeat(widest + 4)).add(Tone::Careful, "hint: ").line(Tone::Plain, hint);
        }
    }
}

/// Puts each check with what it found on the page.
pub(crate) fn verified(page: &mut Page, report: &VerifyReport) {
    for check in &report.checks {
        let damage: Vec<_> = report.damage.iter().filter(|damage| damage.check == *check).collect();
        let (sign, tone) = if damage.is_empty() { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
        page.add(tone, sign).add(Tone::Plain, " ").line(Tone::Plain, check);
        for damage in damage {
            page.line(Tone::Plain, &format!("    {}", damage.found));
        }
    }
    page.line(Tone::Dim, &format!("{} looked at", count(report.sessions, "session")));
}
