//! The language everybody speaks and the projects they work on. Invented once for all sessions.

use crate::author::{Author, capitalised};
use crate::random::Random;
use crate::words::Words;

const SESSIONS_PER_PROJECT: usize = 60;
const FILES: usize = 60;
const NAMES: usize = 80;
const TOPICS: usize = 40;

/// What all sessions have in common.
#[derive(Debug)]
pub struct World {
    /// The language.
    pub words: Words,
    /// At least one.
    pub projects: Vec<Project>,
}

/// A directory with files in it, and what people there talk about.
#[derive(Debug)]
pub struct Project {
    /// Absolute path.
    pub cwd: String,
    /// Paths below it.
    pub files: Vec<String>,
    /// Names of functions, types and variables.
    pub names: Vec<String>,
    /// Words that come up here more than elsewhere.
    pub topics: Vec<String>,
}

impl World {
    /// The world of `seed`, with as many projects as `sessions` sessions need.
    #[must_use]
    pub fn new(seed: u64, sessions: usize) -> Self {
        let words = Words::language(seed);
        let mut author = Author::new(&words, seed);
        let count = sessions.div_ceil(SESSIONS_PER_PROJECT).max(1);
        let projects = (0..count).map(|_| Project::invent(&mut author)).collect();
        Self { words, projects }
    }
}

impl Project {
    fn invent(author: &mut Author) -> Self {
        Self {
            cwd: format!("/home/dev/{}-{}", author.name(), author.name()),
            files: (0..FILES).map(|_| author.path()).collect(),
            names: (0..NAMES).map(|_| name(author)).collect(),
            topics: (0..TOPICS).map(|_| topic(author)).collect(),
        }
    }
}

/// Such as `tavel_onix`, `tavelOnix` or `TavelOnix`.
pub(super) fn name(author: &mut Author) -> String {
    let (one, two) = (author.name(), author.name());
    match author.random.below(5) {
        0..3 => format!("{one}_{two}"),
        3 => format!("{one}{}", capitalised(two)),
        _ => format!("{}{}", capitalised(one), capitalised(two)),
    }
}

/// A word to talk about: half of them rare, half known from elsewhere.
pub(super) fn topic(author: &mut Author) -> String {
    if author.chance(50) { author.name().to_owned() } else { author.word().to_owned() }
}

/// `items` of a project, as many as `count`, for one session.
pub(super) fn some<'p>(random: &mut Random, items: &'p [String], count: usize) -> Vec<&'p str> {
    (0..count).map(|_| random.pick(items).as_str()).collect()
}
