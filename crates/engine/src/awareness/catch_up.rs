//! Reads what is new in the transcripts of a project, including sessions that no sync and no hook has seen yet.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_ingest::agents::format_of;
use rethread_ingest::source::file::FileStamp;
use rethread_ingest::source::{self, ProjectPlaces, SourceConfig, TranscriptFile, aliases};
use rethread_model::{Agent, Timestamp};
use rethread_store::{ReadStore, Store, TranscriptRow};

use super::caller::Caller;
use super::other_sessions::ACTIVE_WINDOW_MILLIS;
use crate::EngineError;
use crate::awareness::AwarenessService;
use crate::sync::{fingerprint, save_aliases};

/// Most bytes that are read while an agent waits, newest transcripts first.
const MAX_BYTES: u64 = 4 << 20;
/// What a new session of unknown size counts.
const ASSUMED_BYTES: u64 = 256 << 10;

impl AwarenessService<'_> {
    /// Reads new lines of the transcripts of a project that changed within the last day. Returns whether that was
    /// everything that may be read; a sync has to read the rest. One unreadable transcript does not affect the others.
    pub(super) fn catch_up(
        self,
        store: &mut Store,
        project: &str,
        caller: Option<&Caller>,
        now: Timestamp,
    ) -> Result<bool, EngineError> {
        if !self.engine.environment.syncs_unasked {
            return Ok(true);
        }
        let alias_folders = caller.map_or_else(Vec::new, |caller| aliases::alias_folders(&caller.cwd));
        let mut changed = self.changed_transcripts(store, project, caller, &alias_folders, now)?;
        changed.sort_by_key(|(found, _)| std::cmp::Reverse(found.stamp.mtime));
        let (mut paths, mut bytes): (HashMap<Agent, Vec<PathBuf>>, u64) = (HashMap::new(), 0);
        let mut is_complete = true;
        for (found, unread) in changed {
            if bytes + unread > MAX_BYTES {
                is_complete = false;
                continue;
            }
            bytes += unread;
            paths.entry(found.agent).or_default().push(found.path);
        }
        for (agent, paths) in paths {
            self.engine.sync().files_with(store, agent, &paths)?;
        }
        save_aliases(store, &alias_folders)?;
        Ok(is_complete)
    }

    /// The transcripts of a project that differ from what is stored of them, with the number of bytes to read.
    fn changed_transcripts(
        self,
        store: &ReadStore,
        project: &str,
        caller: Option<&Caller>,
        alias_folders: &[PathBuf],
        now: Timestamp,
    ) -> Result<Vec<(TranscriptFile, u64)>, EngineError> {
        let since = Timestamp::from_millis(now.as_millis() - ACTIVE_WINDOW_MILLIS);
        let mut places = ProjectPlaces::new(Path::new(project));
        if let Some(caller) = caller {
            places.add_work_dir(&caller.cwd);
        }
        // An agent may be configured to use any folder.
        let own_folder = caller.and_then(|caller| caller.transcript.as_deref()?.parent());
        let inside_projects: Vec<(Agent, PathBuf)> =
            alias_folders.iter().filter_map(|folder| aliases::transcripts_folder(folder)).collect();
        let source_config = self.engine.source_config();
        let mut found = Vec::new();
        let is_settled = |path: &Path, stamp| {
            let row = store.transcript(&path.to_string_lossy()).ok().flatten();
            row.is_some_and(|row| row.session.is_none() && row.fingerprint == fingerprint(stamp))
        };
        // Our own threads are read by the commands that write them.
        for agent in self.engine.sync().agents_to_read(None).into_iter().filter(|agent| *agent != Agent::Native) {
            let is_caller = caller.is_some_and(|caller| caller.agent == agent);
            let is_in_project = inside_projects.iter().any(|(owner, _)| *owner == agent);
            if !is_caller && !is_in_project && !may_have_sessions(agent, &source_config) {
                continue;
            }
            let mut places = places.clone();
            if let Some(folder) = own_folder.filter(|_| is_caller) {
                places.add_folder(folder);
            }
            for (_, folder) in inside_projects.iter().filter(|(owner, _)| *owner == agent) {
                places.add_folder(folder);
            }
            let since = since.as_millis().saturating_mul(1_000_000);
            found.extend(places.transcripts(agent, &source_config, since, &is_settled));
        }
        let mut known: HashSet<PathBuf> = found.iter().map(|found| found.path.clone()).collect();
        let store = store.snapshot()?;
        for active in store.active_sessions(project, since)? {
            let Some(path) = active.session.transcript.map(PathBuf::from) else { continue };
            if known.insert(path.clone())
                && let Some(stamp) = source::stamp(active.session.agent, &path)
            {
                found.push(TranscriptFile { agent: active.session.agent, path, stamp });
            }
        }
        let mut changed = Vec::new();
        for found in found.into_iter().filter(|found| found.stamp.size > 0) {
            let row = store.transcript(&found.path.to_string_lossy())?;
            if row.as_ref().is_none_or(|row| row.fingerprint != fingerprint(found.stamp)) {
                let unread = unread_bytes(row.as_ref(), found.stamp);
                changed.push((found, unread));
            }
        }
        Ok(changed)
    }
}

/// Whether an agent is worth a look while another one waits: most were never used on this machine.
fn may_have_sessions(agent: Agent, source_config: &SourceConfig) -> bool {
    source_config.extra_roots.iter().any(|(owner, _)| *owner == agent)
        || (format_of(agent).home)(source_config).is_dir()
}

/// How much of a transcript was not read yet. All of it, if it became shorter. The size of a session in a database is
/// not known.
fn unread_bytes(row: Option<&TranscriptRow>, stamp: FileStamp) -> u64 {
    match row {
        None if !stamp.has_known_size() => ASSUMED_BYTES,
        _ => row.and_then(|row| stamp.size.checked_sub(row.cursor.offset)).unwrap_or(stamp.size),
    }
}
