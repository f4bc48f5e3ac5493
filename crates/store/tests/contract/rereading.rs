//! Reading transcripts again: entries are set aside, and those that are not found again are restored.

use rethread_model::{EntryKind, NewEntry, SessionChanges};
use rethread_store::{
    Batch, FileFingerprint, ReadCursor, RereadKind, RestoredEntries, SessionNumber, Store, TextsOf, TranscriptNumber,
};

use crate::backend::{KEY, entry, on_each_backend};

const PATH: &str = "/t/s.jsonl";

fn read(batch: &mut Batch<'_>, session: SessionNumber, transcript: TranscriptNumber, entries: Vec<NewEntry>) {
    let changes = SessionChanges { entries, ..SessionChanges::default() };
    batch.apply_changes(session, Some(transcript), &changes, None).unwrap();
    let fingerprint = FileFingerprint { size: 100, ..FileFingerprint::default() };
    batch.set_cursor(transcript, Some(session), fingerprint, ReadCursor::default()).unwrap();
}

/// Stores a transcript with the entries 0, 1 and 2, and a session that read it.
fn stored(store: &mut Store) -> (SessionNumber, TranscriptNumber) {
    let mut batch = store.begin().unwrap();
    let session = batch.open_session(KEY.agent, KEY.external_id).unwrap().number;
    let transcript = batch.add_transcript(PATH, KEY.agent).unwrap();
    let entries = (0..3).map(|seq| entry(1, seq, 1, EntryKind::Prompt, &seq.to_string())).collect();
    read(&mut batch, session, transcript, entries);
    batch.commit().unwrap();
    (session, transcript)
}

/// Sets the session aside, reads these entries, and restores the rest.
fn reread(
    store: &mut Store,
    (session, transcript): (SessionNumber, TranscriptNumber),
    kind: Option<RereadKind>,
    entries: Vec<NewEntry>,
) -> (RestoredEntries, Vec<String>) {
    let mut batch = store.begin().unwrap();
    let rereads: Vec<_> = kind.into_iter().map(|kind| (transcript, kind)).collect();
    batch.set_session_aside(session, &rereads).unwrap();
    assert!(batch.is_set_aside(session).unwrap());
    assert!(batch.entry_texts(session, TextsOf::AllEntries).unwrap().is_empty());
    batch.commit().unwrap();
    let mut batch = store.begin().unwrap();
    if kind.is_some() {
        read(&mut batch, session, transcript, entries);
    }
    let restored = batch.restore_set_aside(session).unwrap();
    batch.finish_rereads().unwrap();
    assert!(!batch.is_set_aside(session).unwrap());
    let texts = batch.entry_texts(session, TextsOf::AllEntries).unwrap();
    batch.commit().unwrap();
    assert!(store.sessions_set_aside().unwrap().is_empty());
    (restored, texts.into_iter().map(|(_, _, text)| text).collect())
}

#[test]
fn entries_of_a_transcript_that_was_not_read_again_come_back() {
    on_each_backend(|open| {
        let mut store = open();
        let place = stored(&mut store);
        let (restored, texts) = reread(&mut store, place, None, Vec::new());
        assert_eq!((restored.unread, texts), (3, vec!["0".into(), "1".into(), "2".into()]));
    });
}

#[test]
fn entries_that_an_unchanged_transcript_no_longer_gives_are_dropped() {
    on_each_backend(|open| {
        let mut store = open();
        let place = stored(&mut store);
        let again = vec![entry(1, 0, 1, EntryKind::Prompt, "0"), entry(1, 1, 1, EntryKind::Prompt, "new rules")];
        let (restored, texts) = reread(&mut store, place, Some(RereadKind::Unchanged), again);
        assert!(restored.is_empty(), "{restored:?}");
        assert_eq!(texts, ["0", "new rules"]);
    });
}

#[test]
fn entries_that_a_rewritten_transcript_lost_are_kept_at_their_place() {
    on_each_backend(|open| {
        let mut store = open();
        let place = stored(&mut store);
        // Entry 1 is gone, and what was entry 2 comes right after entry 0.
        let mut second = entry(1, 2, 1, EntryKind::Prompt, "2");
        second.entry.seq = 1;
        let again = vec![entry(1, 0, 1, EntryKind::Prompt, "0"), second];
        let (restored, texts) = reread(&mut store, place, Some(RereadKind::Rewritten), again);
        assert_eq!(texts, ["0", "1", "2"]);
        assert_eq!(restored.superseded, [(PATH.to_owned(), 1)].into());
        assert_eq!(restored.new_seqs.get(&1), Some(&2), "the entry after it moved");
        assert_eq!(store.rewritten_sessions().unwrap(), [place.0].into());
        let mut batch = store.begin().unwrap();
        assert!(batch.has_unrepeatable_entries(place.0).unwrap());
        let counted = batch.spoken_entries(place.0).unwrap();
        assert_eq!(counted.len(), 2, "counts follow the transcript");
        batch.reset_session(place.0).unwrap();
        assert!(!batch.has_unrepeatable_entries(place.0).unwrap());
    });
}
