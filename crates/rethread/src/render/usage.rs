//! Text output of `rethread usage`: a table with bars, our own requests, and compression.

use std::collections::BTreeSet;

use rethread_engine::{
    BudgetStatus, LedgerTotal, NanoUsd, OwnUsage, PRICES_AS_OF, UsageGroup, UsageGrouping, UsageReport, UsageTotals,
};
use unicode_width::UnicodeWidthStr;

use super::bars::bar;
use super::format::{count, short_number};
use super::text_page::truncate_to_width;
use super::wrap::wrap;
use super::{CellAlign, MAX_TEXT_WIDTH, TextPage, Tone, reduction_table, sanitize_line};

/// Maximum rows; the rest is summed up in one row.
const MAX_ROWS: usize = 30;
/// Minimum width of the label column.
const MIN_LABEL_WIDTH: usize = 12;
const MAX_LABEL_WIDTH: usize = 40;
/// With fewer columns than this there are no bars.
const MIN_BAR_WIDTH: usize = 4;
const MAX_BAR_WIDTH: usize = 40;
/// Models without a known price listed before the rest is only counted.
const MAX_MODELS: usize = 8;
/// In billionths of a dollar.
const ONE_CENT: u64 = 10_000_000;

/// One row of the table or the chart.
pub(crate) struct UsageRow {
    pub(crate) label: String,
    pub(crate) used: UsageTotals,
    /// Length of the bar relative to the longest, 0 to 1.
    pub(crate) share: f64,
}

/// Renders the usage of the agents, our own requests, and the compression table.
pub(crate) fn usage(page: &mut TextPage, report: &UsageReport, by: UsageGrouping) {
    if !report.groups.is_empty() {
        table(page, &usage_rows(report, by), &report.total, by);
        footnotes(page, &report.total);
        page.end_line();
    }
    own_usage(page, &report.own);
    if !report.reductions.is_empty() {
        page.end_line();
        reduction_table(page, &report.reductions);
    }
}

/// The groups as rows. Those beyond the limit are summed up in one row: the earliest days, or the smallest groups.
pub(crate) fn usage_rows(report: &UsageReport, by: UsageGrouping) -> Vec<UsageRow> {
    let many = report.groups.len();
    let folded = if many > MAX_ROWS { many - MAX_ROWS + 1 } else { 0 };
    let fold = |groups: &[UsageGroup], label: String| {
        let mut used = UsageTotals::default();
        for group in groups {
            used.add(&group.totals);
        }
        UsageRow { label, used, share: 0.0 }
    };
    let measure = |used: &UsageTotals| match usage_measure(report) {
        UsageMeasure::Cost => used.cost().map_or(0, NanoUsd::get),
        UsageMeasure::Tokens => used.tokens.total(),
    };
    let (first, last) = if by == UsageGrouping::Day { (folded, many) } else { (0, many - folded) };
    let shown = &report.groups[first..last];
    let largest = shown.iter().map(|group| measure(&group.totals)).max().unwrap_or(0).max(1) as f64;
    let row = |group: &UsageGroup| UsageRow {
        label: group_label(group, by),
        used: group.totals.clone(),
        share: measure(&group.totals) as f64 / largest,
    };
    let mut rows: Vec<UsageRow> = shown.iter().map(row).collect();
    // The summed row has no bar: it would be longer than all others.
    if first > 0 {
        rows.insert(0, fold(&report.groups[..first], format!("{folded} earlier")));
    }
    if last < many {
        rows.push(fold(&report.groups[last..], format!("{folded} others")));
    }
    rows
}

/// What the length of the bars shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageMeasure {
    Cost,
    Tokens,
}

/// Cost if any is known, otherwise tokens.
pub(crate) fn usage_measure(report: &UsageReport) -> UsageMeasure {
    if report.total.cost().is_some_and(|cost| cost > NanoUsd::ZERO) { UsageMeasure::Cost } else { UsageMeasure::Tokens }
}

/// A cost for a table: `~` if part of it is estimated, `+` if part of it is unknown.
pub(super) fn rough_cost(used: &UsageTotals) -> String {
    let Some(cost) = used.cost() else { return "unknown".to_owned() };
    let more = if used.unpriced_tokens > 0 { "+" } else { "" };
    format!("{}{more}", if used.estimated_cost.is_some() { estimated_money(cost) } else { money(cost) })
}

fn group_label(group: &UsageGroup, by: UsageGrouping) -> String {
    group.key.as_deref().map_or_else(|| format!("unknown {}", by.as_str()), sanitize_line)
}

/// An estimated amount. `<$0.01` needs no `~`.
fn estimated_money(sum: NanoUsd) -> String {
    let money = money(sum);
    if money.starts_with('<') { money } else { format!("~{money}") }
}

pub(crate) fn money(sum: NanoUsd) -> String {
    match sum.get() {
        1..ONE_CENT => "<$0.01".to_owned(),
        billionths => format!("${:.2}", billionths as f64 / 1e9),
    }
}

