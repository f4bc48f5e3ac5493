//! Who did what to a file, and when, under all the names it had.

use rethread_model::{EntityKind, Predicate, Timestamp};
use rethread_store::KnownFact;

use super::Source;

/// What one exchange did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The first line of it.
    pub source: Source,
    /// What was done, in order.
    pub deeds: Vec<Deed>,
    /// When it was done last.
    pub last_at: Option<Timestamp>,
    /// What the exchange was about: the first line of what was asked. Filled in by whoever can read the exchange.
    pub why: Option<String>,
}

impl Touch {
    /// Whether the file was more than read.
    pub fn changed(&self) -> bool {
        self.deeds.iter().any(|deed| deed.predicate != Predicate::Read)
    }
}

/// One thing that was done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Read, edited, created, deleted, renamed.
    pub predicate: Predicate,
    /// The name it had then.
    pub name: String,
    /// The name it got.
    pub renamed_to: Option<String>,
    /// How often.
    pub times: u64,
}

/// All names a file had before and after, itself first. Renames are followed in both directions, also when a name was
/// given to another file later.
pub fn names_of(path: &str, renames: &[KnownFact]) -> Vec<String> {
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

/// What was done to a file, by session and exchange, newest first.
pub fn touches(facts: &[KnownFact]) -> Vec<Touch> {
    let mut all: Vec<Touch> = Vec::new();
    for known in super::oldest_first(facts) {
        if known.fact.subject.kind != EntityKind::File {
            continue;
        }
        let deed = Deed {
            predicate: known.fact.predicate,
            name: known.fact.subject.name.clone(),
            renamed_to: known.fact.object.as_ref().map(|object| object.name.clone()),
            times: known.fact.succeeded.max(1),
        };
        let is_same =
            |touch: &&mut Touch| touch.source.session == known.session && touch.source.episode == known.episode;
        match all.iter_mut().find(is_same) {
            Some(touch) => add(touch, deed, known.fact.at),
            None => all.push(Touch { source: Source::of(known), deeds: vec![deed], last_at: known.fact.at, why: None }),
        }
    }
    all.sort_by_key(|touch| std::cmp::Reverse(touch.last_at));
    all
}

/// Whether a text names a file: by its path, or by its name alone.
pub fn mentions(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let holds = |needle: &str| {
        text.match_indices(needle).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + needle.len()..].chars().next();
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            // `old/a.rs` names another file than `a.rs`, unless the whole path stands there.
            !before.is_some_and(|c| is_part(c) || c == '/' || c == '.') && !after.is_some_and(is_part)
        })
    };
    !name.is_empty() && (holds(path) || holds(name))
}

fn add(touch: &mut Touch, deed: Deed, at: Option<Timestamp>) {
    touch.last_at = touch.last_at.max(at);
    let same =
        |one: &&mut Deed| one.predicate == deed.predicate && one.name == deed.name && one.renamed_to == deed.renamed_to;
    match touch.deeds.iter_mut().find(same) {
        Some(one) => one.times += deed.times,
        None => touch.deeds.push(deed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{With, known};
    use super::*;

    fn did(session: &str, minute: i64, predicate: Predicate, file: &str) -> KnownFact {
        known(session, minute, predicate, (EntityKind::File, file))
    }

    #[test]
    fn a_file_is_followed_through_its_names_in_both_directions() {
        let renames = [
            did("a", 1, Predicate::Renamed, "a.rs").object(EntityKind::File, "b.rs"),
            did("a", 2, Predicate::Renamed, "b.rs").object(EntityKind::File, "c.rs"),
            did("a", 3, Predicate::Renamed, "x.rs").object(EntityKind::File, "y.rs"),
        ];
        assert_eq!(names_of("b.rs", &renames), ["b.rs", "a.rs", "c.rs"]);
        assert_eq!(names_of("c.rs", &renames), ["c.rs", "b.rs", "a.rs"]);
        assert_eq!(names_of("z.rs", &renames), ["z.rs"]);
    }

    #[test]
    fn s003_22_what_was_done_is_told_by_session_and_exchange_newest_first() {
        let mut later = did("a", 9, Predicate::Edited, "b.rs");
        later.episode = 2;
        let facts = [
            did("a", 1, Predicate::Read, "b.rs"),
            did("a", 2, Predicate::Edited, "b.rs"),
            did("a", 3, Predicate::Edited, "b.rs"),
            did("b", 5, Predicate::Read, "b.rs"),
            later,
        ];
        let found = touches(&facts);
        let told: Vec<_> = found
            .iter()
            .map(|touch| {
                let deeds: Vec<_> = touch.deeds.iter().map(|deed| (deed.predicate, deed.times)).collect();
                (touch.source.session_name.as_deref().unwrap_or(""), touch.source.line, deeds, touch.changed())
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a", 9, vec![(Predicate::Edited, 1)], true),
                ("b", 5, vec![(Predicate::Read, 1)], false),
                ("a", 1, vec![(Predicate::Read, 1), (Predicate::Edited, 2)], true),
            ]
        );
    }

    #[test]
    fn a_text_names_a_file_by_path_or_name_but_not_by_a_part_of_one() {
        assert!(mentions("edited src/a.rs, then ran it", "src/a.rs"));
        assert!(mentions("keep `a.rs`.", "src/a.rs"));
        assert!(!mentions("edited src/data.rs", "src/a.rs"));
        assert!(!mentions("edited other/a.rs", "src/a.rs"));
        assert!(!mentions("edited a.rsx", "src/a.rs"));
    }
}
