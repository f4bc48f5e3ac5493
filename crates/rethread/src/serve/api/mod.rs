//! The routes of the API, one file for each subject.

mod ask;
mod cards;
mod home;
mod knowledge;
mod logs;
mod search;
mod sessions;
mod telling;

use rethread_model::SessionId;

use super::{App, Refusal, Route};

/// All routes, in the order the document tells them.
pub(crate) fn routes() -> Vec<Route> {
    let mut all = sessions::routes();
    all.extend(logs::routes());
    all.extend(cards::routes());
    all.extend(telling::routes());
    all.extend(search::routes());
    all.extend(knowledge::routes());
    all.extend(ask::routes());
    all.extend(home::routes());
    all.push(super::login::row());
    all.extend(super::live::rows());
    all
}

/// A session by its id, for verbs that take any reference: an id that is nobody's is not looked for elsewhere.
fn known(app: &App, id: SessionId) -> Result<String, Refusal> {
    Ok(app.engine.conversation(id)?.listed.session.id.to_string())
}
