//! The kinds of events that can stand for a time, and the words that name them.

use crate::word_list::is_listed;

/// What happened in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventAction {
    Release,
    Deploy,
    Migration,
    Merge,
    Rollback,
    Switch,
    Upgrade,
    Rename,
    Rewrite,
    Removal,
    Addition,
}

/// The words of one action; several forms are separated by spaces.
pub(crate) struct EventWords {
    action: EventAction,
    nouns: &'static str,
    /// Verbs as in "we switched".
    pub(crate) past_verbs: &'static str,
    /// The first word of a commit message about it.
    pub(crate) commit_verbs: &'static str,
}

const EVENT_WORDS: [EventWords; 11] = [
    EventWords {
        action: EventAction::Release,
        nouns: "release launch",
        past_verbs: "released shipped launched published tagged",
        commit_verbs: "release releases released ship launch publish",
    },
    EventWords {
        action: EventAction::Deploy,
        nouns: "deploy deployment rollout",
        past_verbs: "deployed",
        commit_verbs: "deploy deployed",
    },
    EventWords {
        action: EventAction::Migration,
        nouns: "migration",
        past_verbs: "migrated",
        commit_verbs: "migrate migrated move switch",
    },
    EventWords { action: EventAction::Merge, nouns: "merge", past_verbs: "merged", commit_verbs: "merge" },
    EventWords {
        action: EventAction::Rollback,
        nouns: "rollback revert",
        past_verbs: "reverted",
        commit_verbs: "revert rollback",
    },
    EventWords {
        action: EventAction::Switch,
        nouns: "switch move",
        past_verbs: "switched moved",
        commit_verbs: "switch move migrate use adopt replace change",
    },
    EventWords {
        action: EventAction::Upgrade,
        nouns: "upgrade update",
        past_verbs: "upgraded updated bumped",
        commit_verbs: "upgrade update bump",
    },
    EventWords { action: EventAction::Rename, nouns: "rename renaming", past_verbs: "renamed", commit_verbs: "rename" },
    EventWords {
        action: EventAction::Rewrite,
        nouns: "refactor refactoring rewrite",
        past_verbs: "refactored rewrote rewritten",
        commit_verbs: "refactor rewrite restructure",
    },
    EventWords {
        action: EventAction::Removal,
        nouns: "removal",
        past_verbs: "removed dropped deleted",
        commit_verbs: "remove drop delete",
    },
    EventWords {
        action: EventAction::Addition,
        nouns: "introduction",
        past_verbs: "added introduced adopted",
        commit_verbs: "add introduce adopt use",
    },
];

impl EventAction {
    pub(super) fn from_noun(word: &str) -> Option<Self> {
        EVENT_WORDS.iter().find(|words| is_listed(word, words.nouns)).map(|words| words.action)
    }

    pub(super) fn from_past_verb(word: &str) -> Option<Self> {
        EVENT_WORDS.iter().find(|words| is_listed(word, words.past_verbs)).map(|words| words.action)
    }

    /// Whether "the release" is clear without saying of what.
    pub(super) fn is_one_of_a_kind(self) -> bool {
        matches!(self, Self::Release | Self::Deploy | Self::Migration | Self::Rollback)
    }

    pub(crate) fn words(self) -> &'static EventWords {
        EVENT_WORDS.iter().find(|words| words.action == self).unwrap_or(&EVENT_WORDS[0])
    }
}

impl EventWords {
    pub(crate) fn is_commit_verb(&self, word: &str) -> bool {
        is_listed(word, self.commit_verbs)
    }

    pub(crate) fn is_past_verb(&self, word: &str) -> bool {
        is_listed(word, self.past_verbs)
    }

    pub(crate) fn is_noun(&self, word: &str) -> bool {
        is_listed(word, self.nouns)
    }

    /// All forms.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static str> {
        [self.nouns, self.past_verbs, self.commit_verbs].into_iter().flat_map(|list| list.split(' '))
    }
}
