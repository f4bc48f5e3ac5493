//! The store that the homes of a test binary use: a local file, or a space of its own on PostgreSQL.

use std::sync::OnceLock;

use rethread_engine::SharedStore;
use rethread_model::Timestamp;
use rethread_store::{AuthorizedSpace, Store};

use crate::{TestPostgres, new_space_name};

/// A test binary with a name that ends like this runs its tests on PostgreSQL.
const SERVER_SUFFIX: &str = "_postgres";

/// Whether the homes of this test binary have their store on a server.
pub fn uses_server_store() -> bool {
    static USES_SERVER: OnceLock<bool> = OnceLock::new();
    *USES_SERVER.get_or_init(|| {
        let program = std::env::current_exe().unwrap();
        let name = program.file_stem().unwrap().to_str().unwrap();
        // Cargo adds a hash.
        name.rsplit_once('-').map_or(name, |(name, _)| name).ends_with(SERVER_SUFFIX)
    })
}

/// Whether to leave out a test, or a part of one, because it is about what only the local store has. `reason` says
/// what.
pub fn skips_server_store(reason: &str) -> bool {
    assert!(!reason.is_empty());
    uses_server_store()
}

/// A new space for a home, created as its operator would; `None` for a home with a local store. Ends the test binary
/// where PostgreSQL is missing: without a test that would count as passed.
#[expect(clippy::exit, reason = "the test harness has no other way to skip")]
pub(crate) fn new_server_store() -> Option<SharedStore> {
    if !uses_server_store() {
        return None;
    }
    let Some(server) = TestPostgres::shared() else { std::process::exit(0) };
    let (location, space) = (server.location(), AuthorizedSpace::operator(new_space_name().parse().unwrap()));
    Store::open(&location, space.clone()).unwrap().create_space(Timestamp::default()).unwrap();
    Some(SharedStore { location, space })
}
