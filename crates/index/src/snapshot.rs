//! The index as of one moment, together with what the store has and the index has not.

use std::path::Path;

use rethread_store::{Since, Store};
use tantivy::{Index, ReloadPolicy};

use crate::document::{self, Step};
use crate::error::IndexError;
use crate::payload::{Payload, Unusable};
use crate::schema;
use crate::segment::Segment;
use crate::tail::Tail;

/// Everything there is to search, as of one moment.
#[derive(Debug)]
pub struct Snapshot {
    segments: Vec<Segment>,
}

/// How far an index is behind its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    /// It has everything.
    None,
    /// Some entries are not indexed; they are read from the store.
    Entries(u64),
    /// It cannot be used.
    Unusable(Unusable),
}

/// How far the index in that folder is behind the store; entries are counted up to `enough`.
pub fn lag(folder: &Path, store: &Store, enough: u64) -> Result<Lag, IndexError> {
    let head = store.head()?;
    Ok(match Payload::load(folder).and_then(|payload| payload.of_store(head)) {
        Ok(payload) if payload.change == head.change => Lag::None,
        Ok(payload) => Lag::Entries(store.entries_after(payload.change, enough)?),
        Err(why) => Lag::Unusable(why),
    })
}

impl Snapshot {
    /// Opens the index for reading. What it lacks is read from the store.
    pub fn open(folder: &Path, store: &Store) -> Result<Self, IndexError> {
        let index = Index::open_in_dir(folder)?;
        // The payload is read before the segments: if a commit comes between the two, what it added is read twice,
        // once from the store, and hidden in the index.
        let payload = Payload::of_index(&index).map_err(|_| damaged("its commit says nothing about the store"))?;
        let mut snapshot = Self::of_index(index)?;
        if store.head()?.change != payload.change {
            snapshot.read_tail(store, payload.change)?;
        }
        Ok(snapshot)
    }

    /// Opens the index for somebody who cannot wait: what it lacks is read from the store if it is little, and left out
    /// otherwise. Nothing if the index cannot be used.
    pub fn open_quickly(folder: &Path, store: &Store, little: u64) -> Result<Option<Self>, IndexError> {
        if !folder.join("meta.json").exists() {
            return Ok(None);
        }
        let index = Index::open_in_dir(folder)?;
        let head = store.head()?;
        let Ok(payload) = Payload::of_index(&index).and_then(|payload| payload.of_store(head)) else {
            return Ok(None);
        };
        let mut snapshot = Self::of_index(index)?;
        if payload.change != head.change && store.entries_after(payload.change, little + 1)? <= little {
            snapshot.read_tail(store, payload.change)?;
        }
        Ok(Some(snapshot))
    }

    /// What is in the index.
    pub(crate) fn of_index(mut index: Index) -> Result<Self, IndexError> {
        index.set_tokenizers(schema::tokenizers());
        let (_, fields) = schema::schema();
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let opened = searcher.segment_readers().iter().map(|reader| Segment::open(reader, fields));
        Ok(Self { segments: opened.collect::<Result<_, _>>()? })
    }

    /// A snapshot without an index: everything is read from the store.
    pub fn of_store(store: &Store) -> Result<Self, IndexError> {
        let mut snapshot = Self { segments: Vec::new() };
        snapshot.read_tail(store, 0)?;
        Ok(snapshot)
    }

    /// The parts, in no order that means anything.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    fn read_tail(&mut self, store: &Store, after: i64) -> Result<(), IndexError> {
        let mut tail = Tail::default();
        document::episodes(store, Since::change(after), |step| match step {
            Step::Retold(session) => self.segments.iter_mut().try_for_each(|s| s.hide_session(session.get())),
            Step::Episode(key, documents) => {
                for document in documents {
                    tail.add(document);
                }
                self.segments.iter_mut().try_for_each(|s| s.hide_episode(key))
            }
        })?;
        if tail.len() > 0 {
            self.segments.push(Segment::of_tail(tail));
        }
        Ok(())
    }
}

fn damaged(what: &str) -> IndexError {
    IndexError::Damaged(Box::new(tantivy::TantivyError::InternalError(what.to_owned())))
}
