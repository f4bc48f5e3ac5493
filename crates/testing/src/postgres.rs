//! A PostgreSQL server for tests: started once per process, stopped with it. Tests share its database, each with a space
//! of its own, so that they also run on a server that is kept.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rethread_store::StoreLocation;

/// Points tests at a server that runs already: the address of an empty database, or one of an earlier test.
const SERVER_VARIABLE: &str = "RETHREAD_TEST_PG";
/// Set where a missing PostgreSQL is an error, such as in CI.
const REQUIRED_VARIABLE: &str = "RETHREAD_REQUIRE_PG";
/// An account without rights, for a server that refuses to run as root.
const UNPRIVILEGED_ID: u32 = 65_534;
/// Every table whose rows belong to a space.
const TABLES_OF_SPACES: &str =
    "SELECT table_name::text FROM information_schema.columns WHERE column_name = 'space' AND table_schema = 'public'";
/// Orders texts unlike SQLite does, so that all tests show that the schema does not depend on it. Not all versions can.
const DICTIONARY_ORDER: [&str; 2] = ["--locale-provider=icu", "--icu-locale=en"];
const FAKE_CITUS: &str = include_str!("fake_citus.sql");
const START_LIMIT: Duration = Duration::from_mins(1);
/// Stops the server when the process that holds the other end of the pipe is gone, however it ended.
const KEEPER: &str = r#"
    "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=200 -c shared_buffers=64MB \
        -c autovacuum_naptime=5s >"$2/log" 2>&1 &
    read -r _
    kill -QUIT $! 2>/dev/null
    wait
    rm -rf "$2"
"#;

/// A server for tests.
#[derive(Debug)]
pub struct TestPostgres {
    url: String,
    /// Holds the pipe that keeps the server alive.
    _keeper: Option<Child>,
}

impl TestPostgres {
    /// The server of this process; `None`, with a loud message, where PostgreSQL is not installed.
    ///
    /// # Panics
    /// If it cannot be started, or is required and not installed.
    pub fn shared() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<TestPostgres>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    /// The address of its database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The store in its database, with the schema.
    pub fn location(&self) -> StoreLocation {
        static LOCATION: OnceLock<StoreLocation> = OnceLock::new();
        let open = || {
            let location = StoreLocation::at_url(&self.url, None, Some(64)).unwrap();
            location.migrate().unwrap();
            location
        };
        LOCATION.get_or_init(open).clone()
    }

    /// A store in a new database, for tests that are about all of its spaces.
    pub fn new_database(&self) -> StoreLocation {
        let location = StoreLocation::at_url(&self.new_database_url(), None, Some(8)).unwrap();
        location.migrate().unwrap();
        location
    }

    /// A checksum of the rows of each table that a space has in the shared database, without what requests always
    /// change: the audit, and when tokens were used.
    pub fn contents(&self, space: &str) -> BTreeMap<String, String> {
        let mut client = self.connect();
        let tables = client.query(
            "SELECT table_name::text FROM information_schema.columns
            WHERE column_name = 'space' AND table_schema = current_schema()",
            &[],
        );
        let tables = tables.unwrap().into_iter().map(|row| row.get::<_, String>(0));
        let tables = tables.filter(|table| !["audit", "counter", "committed_writer"].contains(&table.as_str()));
        let mut checksum = |table: &str| -> String {
            let row = "(to_jsonb(t) - 'last_used_at')::text";
            let sql = format!(
                "SELECT coalesce(md5(string_agg({row}, '|' ORDER BY {row})), '') FROM {table} t WHERE space = $1"
            );
            client.query_one(&sql, &[&space]).unwrap().get(0)
        };
        tables.map(|table| (table.clone(), checksum(&table))).collect()
    }

    /// The address of a new, empty database.
    pub fn new_database_url(&self) -> String {
        let name = new_space_name().replace('-', "_");
        self.run_sql(&format!("CREATE DATABASE {name}"));
        self.url_of(&name)
    }

    /// Makes a database look as if it had Citus, for tests of what we ask of it.
    pub fn add_fake_citus(url: &str) {
        postgres::Client::connect(url, postgres::NoTls).unwrap().batch_execute(FAKE_CITUS).unwrap();
    }

