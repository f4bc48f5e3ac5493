//! A temporary home directory with transcripts, the real binary or an engine working in it, and a fixed clock.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rethread_engine::{
    Clock, Engine, Environment, LogProfile, SessionListRequest, SharedStore, ShowRequest, SyncReport, SyncRequest,
};
use rethread_model::{Fact, Timestamp};
use rethread_store::{AuthorizedSpace, FactQuery, OWNER_ONLY_FOLDER, Store, StoreLocation, create_folders};

use crate::backend::new_server_store;
use crate::{ApiClient, TestPostgres, TestServer, check_statements};

/// A home directory that is removed when it is dropped.
pub struct TestHome {
    root: PathBuf,
    home: PathBuf,
    work_dir: PathBuf,
    binary: Option<PathBuf>,
    now: Option<String>,
    /// The store, if it is not the local one.
    store: Option<SharedStore>,
    _temporary: tempfile::TempDir,
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHome {
    /// An empty home for tests that use the engine and not the binary.
    pub fn new() -> Self {
        check_statements();
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let (home, work_dir) = (root.clone(), root.clone());
        Self { root, home, work_dir, binary: None, now: None, store: new_server_store(), _temporary: temporary }
    }

    /// An empty home for tests that run the binary. Pass `env!("CARGO_BIN_EXE_rethread")`: a library crate cannot
    /// know where cargo puts it.
    pub fn with_binary(binary: &str) -> Self {
        Self { binary: Some(PathBuf::from(binary)), ..Self::new() }
    }

    /// Runs the binary from a place of its own, as an installed program. In a build directory it behaves differently.
    #[must_use]
    pub fn install_binary(mut self) -> Self {
        let (built, path) = (self.binary().to_owned(), self.root.join("bin/rethread"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Another thread may start a process at any time. It would inherit a file that we write, and no file can be
        // executed as long as a process has it open for writing. So it is linked, or else copied by another process.
        if fs::hard_link(&built, &path).is_err() {
            assert!(Command::new("cp").arg(&built).arg(&path).status().unwrap().success());
        }
        self.binary = Some(path);
        self
    }

    /// Runs commands in a directory of their own, beside the home and not inside it.
    #[must_use]
    pub fn separate_work_dir(mut self) -> Self {
        self.home = self.root.join("home");
        self.work_dir = self.root.join("desk");
        fs::create_dir_all(&self.home).unwrap();
        fs::create_dir_all(&self.work_dir).unwrap();
        self
    }

    /// Sets the clock of the binary, in RFC 3339. Without this the binary uses the real one.
    #[must_use]
    pub fn frozen_at(mut self, now: &str) -> Self {
        self.now = Some(now.to_owned());
        self
    }

    /// The temporary directory that holds everything of this home.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the home directory. With a store on a server, Rethread's own files are in a folder for that store,
    /// except the configuration; their paths are the same here.
    pub fn path(&self, path: &str) -> PathBuf {
        match (&self.store, path.strip_prefix(".rethread/")) {
            (Some(store), Some(own)) if own != "config.toml" => {
                self.home.join(".rethread").join(store.space_folder_name()).join(own)
            }
            _ => self.home.join(path),
        }
    }

    /// The directory commands are run in.
    pub fn work_dir(&self) -> &Path {
        &self.work_dir
    }

    /// The binary under test.
    pub fn binary(&self) -> &Path {
        self.binary.as_deref().unwrap_or_else(|| panic!("this home was made without a binary"))
    }

    /// Whether `~/.rethread` exists.
    pub fn has_rethread_dir(&self) -> bool {
        self.path(".rethread").exists()
    }

    /// Writes a file below the home directory.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        create_folders(path.parent().unwrap(), OWNER_ONLY_FOLDER).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Appends to a file below the home directory, and creates it if needed.
    pub fn append(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        create_folders(path.parent().unwrap(), OWNER_ONLY_FOLDER).unwrap();
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    /// A file below the home directory, as text.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// The events of our own log, oldest first.
    pub fn log_events(&self) -> Vec<serde_json::Value> {
        let files = crate::files_below(&self.path(".rethread/logs"));
        let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The binary.
impl TestHome {
    /// The binary with these arguments and nothing of this machine's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary());
        command.args(arguments);
        self.isolate(&mut command);
        command
    }

    /// Gives any command this home instead of this machine's environment.
    pub fn isolate(&self, command: &mut Command) {
        command.current_dir(&self.work_dir).env_clear().env("HOME", &self.home).env("TZ", "UTC");
        if let Some(now) = &self.now {
            command.env("RETHREAD_NOW", now);
        }
    }

    /// Runs the binary to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the binary and requires that it succeeds; returns stdout.
    pub fn run_ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the binary with `input` on standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Output {
        feed(self.command(arguments), input)
    }

    /// Runs the binary; exit code and both streams as one text, without what differs from run to run.
    pub fn snapshot(&self, arguments: &[&str]) -> String {
        self.snapshot_of(&self.run(arguments))
    }

    /// The same for a command that has already run.
    pub fn snapshot_of(&self, output: &Output) -> String {
        crate::snapshot::normalize(output, self.binary(), &self.root)
    }

    /// The API token of this home.
    pub fn token(&self) -> String {
        self.run_ok(&["token"]).trim().to_owned()
    }

    /// Starts `rethread serve` on a free port.
    pub fn serve(&self, arguments: &[&str]) -> TestServer {
        TestServer::start(self, arguments)
    }

    /// A client of a server that sends another token.
    pub fn client_with_token(&self, server: &TestServer, token: &str) -> ApiClient {
        ApiClient::new(server, token)
    }

    /// A client of a server of this home that sends the token.
    pub fn client(&self, server: &TestServer) -> ApiClient {
        ApiClient::new(server, &self.token())
    }
}

/// The engine.
impl TestHome {
    /// The environment of an engine in this home.
    pub fn environment(&self) -> Environment {
        Environment { store: self.store.clone(), ..Environment::for_home(&self.home) }
    }

    /// The same with settings, as from the command line.
    fn environment_with(&self, settings: &[(&str, &str)]) -> Environment {
        let mut environment = self.environment();
        environment
            .config_overrides
            .extend(settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        environment
    }

    /// An engine in this home.
    pub fn engine(&self) -> Engine {
        Engine::open(self.environment()).unwrap()
    }

    /// An engine with settings, as from the command line.
    pub fn engine_with(&self, settings: &[(&str, &str)]) -> Engine {
        Engine::open(self.environment_with(settings)).unwrap()
    }

    /// An engine whose clock stands still.
    pub fn engine_at(&self, now: Timestamp) -> Engine {
        Engine::open(Environment { clock: Clock::Frozen(now), ..self.environment() }).unwrap()
    }

    /// Reads everything that is new.
    pub fn sync(&self) -> SyncReport {
        self.engine().sync().run(&SyncRequest::default(), &mut |_| {}).unwrap()
    }

    /// Reads everything that is new; how many bytes that was.
    pub fn bytes_read(&self) -> u64 {
        self.sync().agents.iter().map(|agent| agent.bytes_read).sum()
    }

    /// The store, opened beside the engine.
    pub fn store(&self) -> Store {
        let (location, space) = match &self.store {
            Some(shared) => (shared.location.clone(), shared.space.clone()),
            None => (StoreLocation::in_folder(&self.path(".rethread")), AuthorizedSpace::local()),
        };
        Store::open(&location, space).unwrap()
    }

    /// Everything that the database holds of this home: the bytes of its files, or its rows on a server.
    pub fn stored_bytes(&self) -> Vec<u8> {
        if let Some(shared) = &self.store {
            return TestPostgres::shared().unwrap().rows_of(shared.space.space().as_str()).into_bytes();
        }
        let files = ["memory.db", "memory.db-wal"].map(|name| self.path(".rethread").join(name));
        files.iter().flat_map(|file| fs::read(file).unwrap_or_default()).collect()
    }

    /// All facts as text, oldest first, without the time they were extracted at.
    pub fn facts(&self) -> String {
        let mut out = String::new();
        for known in self.store().facts(&FactQuery::default()).unwrap().iter().rev() {
            let Fact {
                predicate,
                subject,
                object,
                detail,
                state,
                success_count: succeeded,
                failure_count: failed,
                line,
                evidence_lines: evidence,
                ..
            } = &known.fact;
            let object = object.as_ref().map_or("", |object| object.name.as_str());
            writeln!(
                out,
                "{} | {} | {object} | {} | {detail} | {succeeded}/{failed} | line {line} {evidence:?} of episode {}",
                predicate.as_str(),
                subject.name,
                state.display_name(*predicate),
                known.episode
            )
            .unwrap();
        }
        out
    }

    /// Everything the store holds as one text, with paths that are the same for every home. Also checks that the
    /// store is consistent.
    pub fn dump(&self) -> String {
        let engine = self.engine();
        let request =
            SessionListRequest { include_empty: true, include_children: true, ..SessionListRequest::default() };
        let mut sessions = engine.sessions().list(&request).unwrap();
        sessions.sort_by(|a, b| a.session.external_id.cmp(&b.session.external_id));
        let mut out = String::new();
        for listed in sessions {
            let show = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
            let shown = engine.sessions().show(&listed.session.id.to_string(), show).unwrap();
            writeln!(out, "{:#?}", listed.session).unwrap();
            for entry in shown.entries {
                writeln!(out, "{entry:?}").unwrap();
            }
            for episode in shown.episodes {
                writeln!(out, "{episode:?}").unwrap();
            }
        }
        out.push_str(&self.facts());
        let report = engine.maintenance().verify().unwrap();
        assert_eq!(report.damage, vec![], "the store is inconsistent");
        out.replace(&self.root.display().to_string(), "~")
    }
}

/// The dump of a fresh home that holds only this file.
pub fn dump_of(path: &str, bytes: impl AsRef<[u8]>) -> String {
    let home = TestHome::new();
    home.write(path, bytes);
    home.sync();
    home.dump()
}

/// Compares two dumps and shows only the first line that differs: whole dumps are too long to read.
pub fn assert_same_dump(actual: &str, expected: &str) {
    let difference = actual.lines().zip(expected.lines()).find(|(actual, expected)| actual != expected);
    assert_eq!(difference, None);
    assert_eq!(actual.lines().count(), expected.lines().count());
}

/// Runs a command with `input` on standard input. A command that stops reading early is not an error.
fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(input));
        child.wait_with_output().unwrap()
    })
}
