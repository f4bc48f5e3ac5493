//! Usage as separated values, with a heading.

use rethread_engine::{NanoUsd, UsageGroup, UsageGrouping, UsageReport};

use super::{Separator, separated};

/// One row per group. A cost is empty if none of it is known.
pub(crate) fn usage_rows(separator: Separator, report: &UsageReport, group_by: UsageGrouping) -> String {
    let columns =
        ["messages", "input", "output", "cache_read", "cache_write", "cost_usd", "estimated_usd", "unpriced_tokens"];
    let heading = std::iter::once(group_by.as_str()).chain(columns).map(str::to_owned).collect();
    separated(separator, std::iter::once(heading).chain(report.groups.iter().map(row)))
}

fn row(group: &UsageGroup) -> Vec<String> {
    let totals = &group.totals;
    let tokens = totals.tokens;
    let dollars = |cost: Option<NanoUsd>| cost.map_or_else(String::new, |cost| (cost.get() as f64 / 1e9).to_string());
    let counts = [totals.messages, tokens.input, tokens.output, tokens.cache_read, tokens.cache_write];
    let mut cells = vec![group.key.clone().unwrap_or_default()];
    cells.extend(counts.map(|count| count.to_string()));
    cells.extend([dollars(totals.cost()), dollars(totals.estimated_cost), totals.unpriced_tokens.to_string()]);
    cells
}
