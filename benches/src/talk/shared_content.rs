//! The vocabulary and the projects that all sessions share.

use crate::random::Random;
use crate::text_generator::{TextGenerator, capitalize};
use crate::vocabulary::Vocabulary;

const SESSIONS_PER_PROJECT: usize = 60;
const FILES: usize = 60;
const NAMES: usize = 80;
const TOPICS: usize = 40;

/// Content shared by all sessions.
#[derive(Debug)]
pub struct TalkContent {
    /// Vocabulary of all texts.
    pub words: Vocabulary,
    /// Never empty.
    pub projects: Vec<TalkProject>,
}

/// A project folder with its files and topics.
#[derive(Debug)]
pub struct TalkProject {
    /// Absolute path.
    pub cwd: String,
    /// Paths relative to `cwd`.
    pub files: Vec<String>,
    /// Names of functions, types and variables.
    pub names: Vec<String>,
    /// Words that are more frequent in this project than elsewhere.
    pub topics: Vec<String>,
}

impl TalkContent {
    /// Generates the content for `seed`, with enough projects for `sessions` sessions.
    #[must_use]
    pub fn new(seed: u64, sessions: usize) -> Self {
        let words = Vocabulary::large(seed);
        let mut author = TextGenerator::new(&words, seed);
        let count = sessions.div_ceil(SESSIONS_PER_PROJECT).max(1);
        let projects = (0..count).map(|_| TalkProject::random(&mut author)).collect();
        Self { words, projects }
    }
}

impl TalkProject {
    fn random(author: &mut TextGenerator) -> Self {
        Self {
            cwd: format!("/home/dev/{}-{}", author.content_word(), author.content_word()),
            files: (0..FILES).map(|_| author.path()).collect(),
            names: (0..NAMES).map(|_| random_identifier(author)).collect(),
            topics: (0..TOPICS).map(|_| random_topic(author)).collect(),
        }
    }
}

/// Such as `tavel_onix`, `tavelOnix` or `TavelOnix`.
pub(super) fn random_identifier(author: &mut TextGenerator) -> String {
    let (one, two) = (author.content_word(), author.content_word());
    match author.random.below(5) {
        0..3 => format!("{one}_{two}"),
        3 => format!("{one}{}", capitalize(two)),
        _ => format!("{}{}", capitalize(one), capitalize(two)),
    }
}

/// A topic word: half of them rare, half from the general vocabulary.
pub(super) fn random_topic(author: &mut TextGenerator) -> String {
    if author.chance(50) { author.content_word().to_owned() } else { author.word().to_owned() }
}

/// `count` random items, possibly repeated.
pub(super) fn pick_many<'p>(random: &mut Random, items: &'p [String], count: usize) -> Vec<&'p str> {
    (0..count).map(|_| random.pick(items).as_str()).collect()
}
