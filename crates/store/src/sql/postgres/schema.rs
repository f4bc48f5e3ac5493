//! Creates and migrates the schema of a database, and refuses one that is newer or older than the program.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::error::PostgresError;
use super::pool::{PooledClient, Server};
use crate::sql::schema::MIGRATIONS;

/// How long a version is trusted: a running node notices within this time that another one migrated the database.
const TRUST_VERSION: Duration = Duration::from_secs(1);
/// A number that no other program uses: one process migrates a database at a time.
const MIGRATION_LOCK: i64 = 0x7265_7468_7265_6164;

const CREATE_VERSION: &str = "CREATE TABLE schema_version (version BIGINT NOT NULL)";
const HAS_VERSION: &str = "SELECT to_regclass('schema_version') IS NOT NULL";
const READ_VERSION: &str = "SELECT version FROM schema_version";

impl Server {
    /// The version of the schema; 0 for a database without one.
    pub(crate) fn schema_version(&self) -> Result<i64, PostgresError> {
        let known = *self.schema.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, at)) = known
            && at.elapsed() < TRUST_VERSION
        {
            return Ok(version);
        }
        let mut attempts = 0;
        let version = loop {
            let mut client = self.checkout()?;
            attempts += 1;
            let read = read_version(&mut client);
            let is_lost = matches!(&read, Err(error) if error.is_lost_connection());
            self.give_back(client, !is_lost);
            if !is_lost || attempts > self.pool_status().limit {
                break read?;
            }
        };
        *self.schema.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, Instant::now()));
        Ok(version)
    }

    /// Creates or migrates the schema in one transaction. Returns the version before.
    pub(crate) fn migrate(&self) -> Result<i64, PostgresError> {
        let mut client = self.checkout()?;
        let migrated = run_migrations(&mut client);
        let is_usable = migrated.is_ok() || client.client.batch_execute("ROLLBACK").is_ok();
        self.give_back(client, is_usable);
        *self.schema.lock().unwrap_or_else(PoisonError::into_inner) = None;
        migrated
    }
}

fn run_migrations(client: &mut PooledClient) -> Result<i64, PostgresError> {
    // Citus changes all parts of a table on one connection then, so that steps can follow each other. PostgreSQL ignores
    // the setting.
    client.client.batch_execute("BEGIN; SET LOCAL citus.multi_shard_modify_mode = 'sequential'")?;
    client.client.execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK])?;
    let before = read_version(client)?;
    if before == 0 {
        client.client.batch_execute(CREATE_VERSION)?;
        client.client.batch_execute("INSERT INTO schema_version (version) VALUES (0)")?;
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > before) {
        client.client.batch_execute(migration.postgres)?;
        client.client.execute("UPDATE schema_version SET version = $1", &[&migration.version])?;
    }
    client.client.batch_execute("COMMIT")?;
    Ok(before)
}

fn read_version(client: &mut PooledClient) -> Result<i64, PostgresError> {
    if !client.client.query_one(HAS_VERSION, &[])?.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    Ok(client.client.query_opt(READ_VERSION, &[])?.map_or(Ok(0), |row| row.try_get(0))?)
}
