//! Whether the server is well.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::SCHEMA;
use crate::serve::route::{Nothing, Outcome};
use crate::serve::{Answer, App, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get::<Nothing, Healthy>("/api/health", "Whether the server answers", health)]
}

/// It answers, so it is well.
#[derive(Serialize, JsonSchema)]
struct Healthy {
    schema: u8,
    status: &'static str,
    version: &'static str,
}

fn health(_: &App, _: Nothing) -> Outcome {
    Answer::json(&Healthy { schema: SCHEMA, status: "ok", version: env!("CARGO_PKG_VERSION") })
}
