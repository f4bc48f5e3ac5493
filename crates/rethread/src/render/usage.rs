//! What tokens cost, for people: a table with bars, what we spent, and what is kept.

use std::collections::BTreeSet;

use rethread_engine::{
    BudgetStatus, LedgerSum, NanoUsd, OwnUsage, PRICES_AS_OF, UsageBy, UsageGroup, UsageReport, Used,
};
use unicode_width::UnicodeWidthStr;

use super::bars::bar;
use super::page::fit;
use super::words::{count, short_number};
use super::wrap::wrap;
use super::{Page, Side, Tone, WIDEST_TEXT, kept, single};

/// More lines than this are for programs.
const MOST_ROWS: usize = 30;
/// Labels are not cut below this.
const NARROWEST_LABEL: usize = 12;
const WIDEST_LABEL: usize = 40;
/// Bars shorter than this say nothing.
const SHORTEST_BAR: usize = 4;
const LONGEST_BAR: usize = 40;
/// Models that are named where a price is missing.
const MOST_MODELS: usize = 8;
const ONE_CENT: u64 = 10_000_000;

/// One line of the table or the chart.
pub(crate) struct UsageRow {
    pub(crate) label: String,
    pub(crate) used: Used,
    /// The part of the largest one.
    pub(crate) share: f64,
}

/// Puts what the agents used on the page, then what we did, then what is kept of the transcripts.
pub(crate) fn usage(page: &mut Page, report: &UsageReport, by: UsageBy) {
    if !report.groups.is_empty() {
        table(page, &usage_rows(report, by), &report.total, by);
        footnotes(page, &report.total);
        page.end();
    }
    own(page, &report.own);
    if !report.kept.is_empty() {
        page.end();
        kept(page, &report.kept);
    }
}

/// The groups as lines, with what is too much for a page in one line of its own.
pub(crate) fn usage_rows(report: &UsageReport, by: UsageBy) -> Vec<UsageRow> {
    let many = report.groups.len();
    let folded = if many > MOST_ROWS { many - MOST_ROWS + 1 } else { 0 };
    let fold = |groups: &[UsageGroup], label: String| {
        let mut used = Used::default();
        for group in groups {
            used.add(&group.used);
        }
        UsageRow { label, used, share: 0.0 }
    };
    let measure = |used: &Used| match measured(report) {
        Measure::Cost => used.cost().map_or(0, NanoUsd::get),
        Measure::Tokens => used.tokens.total(),
    };
    let (first, last) = if by == UsageBy::Day { (folded, many) } else { (0, many - folded) };
    let shown = &report.groups[first..last];
    let most = shown.iter().map(|group| measure(&group.used)).max().unwrap_or(0).max(1) as f64;
    let row = |group: &UsageGroup| UsageRow {
        label: label(group, by),
        used: group.used.clone(),
        share: measure(&group.used) as f64 / most,
    };
    let mut rows: Vec<UsageRow> = shown.iter().map(row).collect();
    // What is put together has no bar: it would be longer than all others.
    if first > 0 {
        rows.insert(0, fold(&report.groups[..first], format!("{folded} earlier")));
    }
    if last < many {
        rows.push(fold(&report.groups[last..], format!("{folded} others")));
    }
    rows
}

/// What the bars show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Cost,
    Tokens,
}

/// Costs where any is known; else tokens.
pub(crate) fn measured(report: &UsageReport) -> Measure {
    if report.total.cost().is_some_and(|cost| cost > NanoUsd::ZERO) { Measure::Cost } else { Measure::Tokens }
}

/// A cost for a table: `~` where part of it is estimated, `+` where part of it is not known.
pub(crate) fn rough_cost(used: &Used) -> String {
    let Some(cost) = used.cost() else { return "unknown".to_owned() };
    let more = if used.unpriced_tokens > 0 { "+" } else { "" };
    format!("{}{more}", if used.estimated.is_some() { about(cost) } else { money(cost) })
}

fn label(group: &UsageGroup, by: UsageBy) -> String {
    group.key.as_deref().map_or_else(|| format!("unknown {}", by.as_str()), single)
}

/// A sum that is estimated. What is below a cent says so itself.
fn about(sum: NanoUsd) -> String {
    let money = money(sum);
    if money.starts_with('<') { money } else { format!("~{money}") }
}

pub(crate) fn money(sum: NanoUsd) -> String {
    match sum.get() {
        1..ONE_CENT => "<$0.01".to_owned(),
        billionths => format!("${:.2}", billionths as f64 / 1e9),
    }
}