    /// The address of another database of the server.
    pub fn url_of(&self, database: &str) -> String {
        let (before, query) = self
            .url
            .split_once('?')
            .map_or((self.url(), String::new()), |(before, query)| (before, format!("?{query}")));
        let (scheme, rest) = before.split_once("://").unwrap();
        let host = rest.split('/').next().unwrap_or_default();
        format!("{scheme}://{host}/{database}{query}")
    }

    /// Runs statements in its database.
    pub fn run_sql(&self, sql: &str) {
        self.connect().batch_execute(sql).unwrap();
    }

    /// A connection to its database.
    pub fn connect(&self) -> postgres::Client {
        postgres::Client::connect(&self.url, postgres::NoTls).unwrap()
    }

    /// All rows of a space as text, one per line.
    pub fn rows_of(&self, space: &str) -> String {
        let mut client = self.connect();
        // Bytes that are text stay readable.
        client.batch_execute("SET bytea_output = 'escape'").unwrap();
        let mut rows = String::new();
        for table in client.query(TABLES_OF_SPACES, &[]).unwrap() {
            let table: &str = table.get(0);
            for row in client.query(&format!("SELECT t::text FROM {table} t WHERE space = $1"), &[&space]).unwrap() {
                rows.push_str(row.get(0));
                rows.push('\n');
            }
        }
        rows
    }

    fn start() -> Option<Self> {
        if let Ok(url) = std::env::var(SERVER_VARIABLE) {
            return Some(Self { url, _keeper: None });
        }
        let Some(programs) = find_programs() else {
            assert!(
                std::env::var_os(REQUIRED_VARIABLE).is_none(),
                "{REQUIRED_VARIABLE} is set, but PostgreSQL is not installed"
            );
            // Past the test harness, which would hide it.
            let _ = writeln!(
                std::io::stderr(),
                "\n*** SKIPPED: tests on PostgreSQL. Install it (initdb and postgres), or set {SERVER_VARIABLE}. ***\n"
            );
            return None;
        };
        Some(Self::start_own(&programs))
    }

    fn start_own(programs: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("rethread-pg-").tempdir().unwrap().keep();
        let is_root = folder.metadata().unwrap().uid() == 0;
        if is_root {
            chown(&folder, Some(UNPRIVILEGED_ID), Some(UNPRIVILEGED_ID)).unwrap();
        }
        let unprivileged = |program: &Path| {
            let mut command = Command::new(program);
            if is_root {
                command.uid(UNPRIVILEGED_ID).gid(UNPRIVILEGED_ID);
            }
            command.current_dir(&folder).env("LC_ALL", "C.UTF-8");
            command
        };
        let initdb = |collation: &[&str]| {
            unprivileged(&programs.join("initdb"))
                .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--username=rethread"])
                .args(collation)
                .arg("-D")
                .arg(folder.join("data"))
                .output()
                .unwrap()
        };
        let mut created = initdb(&DICTIONARY_ORDER);
        if !created.status.success() {
            created = initdb(&[]);
        }
        assert!(created.status.success(), "initdb: {}", String::from_utf8_lossy(&created.stderr));
        let keeper = unprivileged(Path::new("/bin/sh"))
            .args(["-c", KEEPER, "sh"])
            .args([programs, &folder])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let url = format!("postgres:///postgres?host={}&user=rethread", folder.display());
        wait_for_server(&url, &folder);
        Self { url, _keeper: Some(keeper) }
    }
}

/// A name for a space that no other test uses, also not on a server that is kept.
pub fn new_space_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("test-{:x}-{}-{}", now.as_nanos(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn wait_for_server(url: &str, folder: &Path) {
    let start = Instant::now();
    loop {
        let migrated = StoreLocation::at_url(url, None, Some(2)).unwrap().migrate();
        let Err(error) = migrated else { return };
        if start.elapsed() > START_LIMIT {
            let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            panic!("the server did not start: {error:?}\n{log}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The folder with `initdb` and `postgres`: of the newest version that is installed.
fn find_programs() -> Option<PathBuf> {
    let has_both = |folder: &PathBuf| folder.join("initdb").exists() && folder.join("postgres").exists();
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&on_path).find(has_both);
    let installed = || {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let mut folders: Vec<PathBuf> = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
        folders.retain(has_both);
        folders.sort();
        folders.pop()
    };
    on_path.or_else(installed)
}