fn table(page: &mut TextPage, rows: &[UsageRow], total: &UsageTotals, by: UsageGrouping) {
    let max_width = page.width().unwrap_or(MAX_TEXT_WIDTH).min(MAX_TEXT_WIDTH);
    let mut lines = table_lines(rows, total, by, TokenColumns::Separate);
    if MIN_LABEL_WIDTH + numbers_width(&column_widths(&lines)) > max_width {
        lines = table_lines(rows, total, by, TokenColumns::Combined);
    }
    let mut widths = column_widths(&lines);
    let numbers = numbers_width(&widths);
    let longest = max_width.saturating_sub(numbers + MIN_BAR_WIDTH + 2).clamp(MIN_LABEL_WIDTH, MAX_LABEL_WIDTH);
    widths[0] = widths[0].min(longest);
    let bars = max_width.saturating_sub(widths[0] + numbers + 2).min(MAX_BAR_WIDTH);
    let last = lines.len() - 1;
    for (at, line) in lines.iter().enumerate() {
        let tone = match at {
            0 => Tone::Dim,
            at if at == last => Tone::Strong,
            _ => Tone::Plain,
        };
        page.cell(tone, &truncate_path(&line[0], widths[0]), widths[0], CellAlign::Left);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            page.add(Tone::Plain, "  ").cell(tone, cell, *width, CellAlign::Right);
        }
        if let Some(row) = at.checked_sub(1).and_then(|at| rows.get(at)).filter(|_| bars >= MIN_BAR_WIDTH) {
            page.add(Tone::Plain, "  ").add(Tone::Plain, &bar(row.share, bars));
        }
        page.end_line();
    }
}

/// One column per kind of tokens, or one for all if the terminal is narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenColumns {
    Separate,
    Combined,
}

/// Headings, rows and the total: label, tokens, cost.
fn table_lines(rows: &[UsageRow], total: &UsageTotals, by: UsageGrouping, columns: TokenColumns) -> Vec<Vec<String>> {
    let tokens: &[&str] = match columns {
        TokenColumns::Separate => &["INPUT", "OUTPUT", "CACHE READS", "CACHE WRITES"],
        TokenColumns::Combined => &["TOKENS"],
    };
    let mut headings = vec![by.as_str().to_uppercase()];
    headings.extend(tokens.iter().chain(&["COST"]).map(ToString::to_string));
    let mut lines = vec![headings];
    lines.extend(rows.iter().map(|row| cells(&row.label, &row.used, columns)));
    lines.push(cells("total", total, columns));
    lines
}

fn cells(label: &str, used: &UsageTotals, columns: TokenColumns) -> Vec<String> {
    let tokens = used.tokens;
    let numbers = match columns {
        TokenColumns::Separate => vec![tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
        TokenColumns::Combined => vec![tokens.total()],
    };
    let mut cells = vec![label.to_owned()];
    cells.extend(numbers.into_iter().map(short_number));
    cells.push(rough_cost(used));
    cells
}

/// Required width of each column.
fn column_widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.first().map_or(0, Vec::len);
    (0..columns).map(|at| lines.iter().map(|line| line[at].width()).max().unwrap_or(0)).collect()
}

/// Width of all columns after the label, with their separators.
fn numbers_width(widths: &[usize]) -> usize {
    widths[1..].iter().map(|width| width + 2).sum()
}

/// Truncates paths at the start, because their end is more informative, and other text at the end.
pub(crate) fn truncate_path(text: &str, width: usize) -> String {
    if text.width() <= width || !text.contains('/') {
        return truncate_to_width(text, width);
    }
    let mut from = text.len();
    for (at, _) in text.char_indices().rev().take_while(|(at, _)| text[*at..].width() < width) {
        from = at;
    }
    format!("…{}", &text[from..])
}

/// Renders how the costs were calculated, and what they exclude.
fn footnotes(page: &mut TextPage, total: &UsageTotals) {
    let noted = total.stated_cost.map(|sum| format!("{} recorded by the agents", money(sum)));
    let estimated = total
        .estimated_cost
        .map(|sum| format!("{} estimated from list prices of {PRICES_AS_OF}", estimated_money(sum)));
    let costs: Vec<String> = noted.into_iter().chain(estimated).collect();
    let mut notes = vec![(Tone::Dim, costs.join(", "))];
    if total.unpriced_tokens > 0 {
        let tokens = count(total.unpriced_tokens, "token");
        notes.push((
            Tone::Warning,
            format!("excluding {tokens} of models without a known price: {}", model_names(&total.unpriced_models)),
        ));
    }
    for (tone, note) in notes.into_iter().filter(|(_, note)| !note.is_empty()) {
        for line in wrap(&note, page.width()) {
            page.line(tone, &line);
        }
    }
}

/// The first models, and how many more there are.
fn model_names(models: &BTreeSet<String>) -> String {
    let name = |model: &String| {
        if model.is_empty() {
            "(no name)".to_owned()
        } else {
            truncate_to_width(&sanitize_line(model), MAX_LABEL_WIDTH)
        }
    };
    let mut names: Vec<String> = models.iter().take(MAX_MODELS).map(name).collect();
    if models.len() > MAX_MODELS {
        names.push(format!("and {} more", models.len() - MAX_MODELS));
    }
    names.join(", ")
}

