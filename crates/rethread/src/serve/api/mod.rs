//! The routes of the API, one file for each subject.

mod health;

use super::Route;

/// All routes.
pub(crate) fn routes() -> Vec<Route> {
    let mut all = health::routes();
    all.push(super::login::row());
    all.extend(super::live::rows());
    all
}
