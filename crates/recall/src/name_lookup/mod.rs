//! Decides which sessions a reference means: whole names, words of names, beginnings of words, one letter off.
//!
//! There is one order for commands, prompts, MCP and HTTP; the first step that finds anything decides. A prompt may
//! contain `@@` without meaning a session (a variable, a diff), so there the weak steps look only at the same project.

mod query;
mod topic;

use rethread_model::Session;
use rethread_store::{NamedSession, SessionKey, SessionNumber};

use query::NameQuery;
pub use query::slug;
pub use topic::sessions_about;

/// Shortest part of a word that is looked up in names.
const MIN_PART_BYTES: usize = 3;
/// Maximum number of candidates listed for an ambiguous name.
const MAX_CANDIDATES: usize = 50;
/// Maximum number of similar sessions that are suggested.
const MAX_SIMILAR: usize = 3;
/// A single word of a prompt that matches more sessions than this is not meant as a name.
const MAX_WORD_MATCHES: usize = 5;

/// Where a reference is made. Sessions of the same project take precedence; the referring session itself is excluded.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceOrigin<'a> {
    /// The referring session.
    pub session: Option<SessionKey<'a>>,
    /// Its project.
    pub project: Option<&'a str>,
}

/// How sure it is that a text is meant as a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceForm {
    /// An argument of a command that erases: only ids, aliases and whole names.
    Exact,
    /// An argument that can only be a session.
    Argument,
    /// `@@"name"` in a prompt.
    Quoted,
    /// `@@name` in a prompt.
    Word,
}

impl ReferenceForm {
    /// Whether the text is an argument of a command, which can only mean a session.
    pub const fn is_argument(self) -> bool {
        matches!(self, Self::Argument | Self::Exact)
    }
}

/// The sessions that match a reference.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceMatch {
    /// Exactly one.
    One(Box<Session>),
    /// Several.
    Several(Vec<Session>),
    /// Only the referring session itself.
    OwnSession,
    /// None; these have a similar name.
    NotFound(Vec<Session>),
}

impl ReferenceMatch {
    /// Chooses among the sessions that were found: the only one, or the only one of the same project.
    pub fn choose(
        mut found: Vec<Session>,
        mut similar: Vec<Session>,
        origin: ReferenceOrigin<'_>,
        form: ReferenceForm,
    ) -> Self {
        let is_own = |session: &Session| {
            origin.session.is_some_and(|own| own.agent == session.agent && own.external_id == session.external_id)
        };
        let is_itself = found.iter().any(is_own);
        found.retain(|session| !is_own(session));
        similar.retain(|session| !is_own(session));
        if form != ReferenceForm::Exact && found.len() > 1 {
            let near = |session: &&Session| origin.project.is_some() && session.project.as_deref() == origin.project;
            let mut same_project = found.iter().filter(near);
            if let (Some(one), None) = (same_project.next(), same_project.next()) {
                return Self::One(Box::new(one.clone()));
            }
        }
        match found.len() {
            0 if is_itself => Self::OwnSession,
            0 => Self::NotFound(similar),
            1 => Self::One(Box::new(found.remove(0))),
            _ => Self::Several(found),
        }
    }
}

/// Finds sessions by what a user calls them.
pub struct NameLookup<'a> {
    query: NameQuery,
    form: ReferenceForm,
    project: Option<&'a str>,
    names: &'a [NamedSession],
}

impl<'a> NameLookup<'a> {
    /// Looks a text up among the names of all sessions.
    pub fn new(text: &str, form: ReferenceForm, project: Option<&'a str>, names: &'a [NamedSession]) -> Self {
        Self { query: NameQuery::new(text), form, project, names }
    }

    /// Whether the text is a name, apart from case, spaces and punctuation.
    pub fn is_name(&self, name: &str) -> bool {
        self.query.is_slug(name)
    }

    /// Sessions whose whole name it is.
    pub fn by_whole_name(&self) -> Vec<SessionNumber> {
        let found = self.matching(|named| named.names().any(|name| self.query.is_name(name)));
        if !found.is_empty() {
            return found;
        }
        self.matching(|named| named.names().any(|name| self.query.is_slug(name)))
    }

    /// Sessions whose names have the words, by the first step that finds any. If none does, the word may be the topic
    /// of a session.
    pub fn by_words(&self) -> NameMatch<'_> {
        if self.form == ReferenceForm::Exact || self.is_common() {
            return NameMatch::Sessions(Vec::new());
        }
        let mut steps = vec![NameQuery::has_words as fn(&NameQuery, &str) -> bool, NameQuery::has_beginnings];
        if self.form == ReferenceForm::Argument && self.query.slug().len() >= MIN_PART_BYTES {
            steps.push(NameQuery::contains);
        }
        steps.push(NameQuery::has_misspelled_words);
        let mut found = steps.into_iter().map(|is_match| self.matching_near(|name| is_match(&self.query, name)));
        if let Some(found) = found.find(|found| !found.is_empty()) {
            // A common word in a prompt is not meant as a name.
            let is_common = found.len() > MAX_WORD_MATCHES && self.query.is_one_word();
            return NameMatch::Sessions(if self.form == ReferenceForm::Word && is_common { Vec::new() } else { found });
        }
        let word = self.query.slug();
        match self.project {
            Some(project) if self.query.is_one_word() && self.query.can_be_words() && topic::is_topic(word) => {
                NameMatch::Topic { word, project }
            }
            _ => NameMatch::Sessions(Vec::new()),
        }
    }

    /// Sessions with a name close to the text, the closest first.
    pub fn similar(&self) -> Vec<SessionNumber> {
        if self.is_common() {
            return Vec::new();
        }
        let closeness = |named: &NamedSession| named.names().map(|name| self.query.closeness(name)).max().unwrap_or(0);
        let near = self.names.iter().filter(|named| self.form.is_argument() || self.is_in_project(named));
        let mut close: Vec<(u32, SessionNumber)> =
            near.map(|named| (closeness(named), named.number)).filter(|(closeness, _)| *closeness > 0).collect();
        close.sort_by_key(|(closeness, _)| std::cmp::Reverse(*closeness));
        close.into_iter().map(|(_, number)| number).take(MAX_SIMILAR).collect()
    }

    /// Whether a prompt has no word that can identify a session.
    fn is_common(&self) -> bool {
        self.form == ReferenceForm::Word && !self.query.can_be_words()
    }

    fn is_in_project(&self, named: &NamedSession) -> bool {
        self.project.is_some() && named.project.as_deref() == self.project
    }

    /// Matching sessions of the same project; for an argument, otherwise of any project.
    fn matching_near(&self, is_match: impl Fn(&str) -> bool) -> Vec<SessionNumber> {
        let here = self.matching(|named| self.is_in_project(named) && named.names().any(&is_match));
        if !here.is_empty() || self.form != ReferenceForm::Argument {
            return here;
        }
        self.matching(|named| named.names().any(&is_match))
    }

    fn matching(&self, is_match: impl Fn(&NamedSession) -> bool) -> Vec<SessionNumber> {
        let found = self.names.iter().filter(|named| is_match(named)).map(|named| named.number);
        found.take(MAX_CANDIDATES).collect()
    }
}

/// What the words of a reference mean.
pub enum NameMatch<'a> {
    /// These sessions have them in their names.
    Sessions(Vec<SessionNumber>),
    /// No name has the word, but sessions of the project may be about it.
    Topic {
        /// The only word of the reference.
        word: &'a str,
        /// The project of the referring session.
        project: &'a str,
    },
}
