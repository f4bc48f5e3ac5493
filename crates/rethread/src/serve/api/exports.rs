//! A session as a file: for `rethread import`, or to read.

use rethread_model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli::transfer::ExportFormat;
use crate::export::{export_file_name, export_sessions};
use crate::failure::{Failure, FailureKind};
use crate::json::ExportedSessionJson;
use crate::serve::params::{ChoiceParam, NamedChoice};
use crate::serve::route::ApiResult;
use crate::serve::{ApiResponse, Route, ServerState};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get_for_session::<ExportParams, ExportedSessionJson<'_>>(
        "/api/sessions/{id}/export",
        "Export a session with its sub-agents as a file. `jsonl` is for `rethread import`, `md` and `html` are for reading. \
         Secrets are redacted again; `redactions` counts them. With `download` the answer is the file itself. 409 if a \
         thread is asked for as `jsonl`: use its log instead.",
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
    let session = app.engine.conversations().get(id)?.listed.session;
    let engine = &app.engine;
    let mut content = String::new();
    let mut write = |text: &str| {
        content.push_str(text);
        Ok(())
    };
    let exported = export_sessions(engine, &engine.environment().time_zone, &[id], format, &mut write)?;
    if exported.sessions == 0 {
        let failure = Failure::new(FailureKind::Conflict, "threads cannot be exported as jsonl");
        return Err(failure.hint(format!("rethread thread export {id}, or format=md")).into());
    }
    let file_name = export_file_name(&session, format);
    if download {
        return Ok(ApiResponse::file(format.content_type(), &file_name, content));
    }
    ApiResponse::json(&ExportedSessionJson::new(&file_name, format.content_type(), &content, exported.redactions))
}
