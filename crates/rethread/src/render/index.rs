//! What became of the search index, in a line.

use rethread_engine::{IndexReport, Indexed, Unusable};

use super::words::count;
use super::{Page, Tone};

/// How much was indexed; nothing if nothing was.
pub(crate) fn indexed(page: &mut Page, report: &IndexReport) {
    if let Indexed::Episodes { count: episodes @ 1.., .. } = report.outcome {
        page.line(Tone::Plain, &format!("indexed {} · {:.1} s", count(episodes, "episode"), report.seconds));
    }
}

/// Why the index was made again.
pub(crate) fn remade(why: Unusable, episodes: u64) -> String {
    let why = match why {
        Unusable::Missing => "missing",
        Unusable::Damaged => "damaged",
        Unusable::OtherVersion => "of another version",
        Unusable::OtherStore => "of another store",
    };
    format!("the search index was {why}; it was made again ({})", count(episodes, "episode"))
}

/// Why the index is not up to date. Nothing is lost by that but time.
pub(crate) fn index_failed(why: &str) -> String {
    format!("the search index could not be brought up to date: {why}")
}
