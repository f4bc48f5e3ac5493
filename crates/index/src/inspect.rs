//! Looking at the index without searching it: how large it is, whether its files are whole and complete.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_store::{Feed, SessionNumber, Since, Store};
use tantivy::Index;

use crate::Snapshot;
use crate::error::IndexError;

/// Bytes of all files of the index.
pub fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

/// How many documents of the index are of entries that are asked for, by session and place in it.
pub fn count(folder: &Path, is_wanted: &dyn Fn(SessionNumber, u64) -> bool) -> Result<u64, IndexError> {
    if !folder.join("meta.json").exists() {
        return Ok(0);
    }
    let snapshot = Snapshot::of_index(Index::open_in_dir(folder)?)?;
    let documents = snapshot.segments().iter().flat_map(|segment| (0..segment.limit()).map(move |doc| (segment, doc)));
    let wanted = documents.filter(|(segment, doc)| is_wanted(segment.episode(*doc).session, segment.seq(*doc)));
    Ok(wanted.count() as u64)
}

/// Compares the index with the store: what is wrong, in words; nothing if all is well.
pub fn verify(folder: &Path, store: &Store) -> Result<Vec<String>, IndexError> {
    let mut wrong = Vec::new();
    let damaged = Index::open_in_dir(folder)?.validate_checksum()?;
    wrong.extend(damaged.iter().map(|path| format!("{} is damaged", path.display())));
    if !wrong.is_empty() {
        return Ok(wrong);
    }
    let mut stored = BTreeSet::new();
    let mut add = |step: Feed<'_>| -> Result<(), IndexError> {
        if let Feed::Entry(entry) = step {
            stored.insert((entry.episode.session.get(), entry.seq));
        }
        Ok(())
    };
    store.feed(Since::change(0), &mut add)?;
    let snapshot = Snapshot::open(folder, store)?;
    let mut found = BTreeSet::new();
    for segment in snapshot.segments() {
        for doc in (0..segment.limit()).filter(|doc| segment.is_alive(*doc)) {
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
        wrong.push(format!("{missing} entries of the store cannot be found"));
    }
    if surplus > 0 {
        wrong.push(format!("{surplus} entries are found that the store does not have"));
    }
    Ok(wrong)
}
