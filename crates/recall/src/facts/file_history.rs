//! Lists what was done to a file, by session and episode, under all the names it had.

use rethread_model::{EntityKind, Predicate, Timestamp};
use rethread_store::FactRow;

use super::FactSource;

/// What one episode did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTouch {
    /// The first fact of the episode about the file.
    pub source: FactSource,
    /// What was done, in order.
    pub actions: Vec<FileAction>,
    /// Time of the last action.
    pub last_at: Option<Timestamp>,
    /// First line of the episode's prompt. Filled in by the caller, which can read the episode.
    pub prompt: Option<String>,
}

impl FileTouch {
    /// Whether the file was more than read.
    pub fn is_change(&self) -> bool {
        self.actions.iter().any(|one_action| one_action.predicate != Predicate::Read)
    }
}

/// One kind of action on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAction {
    /// Read, edited, created, deleted or renamed.
    pub predicate: Predicate,
    /// The file's name at the time.
    pub name: String,
    /// The new name, for a rename.
    pub renamed_to: Option<String>,
    /// Number of times.
    pub count: u64,
}

/// All names a file had before and after, the given one first. Follows renames in both directions, even if a name was
/// later given to another file.
pub fn all_file_names(path: &str, renames: &[FactRow]) -> Vec<String> {
    let mut names = vec![path.to_owned()];
    let mut at = 0;
    while let Some(name) = names.get(at).cloned() {
        for known in renames.iter().filter(|known| known.fact.predicate == Predicate::Renamed) {
            let Some(object) = &known.fact.object else { continue };
            let (old, new) = (&known.fact.subject.name, &object.name);
            let other = if *old == name { new } else { old };
            if (*old == name || *new == name) && !names.contains(other) {
                names.push(other.clone());
            }
        }
        at += 1;
    }
    names
}

/// What was done to a file, by session and episode, newest first.
pub fn file_touches(facts: &[FactRow]) -> Vec<FileTouch> {
    let mut all: Vec<FileTouch> = Vec::new();
    for known in super::oldest_first(facts) {
        if known.fact.subject.kind != EntityKind::File {
            continue;
        }
        let one_action = FileAction {
            predicate: known.fact.predicate,
            name: known.fact.subject.name.clone(),
            renamed_to: known.fact.object.as_ref().map(|object| object.name.clone()),
            count: known.fact.success_count.max(1),
        };
        let is_same =
            |touch: &&mut FileTouch| touch.source.session == known.session && touch.source.episode == known.episode;
        match all.iter_mut().find(is_same) {
            Some(touch) => add_action(touch, one_action, known.fact.at),
            None => all.push(FileTouch {
                source: FactSource::of_fact(known),
                actions: vec![one_action],
                last_at: known.fact.at,
                prompt: None,
            }),
        }
    }
    all.sort_by_key(|touch| std::cmp::Reverse(touch.last_at));
    all
}

/// Whether a text mentions a file by its path or its file name.
pub fn mentions_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    mentions_path(text, path) || mentions_path(text, name)
}

/// Whether a text contains a path as a whole.
pub fn mentions_path(text: &str, path: &str) -> bool {
    let is_whole = |(at, _): (usize, &str)| {
        let before = text[..at].chars().next_back();
        let after = text[at + path.len()..].chars().next();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        // `old/a.rs` is a different file than `a.rs`.
        !before.is_some_and(|c| is_part(c) || c == '/' || c == '.') && !after.is_some_and(is_part)
    };
    !path.is_empty() && text.match_indices(path).any(is_whole)
}

fn add_action(touch: &mut FileTouch, one_action: FileAction, at: Option<Timestamp>) {
    touch.last_at = touch.last_at.max(at);
    let same = |one: &&mut FileAction| {
        one.predicate == one_action.predicate && one.name == one_action.name && one.renamed_to == one_action.renamed_to
    };
    match touch.actions.iter_mut().find(same) {
        Some(one) => one.count += one_action.count,
        None => touch.actions.push(one_action),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn did(session: &str, minute: i64, predicate: Predicate, file: &str) -> FactRow {
        known_fact(session, minute, predicate, (EntityKind::File, file))
    }

    #[test]
    fn a_file_is_followed_through_renames_in_both_directions() {
        let renames = [
            did("a", 1, Predicate::Renamed, "a.rs").object(EntityKind::File, "b.rs"),
            did("a", 2, Predicate::Renamed, "b.rs").object(EntityKind::File, "c.rs"),
            did("a", 3, Predicate::Renamed, "x.rs").object(EntityKind::File, "y.rs"),
        ];
        assert_eq!(all_file_names("b.rs", &renames), ["b.rs", "a.rs", "c.rs"]);
        assert_eq!(all_file_names("c.rs", &renames), ["c.rs", "b.rs", "a.rs"]);
        assert_eq!(all_file_names("z.rs", &renames), ["z.rs"]);
    }

    #[test]
    fn actions_are_grouped_by_session_and_episode_newest_first() {
        // S003-22
        let mut later = did("a", 9, Predicate::Edited, "b.rs");
        later.episode = 2;
        let facts = [
            did("a", 1, Predicate::Read, "b.rs"),
            did("a", 2, Predicate::Edited, "b.rs"),
            did("a", 3, Predicate::Edited, "b.rs"),
            did("b", 5, Predicate::Read, "b.rs"),
            later,
        ];
        let found = file_touches(&facts);
        let rendered: Vec<_> = found
            .iter()
            .map(|touch| {
                let session_actions: Vec<_> =
                    touch.actions.iter().map(|one_action| (one_action.predicate, one_action.count)).collect();
                (
                    touch.source.session_name.as_deref().unwrap_or(""),
                    touch.source.line,
                    session_actions,
                    touch.is_change(),
                )
            })
            .collect();
        assert_eq!(
            rendered,
            [
                ("a", 9, vec![(Predicate::Edited, 1)], true),
                ("b", 5, vec![(Predicate::Read, 1)], false),
                ("a", 1, vec![(Predicate::Read, 1), (Predicate::Edited, 2)], true),
            ]
        );
    }

    #[test]
    fn a_file_is_mentioned_by_path_or_name_but_not_by_part_of_a_name() {
        assert!(mentions_file("edited src/a.rs, then ran it", "src/a.rs"));
        assert!(mentions_file("keep `a.rs`.", "src/a.rs"));
        assert!(!mentions_file("edited src/data.rs", "src/a.rs"));
        assert!(!mentions_file("edited other/a.rs", "src/a.rs"));
        assert!(!mentions_file("edited a.rsx", "src/a.rs"));
    }
}
