//! API routes, one file per subject.

mod ask;
mod cards;
mod exports;
mod injections;
mod knowledge;
mod logs;
mod members;
mod search;
mod server;
mod sessions;

use rethread_model::SessionId;

use super::{ApiError, Route, ServerState};

/// All routes, in the order of the `OpenAPI` document.
pub(crate) fn routes() -> Vec<Route> {
    let mut all = sessions::routes();
    all.extend(logs::routes());
    all.extend(cards::routes());
    all.extend(exports::routes());
    all.extend(injections::routes());
    all.extend(search::routes());
    all.extend(knowledge::routes());
    all.extend(ask::routes());
    all.extend(members::routes());
    all.extend(server::routes());
    all.push(super::login::api_route());
    all.extend(super::live::api_routes());
    all
}

/// The reference of an existing session, for engine calls that accept any reference: an unknown id must not match a
/// name.
fn existing_reference(app: &ServerState, id: SessionId) -> Result<String, ApiError> {
    Ok(app.engine.conversations().get(id)?.listed.session.id.to_string())
}
