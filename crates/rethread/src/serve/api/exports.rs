//! A session as a file: for `rethread import`, or to read.

use rethread_engine::EngineError;
use rethread_model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::existing_reference;
use crate::cli::transfer::ExportFormat;
use crate::export::{html_document, markdown_document};
use crate::failure::{Failure, FailureKind};
use crate::json::ExportedSessionJson;
use crate::serve::params::{ChoiceParam, NamedChoice};
use crate::serve::route::ApiResult;
use crate::serve::{ApiResponse, Route, ServerState};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get_for_session::<ExportParams, ExportedSessionJson<'_>>(
        "/api/sessions/{id}/export",
        "Export a session with its sub-agents as a file. `jsonl` is for `rethread import`, `md` and `html` are to be read. \
         Secrets are removed once more; `redactions` counts them. With `download` the answer is the file itself. 409 if \
         a thread is asked for as `jsonl`: its export is its log.",
        export,
    )
    .with_errors(&[axum::http::StatusCode::NOT_FOUND, axum::http::StatusCode::CONFLICT])]
}

/// How to export.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExportParams {
    /// The format.
    #[serde(default = "jsonl")]
    format: ChoiceParam<ExportFormat>,
    /// Answer with the file itself, to be saved by a browser.
    #[serde(default)]
    download: bool,
}

const fn jsonl() -> ChoiceParam<ExportFormat> {
    ChoiceParam(ExportFormat::Jsonl)
}

impl NamedChoice for ExportFormat {
    const NOUN: &'static str = "format";

    fn choices() -> Vec<(&'static str, Self)> {
        [ExportFormat::Jsonl, ExportFormat::Md, ExportFormat::Html].map(|format| (format.extension(), format)).to_vec()
    }
}

fn export(app: &ServerState, id: SessionId, params: ExportParams) -> ApiResult {
    let ExportParams { format: ChoiceParam(format), download } = params;
    let reference = existing_reference(app, id)?;
    let (content, redactions) = match format {
        ExportFormat::Jsonl => lines(app, id)?,
        ExportFormat::Md | ExportFormat::Html => {
            let readable = app.engine.transfer().readable(&reference)?;
            let render = if format == ExportFormat::Md { markdown_document } else { html_document };
            (render(&[readable.log], &app.engine.environment().time_zone), readable.redactions)
        }
    };
    let file_name = format!("session-{}.{}", id.to_string().to_lowercase(), format.extension());
    if download {
        return Ok(ApiResponse::file(format.content_type(), &file_name, content));
    }
    ApiResponse::json(&ExportedSessionJson::new(&file_name, format.content_type(), &content, redactions))
}

type ExportedText = (String, Vec<(&'static str, u64)>);

fn lines(app: &ServerState, id: SessionId) -> Result<ExportedText, Failure> {
    let mut content = String::new();
    let report = app.engine.transfer().export::<EngineError>(&[id], &mut |line| {
        content.push_str(line);
        Ok(())
    })?;
    if report.sessions == 0 {
        let failure = Failure::new(FailureKind::Conflict, "a thread has no export of this format");
        return Err(failure.hint(format!("rethread thread export {id}, or format=md")));
    }
    Ok((content, report.redactions))
}
