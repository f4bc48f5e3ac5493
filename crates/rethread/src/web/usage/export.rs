//! Usage as a CSV file: one row per day, agent, model and project.

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rethread_engine::{NanoUsd, UsageOfDay};

use super::super::viewer::Viewer;
use super::UsagePageParams;
use crate::render::{Separator, separated};
use crate::serve::route::{decode_query, run_blocking};
use crate::serve::{ApiError, RequestCaller, SharedState};

const COLUMNS: [&str; 12] = [
    "day",
    "agent",
    "model",
    "project",
    "messages",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_usd",
    "cost_is_estimated",
    "unpriced_tokens",
];

pub(in super::super) async fn export(
    State(app): State<SharedState>,
    Extension(caller): Extension<RequestCaller>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let params: UsagePageParams = decode_query(query.as_deref())?;
    let text = run_blocking(app, move |app| {
        let (_, details, _) = super::read(&Viewer::new(app, &caller), &params)?;
        let header = COLUMNS.map(str::to_owned).to_vec();
        Ok(separated(Separator::Comma, std::iter::once(header).chain(details.days.iter().map(row))))
    });
    let about = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"rethread-usage.csv\""),
    ];
    Ok((about, text.await?).into_response())
}

fn row(used: &UsageOfDay) -> Vec<String> {
    let (tokens, cost) = (used.totals.tokens, used.totals.cost());
    let texts = [used.day.as_deref(), Some(used.agent.as_str()), used.model.as_deref(), used.project.as_deref()];
    let numbers = [used.totals.messages, tokens.input, tokens.output, tokens.cache_read, tokens.cache_write];
    let mut cells: Vec<String> = texts.map(|text| text.unwrap_or("unknown").to_owned()).into();
    cells.extend(numbers.map(|number| number.to_string()));
    cells.push(cost.map_or_else(String::new, dollars));
    cells.push(used.totals.estimated_cost.is_some().to_string());
    cells.push(used.totals.unpriced_tokens.to_string());
    cells
}

fn dollars(cost: NanoUsd) -> String {
    format!("{}.{:09}", cost.get() / 1_000_000_000, cost.get() % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_written_in_dollars() {
        assert_eq!(dollars(NanoUsd::new(1_250_000_000)), "1.250000000");
    }
}
