//! Size and consistency checks of the index.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_store::{FeedCursor, FeedItem, ReadStore, SessionNumber, StoreHead};

use crate::IndexSnapshot;
use crate::error::IndexError;
use crate::open::open_to_read;

/// Total bytes of the index files.
pub fn size_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

/// Counts the index documents, including deleted ones, whose session and entry position match.
pub fn count_documents(folder: &Path, is_match: &dyn Fn(SessionNumber, u64) -> bool) -> Result<u64, IndexError> {
    if !folder.join("meta.json").exists() {
        return Ok(0);
    }
    let snapshot = IndexSnapshot::from_index(open_to_read(folder)?, StoreHead::default())?;
    let documents =
        snapshot.segments().iter().flat_map(|segment| (0..segment.doc_limit()).map(move |doc| (segment, doc)));
    let matching = documents.filter(|(segment, doc)| is_match(segment.episode(*doc).session, segment.seq(*doc)));
    Ok(matching.count() as u64)
}

/// Compares the index with the store. Returns a description of each problem.
pub fn verify_index(folder: &Path, store: &ReadStore) -> Result<Vec<String>, IndexError> {
    let mut wrong = Vec::new();
    let damaged = open_to_read(folder)?.validate_checksum()?;
    wrong.extend(damaged.iter().map(|path| format!("{} is damaged", path.display())));
    if !wrong.is_empty() {
        return Ok(wrong);
    }
    let mut stored = BTreeSet::new();
    let mut add = |step: FeedItem<'_>| -> Result<(), IndexError> {
        if let FeedItem::Entry(entry) = step {
            stored.insert((entry.episode.session.get(), entry.seq));
        }
        Ok(())
    };
    store.feed(FeedCursor::after_change(0), &mut add)?;
    let snapshot = IndexSnapshot::open(folder, store)?;
    let mut found = BTreeSet::new();
    for segment in snapshot.segments() {
        for doc in (0..segment.doc_limit()).filter(|doc| segment.is_alive(*doc)) {
            if !found.insert((segment.episode(doc).session.get(), segment.seq(doc))) {
                wrong.push(format!(
                    "entry {} of session {} is indexed twice",
                    segment.seq(doc),
                    segment.episode(doc).session.get()
                ));
            }
        }
    }
    let (missing, surplus) = (stored.difference(&found).count(), found.difference(&stored).count());
    if missing > 0 {
        wrong.push(format!("{missing} stored entries are missing from the index"));
    }
    if surplus > 0 {
        wrong.push(format!("{surplus} indexed entries are not in the store"));
    }
    Ok(wrong)
}