fn table(page: &mut Page, rows: &[UsageRow], total: &Used, by: UsageBy) {
    let room = page.width().unwrap_or(WIDEST_TEXT).min(WIDEST_TEXT);
    let mut lines = table_lines(rows, total, by, Columns::Each);
    if NARROWEST_LABEL + numbers(&widths(&lines)) > room {
        lines = table_lines(rows, total, by, Columns::Together);
    }
    let mut widths = widths(&lines);
    let numbers = numbers(&widths);
    let longest = room.saturating_sub(numbers + SHORTEST_BAR + 2).clamp(NARROWEST_LABEL, WIDEST_LABEL);
    widths[0] = widths[0].min(longest);
    let bars = room.saturating_sub(widths[0] + numbers + 2).min(LONGEST_BAR);
    let last = lines.len() - 1;
    for (at, line) in lines.iter().enumerate() {
        let tone = match at {
            0 => Tone::Dim,
            at if at == last => Tone::Strong,
            _ => Tone::Plain,
        };
        page.cell(tone, &fit_end(&line[0], widths[0]), widths[0], Side::Left);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            page.add(Tone::Plain, "  ").cell(tone, cell, *width, Side::Right);
        }
        if let Some(row) = at.checked_sub(1).and_then(|at| rows.get(at)).filter(|_| bars >= SHORTEST_BAR) {
            page.add(Tone::Plain, "  ").add(Tone::Plain, &bar(row.share, bars));
        }
        page.end();
    }
}

/// Whether kinds of tokens have columns of their own, or one together where there is little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    Each,
    Together,
}

/// Headings, rows and the sum: label, tokens, cost.
fn table_lines(rows: &[UsageRow], total: &Used, by: UsageBy, columns: Columns) -> Vec<Vec<String>> {
    let tokens: &[&str] = match columns {
        Columns::Each => &["INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"],
        Columns::Together => &["TOKENS"],
    };
    let mut headings = vec![by.as_str().to_uppercase()];
    headings.extend(tokens.iter().chain(&["COST"]).map(ToString::to_string));
    let mut lines = vec![headings];
    lines.extend(rows.iter().map(|row| cells(&row.label, &row.used, columns)));
    lines.push(cells("total", total, columns));
    lines
}

fn cells(label: &str, used: &Used, columns: Columns) -> Vec<String> {
    let tokens = used.tokens;
    let numbers = match columns {
        Columns::Each => vec![tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
        Columns::Together => vec![tokens.total()],
    };
    let mut cells = vec![label.to_owned()];
    cells.extend(numbers.into_iter().map(short_number));
    cells.push(rough_cost(used));
    cells
}

/// How wide each column must be.
fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.first().map_or(0, Vec::len);
    (0..columns).map(|at| lines.iter().map(|line| line[at].width()).max().unwrap_or(0)).collect()
}

/// Columns of the terminal behind the label, with the blanks before each.
fn numbers(widths: &[usize]) -> usize {
    widths[1..].iter().map(|width| width + 2).sum()
}

/// The end of a text, where that says more than its beginning: paths.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width || !text.contains('/') {
        return fit(text, width);
    }
    let mut from = text.len();
    for (at, _) in text.char_indices().rev().take_while(|(at, _)| text[*at..].width() < width) {
        from = at;
    }
    format!("…{}", &text[from..])
}

/// Where the costs come from, and what they lack.
fn footnotes(page: &mut Page, total: &Used) {
    let noted = total.noted.map(|sum| format!("{} noted by the agents", money(sum)));
    let estimated = total.estimated.map(|sum| format!("{} estimated from list prices of {PRICES_AS_OF}", about(sum)));
    let costs: Vec<String> = noted.into_iter().chain(estimated).collect();
    let mut notes = vec![(Tone::Dim, costs.join(", "))];
    if total.unpriced_tokens > 0 {
        let tokens = count(total.unpriced_tokens, "token");
        notes.push((Tone::Careful, format!("without {tokens} of unknown models: {}", named(&total.unpriced_models))));
    }
    for (tone, note) in notes.into_iter().filter(|(_, note)| !note.is_empty()) {
        for line in wrap(&note, page.width()) {
            page.line(tone, &line);
        }
    }
}

/// Some of the models, and how many more there are.
fn named(models: &BTreeSet<String>) -> String {
    let name =
        |model: &String| if model.is_empty() { "(no name)".to_owned() } else { fit(&single(model), WIDEST_LABEL) };
    let mut names: Vec<String> = models.iter().take(MOST_MODELS).map(name).collect();
    if models.len() > MOST_MODELS {
        names.push(format!("and {} more", models.len() - MOST_MODELS));
    }
    names.join(", ")
}