/// Renders our own model requests and the budget.
fn own_usage(page: &mut TextPage, own: &OwnUsage) {
    let limits = budget_limits(&own.budget);
    if own.requests.is_empty() && own.today.is_empty() {
        dim_text(page, &format!("Rethread itself sent no model requests in this period; {limits}."));
        return;
    }
    page.line(Tone::Plain, "Rethread's own model requests, in all projects:");
    request_table(page, &own.requests);
    dim_text(page, &format!("today {}; {limits}", today_summary(&own.today)));
}

fn dim_text(page: &mut TextPage, text: &str) {
    for line in wrap(text, page.width()) {
        page.line(Tone::Dim, &line);
    }
}

fn request_table(page: &mut TextPage, sums: &[LedgerTotal]) {
    let headings = ["PURPOSE", "MODEL", "REQUESTS", "FAILED", "TOKENS", "COST"];
    let mut lines: Vec<Vec<String>> = vec![headings.map(str::to_owned).to_vec()];
    lines.extend(sums.iter().map(|sum| {
        let names = [truncate_to_width(&sum.purpose, MAX_LABEL_WIDTH), truncate_to_width(&sum.model, MAX_LABEL_WIDTH)];
        let numbers = [sum.spending.requests, sum.failed_requests, sum.spending.tokens].map(short_number);
        names.into_iter().chain(numbers).chain([ledger_cost(sum)]).collect()
    }));
    let widths = column_widths(&lines);
    for (number, line) in lines.iter().enumerate() {
        let tone = if number == 0 { Tone::Dim } else { Tone::Plain };
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            page.cell(tone, cell, *width, if at < 2 { CellAlign::Left } else { CellAlign::Right })
                .add(Tone::Plain, "  ");
        }
        page.end_line();
    }
}

pub(crate) fn ledger_cost(sum: &LedgerTotal) -> String {
    if sum.unpriced_requests == sum.spending.requests {
        return "unknown".to_owned();
    }
    format!("{}{}", money(NanoUsd::new(sum.spending.cost_nanos)), if sum.unpriced_requests > 0 { "+" } else { "" })
}

fn today_summary(sums: &[LedgerTotal]) -> String {
    let requests = sums.iter().map(|sum| sum.spending.requests).sum();
    if requests == 0 {
        return "no requests".to_owned();
    }
    let tokens = sums.iter().map(|sum| sum.spending.tokens).sum();
    let cost = sums.iter().fold(NanoUsd::ZERO, |cost, sum| cost.plus(NanoUsd::new(sum.spending.cost_nanos)));
    format!("{}, {}, {}", count(requests, "request"), count(tokens, "token"), money(cost))
}

pub(crate) fn budget_limits(budget: &BudgetStatus) -> String {
    let limits =
        [budget.daily_usd.map(|usd| usd.to_string()), budget.daily_tokens.map(|tokens| count(tokens, "token"))];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() { "no budget is set".to_owned() } else { format!("budget {} per day", limits.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rethread_model::Tokens;

    /// The first group used one token, the next two, and so on.
    fn report(groups: u64) -> UsageReport {
        let used = |input| UsageTotals { tokens: Tokens { input, ..Tokens::default() }, ..UsageTotals::default() };
        let group = |at: u64| UsageGroup { key: Some(format!("g{at}")), totals: used(at + 1) };
        let budget = BudgetStatus { daily_tokens: None, daily_usd: None, requests: 0, tokens: 0, usd: NanoUsd::ZERO };
        UsageReport {
            from: None,
            to: None,
            groups: (0..groups).map(group).collect(),
            total: used((1..=groups).sum()),
            reductions: Vec::new(),
            own: OwnUsage { requests: Vec::new(), today: Vec::new(), budget },
        }
    }

    #[test]
    fn rows_beyond_the_limit_are_summed_without_a_bar() {
        let days = usage_rows(&report(40), UsageGrouping::Day);
        assert_eq!((days.len(), days[0].label.as_str(), days[0].used.tokens.input), (30, "11 earlier", 66));
        assert_eq!(days.iter().map(|row| row.used.tokens.input).sum::<u64>(), report(40).total.tokens.input);
        let models = usage_rows(&report(31), UsageGrouping::Model);
        assert_eq!((models.len(), models[29].label.as_str()), (30, "2 others"));
        for folded in [&days[0], &models[29]] {
            assert!(folded.share == 0.0, "{}", folded.label);
        }
        assert!(days.iter().all(|row| (0.0..=1.0).contains(&row.share)));
        assert_eq!(usage_rows(&report(30), UsageGrouping::Day).len(), 30);
        assert_eq!(usage_rows(&report(0), UsageGrouping::Agent).len(), 0);
    }

    #[test]
    fn paths_are_truncated_at_the_start() {
        assert_eq!(truncate_path("/home/dev/app", 8), "…dev/app");
        assert_eq!(truncate_path("/home/日本/app", 8), "…本/app");
        assert_eq!(truncate_path("claude-opus", 8), "claude-…");
    }
}
