//! Spreads the tables over the nodes of Citus: by space, all in one group, so that a space is on one node.

use postgres::error::SqlState;

use super::error::PostgresError;
use super::pool::{PooledClient, Server};

/// The table that the others are placed with.
const FIRST_TABLE: &str = "counter";

const HAS_CITUS: &str = "SELECT to_regclass('pg_dist_partition') IS NOT NULL
    AND EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table')";
/// `h` is distributed by hash; `n` with `t` is a reference table.
const TABLES: &str = "SELECT c.relname::text AS name,
    EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'space' AND NOT a.attisdropped) AS has_space,
    EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid AND p.partmethod = 'h') AS is_distributed,
    EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid AND p.partmethod = 'n' AND p.repmodel = 't') AS is_reference
    FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(current_schema()) AND c.relname = ANY($1)
    ORDER BY c.relname <> $2, c.relname";

/// How Citus stores a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablePlacement {
    /// Split by space.
    BySpace,
    /// A copy on every node.
    OnEveryNode,
}

/// A table that Citus stores, or will store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitusTable {
    /// Its name.
    pub name: String,
    /// Where its rows are.
    pub placement: TablePlacement,
    /// Whether it was like that before.
    pub was_placed: bool,
    /// The statement that does it.
    pub sql: String,
}

/// Why tables could not be distributed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlacementError {
    #[error("the database has no Citus extension")]
    NoCitus,
    #[error("not permitted to distribute the table {table:?}")]
    NotPermitted { table: String },
    #[error(transparent)]
    Driver(#[from] PostgresError),
}

impl Server {
    /// Places each table that is not placed yet, one after the other, and shows it; with `is_dry_run`, only shows it.
    pub(crate) fn distribute(
        &self,
        tables: &[String],
        is_dry_run: bool,
        show: &mut dyn FnMut(&CitusTable),
    ) -> Result<(), PlacementError> {
        let mut client = self.checkout()?;
        let done = distribute_all(&mut client, tables, is_dry_run, show);
        self.give_back(client, done.is_ok());
        done
    }
}

fn distribute_all(
    client: &mut PooledClient,
    tables: &[String],
    is_dry_run: bool,
    show: &mut dyn FnMut(&CitusTable),
) -> Result<(), PlacementError> {
    let has_citus = client.client.query_one(HAS_CITUS, &[]).map_err(PostgresError::from)?;
    if !has_citus.try_get::<_, bool>(0).map_err(PostgresError::from)? {
        return Err(PlacementError::NoCitus);
    }
    for table in citus_tables(client, tables)? {
        if !table.was_placed && !is_dry_run {
            client.client.batch_execute(&table.sql).map_err(|cause| refused(&table.name, cause))?;
        }
        show(&table);
    }
    Ok(())
}

fn refused(table: &str, cause: postgres::Error) -> PlacementError {
    match cause.code() {
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            PlacementError::NotPermitted { table: table.to_owned() }
        }
        _ => PostgresError::from(cause).into(),
    }
}

/// The tables, the first one first.
fn citus_tables(client: &mut PooledClient, names: &[String]) -> Result<Vec<CitusTable>, PostgresError> {
    let rows = client.client.query(TABLES, &[&names, &FIRST_TABLE])?;
    let table = |row: &postgres::Row| {
        let name: String = row.try_get("name")?;
        let has_space: bool = row.try_get("has_space")?;
        let placement = if has_space { TablePlacement::BySpace } else { TablePlacement::OnEveryNode };
        let was_placed = row.try_get(if has_space { "is_distributed" } else { "is_reference" })?;
        let sql = placement.sql(&name);
        Ok(CitusTable { name, placement, was_placed, sql })
    };
    rows.iter().map(table).collect()
}

impl TablePlacement {
    /// Both statements in one transaction. Without the second one, the rows from before stay on the coordinator, where
    /// nothing would ever forget them.
    fn sql(self, table: &str) -> String {
        let place = match self {
            Self::BySpace if table == FIRST_TABLE => {
                format!("SELECT create_distributed_table('{table}', 'space', colocate_with => 'none')")
            }
            Self::BySpace => {
                format!("SELECT create_distributed_table('{table}', 'space', colocate_with => '{FIRST_TABLE}')")
            }
            Self::OnEveryNode => format!("SELECT create_reference_table('{table}')"),
        };
        format!("{place}; SELECT truncate_local_data_after_distributing_table('{table}')")
    }
}
