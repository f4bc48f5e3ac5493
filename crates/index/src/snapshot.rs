//! A consistent view of the index, together with stored entries that are not indexed yet.

use std::path::Path;
use std::sync::OnceLock;

use rethread_store::{FeedCursor, ReadStore, StoreHead};
use tantivy::{Index, ReloadPolicy};

use crate::document::{self, IndexChange};
use crate::error::IndexError;
use crate::open::open_to_read;
use crate::payload::{CommitPayload, IndexProblem};
use crate::schema;
use crate::segment::IndexSegment;
use crate::session_fields::SessionFields;
use crate::unindexed::UnindexedSegment;

/// Everything that can be searched, as of one point in time.
#[derive(Debug)]
pub struct IndexSnapshot {
    segments: Vec<IndexSegment>,
    session_fields: OnceLock<SessionFields>,
    /// The state of the store that it shows.
    head: StoreHead,
    /// The change up to which the segments on disk go; 0 without an index.
    indexed_change: i64,
}

/// How far the index is behind the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexLag {
    /// Up to date.
    None,
    /// Number of entries that are not indexed yet. Searches read them from the store.
    Entries(u64),
    /// The index cannot be used.
    Unusable(IndexProblem),
}

/// How far the index in a folder is behind the store. Counting stops at `enough` entries.
pub fn index_lag(folder: &Path, store: &ReadStore, enough: u64) -> Result<IndexLag, IndexError> {
    let head = store.head()?;
    Ok(match CommitPayload::load(folder).and_then(|payload| payload.check_store(head)) {
        Ok(payload) if payload.change == head.change => IndexLag::None,
        Ok(payload) => IndexLag::Entries(store.count_changed_entries(payload.change, enough)?),
        Err(why) => IndexLag::Unusable(why),
    })
}

/// The change up to which the index in a folder goes; `None` if it cannot be used.
pub fn indexed_change(folder: &Path, head: StoreHead) -> Option<i64> {
    CommitPayload::load(folder).and_then(|payload| payload.check_store(head)).ok().map(|payload| payload.change)
}

impl IndexSnapshot {
    /// Opens the index. Entries that are not indexed yet are read from the store.
    pub fn open(folder: &Path, store: &ReadStore) -> Result<Self, IndexError> {
        let index = open_to_read(folder)?;
        // The payload is read before the segments. If a commit happens in between, its entries are also read from the
        // store, and their copies in the index are hidden.
        let payload =
            CommitPayload::from_index(&index).map_err(|_| damaged_index("the commit has no valid payload"))?;
        let mut snapshot = Self::from_index(index, payload.head())?;
        if store.head()? != snapshot.head && !snapshot.read_changes(store)? {
            return Err(damaged_index("the store went back to an earlier state while its index was opened"));
        }
        Ok(snapshot)
    }

    /// Opens the index for time-critical callers: entries that are not indexed are read from the store if there are at most
    /// `little` of them, and skipped otherwise. `None` if the index cannot be used.
    pub fn open_bounded(folder: &Path, store: &ReadStore, little: u64) -> Result<Option<Self>, IndexError> {
        if !folder.join("meta.json").exists() {
            return Ok(None);
        }
        let index = open_to_read(folder)?;
        let head = store.head()?;
        let Ok(payload) = CommitPayload::from_index(&index).and_then(|payload| payload.check_store(head)) else {
            return Ok(None);
        };
        let mut snapshot = Self::from_index(index, payload.head())?;
        if payload.change != head.change && store.count_changed_entries(payload.change, little + 1)? <= little {
            let continues = snapshot.read_changes(store)?;
            return Ok(continues.then_some(snapshot));
        }
        Ok(Some(snapshot))
    }

    /// A snapshot of the index alone, without unindexed entries.
    pub(crate) fn from_index(mut index: Index, head: StoreHead) -> Result<Self, IndexError> {
        index.set_tokenizers(schema::tokenizers());
        let (_, fields) = schema::schema();
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let opened = searcher.segment_readers().iter().map(|reader| IndexSegment::open(reader, fields));
        Ok(Self::new(opened.collect::<Result<_, _>>()?, head, head.change))
    }

