//! The driver for PostgreSQL: connections, statements, transactions, the catalog.
//!
//! Only stores with the address of a server use it; the local store never does.

mod address;
mod catalog;
mod deferred;
mod distribute;
mod error;
mod listen;
mod load;
mod outage;
mod pool;
mod schema;
mod session;
mod statements;
mod tls;
mod transaction;
mod values;

pub use address::InvalidStoreUrl;
pub(crate) use address::{ServerAddress, has_password, is_server_url};
pub(crate) use distribute::PlacementError;
pub use distribute::{CitusTable, TablePlacement};
pub use error::PostgresError;
pub use pool::PoolStatus;
pub(crate) use pool::Server;
pub(crate) use session::PostgresSession;
pub(crate) use statements::Arguments;
pub(crate) use transaction::{COMMIT_COUNTER, PostgresTransaction};