/// What we asked of models, and what we may.
fn own(page: &mut Page, own: &OwnUsage) {
    let limits = limits(&own.budget);
    if own.requests.is_empty() && own.today.is_empty() {
        dim(page, &format!("Rethread itself sent nothing to a model in this time; {limits}."));
        return;
    }
    page.line(Tone::Plain, "Rethread's own requests, in all projects:");
    requests(page, &own.requests);
    dim(page, &format!("today {}; {limits}", today(&own.today)));
}

fn dim(page: &mut Page, text: &str) {
    for line in wrap(text, page.width()) {
        page.line(Tone::Dim, &line);
    }
}

fn requests(page: &mut Page, sums: &[LedgerSum]) {
    let headings = ["PURPOSE", "MODEL", "REQUESTS", "FAILED", "TOKENS", "COST"];
    let mut lines: Vec<Vec<String>> = vec![headings.map(str::to_owned).to_vec()];
    lines.extend(sums.iter().map(|sum| {
        let names = [fit(&sum.purpose, WIDEST_LABEL), fit(&sum.model, WIDEST_LABEL)];
        let numbers = [sum.spending.requests, sum.failed, sum.spending.tokens].map(short_number);
        names.into_iter().chain(numbers).chain([ledger_cost(sum)]).collect()
    }));
    let widths = widths(&lines);
    for (number, line) in lines.iter().enumerate() {
        let tone = if number == 0 { Tone::Dim } else { Tone::Plain };
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            page.cell(tone, cell, *width, if at < 2 { Side::Left } else { Side::Right }).add(Tone::Plain, "  ");
        }
        page.end();
    }
}

pub(crate) fn ledger_cost(sum: &LedgerSum) -> String {
    if sum.unpriced == sum.spending.requests {
        return "unknown".to_owned();
    }
    format!("{}{}", money(NanoUsd::new(sum.spending.cost_nanos)), if sum.unpriced > 0 { "+" } else { "" })
}

fn today(sums: &[LedgerSum]) -> String {
    let requests = sums.iter().map(|sum| sum.spending.requests).sum();
    if requests == 0 {
        return "no requests".to_owned();
    }
    let tokens = sums.iter().map(|sum| sum.spending.tokens).sum();
    let cost = sums.iter().fold(NanoUsd::ZERO, |cost, sum| cost.plus(NanoUsd::new(sum.spending.cost_nanos)));
    format!("{}, {}, {}", count(requests, "request"), count(tokens, "token"), money(cost))
}

pub(crate) fn limits(budget: &BudgetStatus) -> String {
    let limits =
        [budget.daily_usd.map(|usd| usd.to_string()), budget.daily_tokens.map(|tokens| count(tokens, "token"))];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() { "no budget is set".to_owned() } else { format!("budget {} a day", limits.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rethread_model::Tokens;

    /// So many groups; the first took one token, the next two.
    fn report(groups: u64) -> UsageReport {
        let used = |input| Used { tokens: Tokens { input, ..Tokens::default() }, ..Used::default() };
        let group = |at: u64| UsageGroup { key: Some(format!("g{at}")), used: used(at + 1) };
        let budget = BudgetStatus { daily_tokens: None, daily_usd: None, requests: 0, tokens: 0, usd: NanoUsd::ZERO };
        UsageReport {
            from: None,
            to: None,
            groups: (0..groups).map(group).collect(),
            total: used((1..=groups).sum()),
            kept: Vec::new(),
            own: OwnUsage { requests: Vec::new(), today: Vec::new(), budget },
        }
    }

    #[test]
    fn what_is_too_much_for_a_page_is_one_line_without_a_bar() {
        let days = usage_rows(&report(40), UsageBy::Day);
        assert_eq!((days.len(), days[0].label.as_str(), days[0].used.tokens.input), (30, "11 earlier", 66));
        assert_eq!(days.iter().map(|row| row.used.tokens.input).sum::<u64>(), report(40).total.tokens.input);
        let models = usage_rows(&report(31), UsageBy::Model);
        assert_eq!((models.len(), models[29].label.as_str()), (30, "2 others"));
        for folded in [&days[0], &models[29]] {
            assert!(folded.share == 0.0, "{}", folded.label);
        }
        assert!(days.iter().all(|row| (0.0..=1.0).contains(&row.share)));
        assert_eq!(usage_rows(&report(30), UsageBy::Day).len(), 30);
        assert_eq!(usage_rows(&report(0), UsageBy::Agent).len(), 0);
    }

    #[test]
    fn the_end_of_a_path_says_more_than_its_beginning() {
        assert_eq!(fit_end("/home/dev/app", 8), "…dev/app");
        assert_eq!(fit_end("/home/日本/app", 8), "…本/app");
        assert_eq!(fit_end("claude-opus", 8), "claude-…");
    }
}
