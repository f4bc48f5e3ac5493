//! What people get: pages made of harmless text. Pure functions from what the engine says to what is read.

mod bars;
mod card;
mod chart;
mod decisions;
mod enrich;
mod facts;
mod failure;
mod files;
mod fix;
mod forget;
mod graph;
mod health;
mod index;
mod kept;
mod marked;
mod neutral;
mod page;
mod question;
mod resume;
mod search;
mod serve;
mod sessions;
mod show;
mod status;
mod sync;
mod thread;
mod timeline;
mod usage;
mod words;
mod workflows;
mod wrap;

pub(crate) use card::{card, cost, would_ask_for_card};
pub(crate) use chart::{Bar, Bars, usage_bars, usage_chart};
pub(crate) use decisions::decisions;
pub(crate) use enrich::{enriched, enrichment, estimates, not_enriched, would_enrich};
pub(crate) use facts::{about, things};
pub(crate) use failure::failure;
pub(crate) use files::file_history;
pub(crate) use fix::{fix, not_fixed};
pub(crate) use forget::forgotten;
pub(crate) use graph::{Drawing, DrawnEdge, DrawnNode, NODE, dot, drawing, said, svg};
pub(crate) use health::{diagnosis, verified};
pub(crate) use index::{index_failed, indexed, remade};
pub(crate) use kept::kept;
pub(crate) use neutral::neutral;
pub(crate) use page::{Page, Side, Tone, single};
pub(crate) use question::{answered, price_of, would_ask};
pub(crate) use resume::resume_command;
pub(crate) use search::{Wanted, grouped, search, summary};
pub(crate) use serve::serving;
pub(crate) use sessions::{for_pickers, name_of, sessions};
pub(crate) use show::{Reader, shortened, show, state};
pub(crate) use status::status;
pub(crate) use sync::{embedded, not_embedded, synced, warnings, would_sync};
pub(crate) use thread::{compacted, compaction_note, thread_context, threads, waiting_behind, would_send};
pub(crate) use timeline::timeline;
pub(crate) use usage::{Measure, ledger_cost, limits, measured, money, rough_cost, usage};
pub(crate) use words::{age, bytes, count, moment, number, period, reduction, short_number};
pub(crate) use workflows::workflows;

/// Lines wider than this are hard to read, however wide the terminal is.
const WIDEST_TEXT: usize = 110;

/// The shortest beginning of our ids that is shown.
const SHORT_ID: usize = 10;

/// How many characters of these ids must be shown to tell them apart.
pub(crate) fn id_length(ids: &[String]) -> usize {
    let mut sorted: Vec<&String> = ids.iter().collect();
    sorted.sort();
    sorted.dedup();
    let common = |pair: &[&String]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    sorted.windows(2).map(|pair| common(pair) + 1).max().unwrap_or(0).max(SHORT_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shown_as_long_as_they_must_be_told_apart() {
        let length = |ids: &[&str]| id_length(&ids.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(length(&["01KHYAAAAAAAAAAA", "01KHZAAAAAAAAAAA"]), 10);
        assert_eq!(length(&["01KHYAAAAAAAAAAA", "01KHYAAAAAAAABAA"]), 14);
        assert_eq!(length(&["01KHYAAAAAAAAAAA"]), 10);
        assert_eq!(length(&[]), 10);
    }
}
