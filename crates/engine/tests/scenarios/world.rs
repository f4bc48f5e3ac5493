//! A small world to try the engine in: a home with transcripts, and everything the store holds as one text.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{Engine, Environment, ListRequest, Profile, ShowRequest, SyncReport, SyncRequest};
use rethread_model::{Fact, Space};
use rethread_store::{FactQuery, Store};

pub(crate) const CONVERSATION: &str = include_str!("../../../ingest/tests/fixtures/claude_code/conversation.jsonl");
pub(crate) const SUB_AGENT: &str = include_str!("../../../ingest/tests/fixtures/claude_code/agent-a1b2c3d4.jsonl");
pub(crate) const BRANCHES: &str = include_str!("../../../ingest/tests/fixtures/pi/branches.jsonl");
pub(crate) const VERSION_1: &str = include_str!("../../../ingest/tests/fixtures/pi/version-1.jsonl");
pub(crate) const SESSION: &str = "5e551011-0000-4000-8000-00000000000a";
pub(crate) const CLAUDE_FILE: &str = ".claude/projects/-home-dev-parser/5e551011-0000-4000-8000-00000000000a.jsonl";
pub(crate) const PI_FILE: &str = ".pi/agent/sessions/--home-dev-site--/2026-04-01T10-00-00-000Z_0198a000.jsonl";

pub(crate) struct World {
    pub(crate) home: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn append(&self, path: &str, bytes: impl AsRef<[u8]>) {
        use std::io::Write as _;
        let mut file = fs::OpenOptions::new().append(true).create(true).open(self.at(path)).unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::open(Environment::for_home(self.home.path())).unwrap()
    }

    pub(crate) fn sync(&self) -> SyncReport {
        self.engine().sync(&SyncRequest::default(), &mut |_| {}).unwrap()
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.sync().agents.iter().map(|agent| agent.bytes_read).sum()
    }

    /// What was learned, oldest first, without the time we learned it.
    pub(crate) fn facts(&self) -> String {
        let database = self.at(".rethread/memory.db");
        let store = Store::open(&database, Space::local()).unwrap();
        let mut out = String::new();
        for known in store.facts(&FactQuery::default()).unwrap().iter().rev() {
            let Fact { predicate, subject, object, detail, state, succeeded, failed, line, evidence, .. } = &known.fact;
            let object = object.as_ref().map_or("", |object| object.name.as_str());
            writeln!(
                out,
                "{} | {} | {object} | {} | {detail} | {succeeded}/{failed} | line {line} {evidence:?} of episode {}",
                predicate.as_str(),
                subject.name,
                state.named(*predicate),
                known.episode
            )
            .unwrap();
        }
        out
    }

    /// Everything the store holds, as one text; paths of this world look like those of any other.
    pub(crate) fn dump(&self) -> String {
        let engine = self.engine();
        let request = ListRequest { include_empty: true, include_children: true, ..ListRequest::default() };
        let mut sessions = engine.sessions(&request).unwrap();
        sessions.sort_by(|a, b| a.session.external_id.cmp(&b.session.external_id));
        let mut out = String::new();
        for listed in sessions {
            let show = ShowRequest { profile: Profile::Full, ..ShowRequest::default() };
            let shown = engine.show(&listed.session.id.to_string(), show).unwrap();
            writeln!(out, "{:#?}", listed.session).unwrap();
            for entry in shown.entries {
                writeln!(out, "{entry:?}").unwrap();
            }
            for episode in shown.episodes {
                writeln!(out, "{episode:?}").unwrap();
            }
        }
        out.push_str(&self.facts());
        let report = engine.verify().unwrap();
        assert_eq!(report.damage, vec![], "the store contradicts itself");
        out.replace(&self.home.path().display().to_string(), "~")
    }
}

/// The dump of a fresh world that holds just this file.
pub(crate) fn dump_of(path: &str, bytes: impl AsRef<[u8]>) -> String {
    let world = World::new();
    world.write(path, bytes);
    world.sync();
    world.dump()
}

/// Compares two dumps and shows only the first line that differs: whole dumps are unreadable.
pub(crate) fn assert_same(told: &str, expected: &str) {
    let differing = told.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert_eq!(differing, None);
    assert_eq!(told.lines().count(), expected.lines().count());
}

/// All files below a directory.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files_below(&path)) } else { all.push(path) }
    }
    all
}