    /// A snapshot without an index. Everything is read from the store.
    pub fn from_store(store: &ReadStore) -> Result<Self, IndexError> {
        let mut snapshot = Self::new(Vec::new(), StoreHead { change: 0, ..store.head()? }, 0);
        snapshot.read_changes(store)?;
        Ok(snapshot)
    }

    fn new(segments: Vec<IndexSegment>, head: StoreHead, indexed_change: i64) -> Self {
        Self { segments, session_fields: OnceLock::new(), head, indexed_change }
    }

    /// This snapshot, and what was stored since. Shares everything else with it. `None` if the store went back to an
    /// earlier state, as a standby may that was promoted.
    pub fn caught_up(&self, store: &ReadStore) -> Result<Option<Self>, IndexError> {
        let mut snapshot = Self::new(self.segments.clone(), self.head, self.indexed_change);
        if !snapshot.read_changes(store)? {
            return Ok(None);
        }
        snapshot.merge_unindexed();
        Ok(Some(snapshot))
    }

    /// The state of the store that it shows.
    pub fn head(&self) -> StoreHead {
        self.head
    }

    /// The change up to which the index goes that it was opened from; 0 without an index.
    pub fn indexed_change(&self) -> i64 {
        self.indexed_change
    }

    /// How many entries it has in memory, because they were not in the index.
    pub fn unindexed_entries(&self) -> u64 {
        let unindexed = self.segments.iter().filter(|segment| segment.unindexed().is_some());
        unindexed.map(IndexSegment::live_count).sum()
    }

    /// The segments, in no particular order.
    pub fn segments(&self) -> &[IndexSegment] {
        &self.segments
    }

    /// The fields of all sessions; read on the first call.
    pub fn session_fields(&self) -> &SessionFields {
        self.session_fields.get_or_init(|| SessionFields::read(&self.segments))
    }

    /// Adds what was stored since its head, and hides what it replaces. False if the store does not continue that state:
    /// a lost connection may have been replaced by one to another server, after the last check.
    fn read_changes(&mut self, store: &ReadStore) -> Result<bool, IndexError> {
        let mut tail = UnindexedSegment::default();
        let before = self.head;
        self.head = document::for_each_change(store, FeedCursor::after_change(self.head.change), |step| match step {
            IndexChange::SessionReset(session) => {
                self.segments.iter_mut().try_for_each(|s| s.hide_session(session.get()))
            }
            IndexChange::Episode(key, documents) => {
                for document in documents {
                    tail.add(document);
                }
                self.segments.iter_mut().try_for_each(|s| s.hide_episode(key))
            }
        })?;
        if tail.len() > 0 {
            self.segments.push(IndexSegment::from_unindexed(tail));
        }
        Ok(self.head.identity == before.identity && self.head.change >= before.change)
    }

    /// Merges the last segments in memory while they are of about the same size, so that there are few, and each entry
    /// is merged a few times only.
    fn merge_unindexed(&mut self) {
        while let [.., earlier, last] = self.segments.as_slice()
            && let (Some(one), Some(other)) = (earlier.unindexed(), last.unindexed())
            && earlier.live_count() <= 2 * last.live_count()
        {
            let mut merged = UnindexedSegment::default();
            for (segment, tail) in [(earlier, one), (last, other)] {
                for doc in (0..tail.len()).filter(|doc| segment.is_alive(*doc)) {
                    merged.add(tail.document(doc).clone());
                }
            }
            self.segments.truncate(self.segments.len() - 2);
            self.segments.push(IndexSegment::from_unindexed(merged));
        }
    }
}

fn damaged_index(what: &str) -> IndexError {
    IndexError::Damaged(Box::new(tantivy::TantivyError::InternalError(what.to_owned())))
}
