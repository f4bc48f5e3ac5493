//! The backends that every case runs on, and rows written by hand.

use std::collections::BTreeSet;

use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, Episode, NativeKey, NewEntry, SessionChanges, SessionCounts, SessionKind,
    Timestamp,
};
use rethread_store::{AuthorizedSpace, SessionKey, SessionNumber, SessionUpdate, Store, StoreLocation};
use rethread_testing::{TestPostgres, check_statements, new_space_name};

/// The session that most cases are about.
pub(crate) const KEY: SessionKey<'_> = SessionKey { agent: Agent::Pi, external_id: "s" };

/// Runs a case on each backend. Every call of `open` opens the same store, as another process would.
pub(crate) fn on_each_backend(case: impl Fn(&dyn Fn() -> Store)) {
    check_statements();
    let folder = tempfile::tempdir().unwrap();
    case(&|| Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap());
    if let Some(server) = TestPostgres::shared() {
        let space = AuthorizedSpace::operator(new_space_name().parse().unwrap());
        case(&|| Store::open(&server.location(), space.clone()).unwrap());
    }
}

/// Like [`on_each_backend`], for cases with several spaces: `open` takes the name of one.
pub(crate) fn in_each_space(case: impl Fn(&dyn Fn(&str) -> Store)) {
    check_statements();
    let folder = tempfile::tempdir().unwrap();
    case(&|space| {
        let space = AuthorizedSpace::operator(space.parse().unwrap());
        Store::open(&StoreLocation::in_folder(folder.path()), space).unwrap()
    });
    if let Some(server) = TestPostgres::shared() {
        let location = server.new_database();
        case(&|space| Store::open(&location, AuthorizedSpace::operator(space.parse().unwrap())).unwrap());
    }
}

pub(crate) const fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at)
}

/// An entry of an episode on a line of its own; its time is its position in seconds.
pub(crate) fn entry(session: i64, seq: u64, episode: u64, kind: EntryKind, text: &str) -> NewEntry {
    let key = NativeKey::from_stored(session * 1_000 + seq as i64);
    NewEntry {
        entry: Entry {
            seq,
            native_id: format!("{session}-{seq}"),
            location: EntryLocation { line: 10 * (seq + 1), offset: 100 * seq, length: 100 },
            at: Some(millis(1_000 * seq as i64)),
            kind,
            text: text.to_owned(),
            tool: None,
            episode: Some(episode),
            is_abandoned: false,
        },
        native_key: key,
        line_key: key,
        message_key: None,
        node_key: None,
    }
}

/// Stores a session whose episodes each have these texts: a prompt and answers. Episode N starts at N hours.
pub(crate) fn add_session(
    store: &mut Store,
    key: SessionKey<'_>,
    project: &str,
    episodes: &[&[&str]],
) -> SessionNumber {
    let mut batch = store.begin().unwrap();
    let number = batch.open_session(key.agent, key.external_id).unwrap().number;
    let mut seq = 0;
    let mut changes = SessionChanges::default();
    for (texts, episode) in episodes.iter().zip(1..) {
        let first_seq = seq;
        for (text, place) in texts.iter().zip(0..) {
            let kind = if place == 0 { EntryKind::Prompt } else { EntryKind::AssistantText };
            changes.entries.push(entry(number.get() as i64, seq, episode, kind, text));
            seq += 1;
        }
        let started_at = Some(millis(3_600_000 * episode as i64));
        let id = format!("{}-{episode}", key.external_id);
        changes.closed_episodes.push(Episode {
            id,
            number: episode,
            first_seq,
            last_seq: seq - 1,
            started_at,
            ..Episode::default()
        });
    }
    batch.apply_changes(number, None, &changes, None).unwrap();
    batch.save_session(number, &update(project, episodes.len() as u64)).unwrap();
    batch.commit().unwrap();
    number
}

/// The row of a main session in a project.
pub(crate) fn update(project: &str, episodes: u64) -> SessionUpdate<'_> {
    SessionUpdate {
        kind: SessionKind::Main,
        parent_external_id: None,
        name: Some("a name"),
        cwd: Some(project),
        project: Some(project),
        namespace: None,
        branch: None,
        model: None,
        started_at: Some(millis(0)),
        last_activity_at: Some(millis(3_600_000 * episodes as i64)),
        transcript_path: None,
        counts: SessionCounts { prompts: episodes, episodes, ..SessionCounts::default() },
        kept_tokens: 0,
        is_empty: false,
        assembler_state: "{}",
        bytes_read: 0,
    }
}

/// Positions as a set.
pub(crate) fn seqs(seqs: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
    seqs.into_iter().collect()
}
