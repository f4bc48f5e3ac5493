//! One-line messages about the search index.

use rethread_engine::{IndexOutcome, IndexProblem, IndexReport};

use super::format::count;
use super::{TextPage, Tone};

/// Renders how much was indexed; no output if nothing was.
pub(crate) fn index_report(page: &mut TextPage, report: &IndexReport) {
    if let IndexOutcome::Updated { count: episodes @ 1.., .. } = report.outcome {
        page.line(Tone::Plain, &format!("indexed {} · {:.1} s", count(episodes, "episode"), report.seconds));
    }
}

/// Message about an index that was rebuilt.
pub(crate) fn index_rebuilt(why: IndexProblem, episodes: u64) -> String {
    let why = match why {
        IndexProblem::Missing => "missing",
        IndexProblem::Damaged => "damaged",
        IndexProblem::OtherVersion => "written by another version",
        IndexProblem::OtherStore => "built for another store",
    };
    format!("the search index was {why} and has been rebuilt ({})", count(episodes, "episode"))
}

/// Message about an index that is not up to date. No data is lost; searches are slower.
pub(crate) fn index_failed(why: &str) -> String {
    format!("could not update the search index: {why}")
}
