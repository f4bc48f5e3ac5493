//! Reads from the wording of a question which memories are likely to answer it. English; other languages ask them all.

use super::MemoryKind;
use super::MemoryKind::{Cause, Decision, Event, File, Fix, Preference, Requirement, Session};

/// How likely a memory is to answer if nothing in the wording speaks for it, from 0 to 1.
const BASE_LIKELIHOOD: f32 = 0.35;
/// Points from which the wording leaves no doubt.
const CLEAR_POINTS: f32 = 3.0;

/// Points of a word that alone speaks clearly for a memory.
const CLEAR_WORD_POINTS: f32 = 2.0;

/// Patterns of words, each with the memory it speaks for and how strongly. A `*` ends a word beginning, `..` skips
/// words, `|` separates alternatives.
const PATTERNS: [(MemoryKind, f32, &str); 129] = [
    (Fix, 2.0, "fix*|solv*|solution*|resolv*|workaround*|repair*|remed*"),
    (Fix, 2.0, "get rid"),
    (Fix, 2.0, "go .. away|goes .. away|went .. away"),
    (Fix, 1.5, "what .. help*"),
    (Fix, 1.5, "seen .. before|had .. before|happen* .. before|seen this|had this"),
    (Fix, 1.0, "error*|exception*|panic*|traceback"),
    (Fix, 0.7, "fail*|crash*|timeout*|hang*|broken|enoent|econnrefused"),
    (Fix, 0.7, "again"),
    (Fix, 1.0, "what to do|how to handle|how do i handle|how do we handle"),
    (Fix, 1.0, "how .. work* again|make .. work|get .. working|got .. working|make .. pass|got .. pass*"),
    (Fix, 1.0, "how did|how was|how were|how do"),
    (Fix, 0.7, "how did we|how did i|how did you|how'd we|how'd i|what was done about|what .. done about"),
    (Fix, 0.7, "silenc*|address*|overc*"),
    (Cause, 1.0, "why"),
    (Cause, 2.0, "why .. fail*|why .. error*|why .. crash*|why .. break*|why .. broke*|why .. hang*|why .. hung"),
    (Cause, 2.0, "why .. stuck|why .. slow*|why .. missing|why .. lost|why .. lose*|why .. stop*|why .. wrong"),
    (Cause, 2.0, "why .. empty|why .. vanish*|why .. disappear*|why .. reload*|why .. flak*|why .. time*"),
    (
        Cause,
        1.5,
        "why .. didn't|why .. doesn't|why .. isn't|why .. wasn't|why .. couldn't|why .. can't|why .. not work*",
    ),
    (Cause, 2.5, "caus*|culprit|root"),
    (Cause, 2.5, "what broke|what breaks|what made|what makes"),
    (Cause, 2.0, "what .. wrong|went wrong|what .. behind|reason .. fail*|reason .. bug|reason .. error*"),
    (Cause, 1.0, "come* from|came from|responsible|due to|because|explanation|explain*"),
    (Cause, 0.7, "bug*|problem*|issue*"),
    (Decision, 3.0, "decid*|decision*|rationale"),
    (Decision, 1.2, "why .. we|why .. i|why not|why no|reason*"),
    (Decision, 2.0, "chose*|choos*|choice*|pick*|settle*|agree*|opt|opted|conclu*"),
    (Decision, 1.5, "instead of|rather than|over"),
    (Decision, 2.0, "vs|versus|better"),
    (Decision, 1.2, "or"),
    (Decision, 2.0, "should i|should we|shall we|shall i|would it make sense"),
    (Decision, 2.0, "go with|went with|going with|stick with|sticking with|stuck with"),
    (Decision, 2.5, "why .. avoid*|why .. drop*|why .. remov*|why .. reject*|why .. switch*|why .. replac*"),
    (
        Decision,
        2.5,
        "why .. revert*|why .. roll*|why .. abandon*|why .. ditch*|why .. migrat*|why .. move*|why .. undo",
    ),
    (Decision, 2.0, "why .. use*|why .. using|why .. keep*|why .. kept|why .. have no|why .. need"),
    (Decision, 1.5, "avoid*|against|drop*|undid|undo|revert*|roll* back|rollback*|abandon*"),
    (Decision, 2.0, "reject*|ruled out|rule out|turned down|say no|said no"),
    (
        Decision,
        1.5,
        "which library|which framework|which database|which tool|which approach|which option|which language",
    ),
    (Decision, 1.0, "which|what .. use|replaced|replace"),
    (Decision, 0.5, "use*|using|plan*|design*|approach*|strateg*"),
    (
        Decision,
        3.0,
        "made .. choose|made .. pick|made .. use|made .. go with|made .. switch|made .. drop|speaks against",
    ),
    (Decision, 1.0, "why is there no|why isn't there|why don't we|why aren't we|why didn't we"),
    (Preference, 2.5, "prefer*|allow*|forbid*|forbidden|permitted|banned|taboo"),
    (Preference, 2.0, "okay to|ok to|fine to|may i|may we|can i|can we|supposed to|acceptable"),
    (Preference, 1.2, "do we|do i|are we|am i|should i|should we"),
    (Preference, 2.0, "style*|convention*|guideline*|rule*|habit*|standard*|policy|policies|norm|norms"),
    (Preference, 2.0, "always|never"),
    (Preference, 1.5, "how do i like|how do we like|how do i want|how should|what should|do i want|do i like"),
    (Preference, 0.7, "like|want|format*|naming|indent*|tone"),
    (Preference, 0.5, "or|use*|don't"),
    (Requirement, 2.0, "need*|prerequisite*|precondition*"),
    (Requirement, 2.5, "requir*|depend* on|depends|incompatib*|compatib*|conflict*"),
    (Requirement, 2.0, "work* with|play* with|get* along|go together|work* together|run* on|work* on"),
    (Requirement, 1.0, "have to|has to|must|support*|version*|together|mix|combine"),
    (File, 2.0, "who .. chang*|who .. touch*|who .. edit*|who .. modif*|who .. wrote|who .. creat*|who .. delet*"),
    (File, 2.0, "when .. chang*|when .. touch*|when .. edit*|when .. modif*|when .. creat*|when .. delet*"),
    (File, 2.5, "happened to|history|sessions .. touch*|sessions .. chang*|sessions .. edit*"),
    (File, 1.5, "chang*|touch*|edit*|modif*|renam*"),
    (File, 1.0, "which sessions|which session|who|last"),
    (Event, 2.5, "when|what day|what date|what time|which day|since when"),
    (Event, 3.0, "how long ago|how recently"),
    (Event, 2.0, "which commit|what commit|which release|which branch|which pr"),
    (Event, 1.5, "who|last time|commit*|merge*|branch*"),
    (Event, 0.7, "upgrad*|install*|added|bump*|introduc*|releas*"),
    (Session, 2.5, "working on|worked on|work on|busy with|in the middle of"),
    (Session, 3.0, "last session|previous session|latest session|last conversation|last chat|recent session*"),
    (Session, 3.0, "where .. stop*|where .. leave|where .. left|where were we|left off|leave off|where .. end*"),
    (Session, 2.0, "what .. left|what's left|left to|still open|still to|left undone|not finished|not done"),
    (Session, 2.5, "todo*|remaining|unfinished|open tasks|open problems|outstanding|pending"),
    (Session, 2.5, "what did we do|what did i do|what have we|what have i|what did you do|what was done|what got done"),
    (Session, 1.5, "yesterday|today|last week|this week|this morning|last night|recently|lately|last time|on monday"),
    (Session, 1.5, "pick up|continue|resume|carry on|go on|catch me up|up to speed"),
    (Session, 1.5, "status|progress|recap|summar*|overview"),
    (Session, 2.0, "next step*|what's next|what is next|what next|do next"),
    (Session, 0.7, "doing|up to|do"),
    // Other wordings for the same, one row per idea.
    (Fix, 2.5, "what did we change .. so|what did i change .. so|what .. change* .. to make|what .. change* .. to get"),
    (Session, 2.5, "what were we up to|what was i up to|what are we up to|been up to"),
    (Fix, 1.0, "cure*|unblock*|get past|got past|patch*"),
    (Fix, 0.7, "red|stack trace|exit code"),
    (Fix, 1.0, "how .. stop .. from|how .. prevent*|how .. avoid*"),
    (Fix, 1.0, "what .. do about|what .. did .. about|deal with|dealt with"),
    (Fix, 0.7, "last time"),
    (Cause, 1.5, "how come|where does .. come"),
    (Cause, 0.7, "happen*"),
    (Cause, 1.0, "trigger*|lead to|led to|leads to"),
    (Decision, 1.0, "how come|explain why|remind me why"),
    (Decision, 1.0, "compare*|pros|cons|tradeoff*|trade-off*|alternative*"),
    (Decision, 1.5, "what .. replac*|what .. instead"),
    (Decision, 2.0, "stance|position|verdict|outcome|discuss*"),
    (Decision, 1.0, "did we|have we|are we"),
    (Decision, 0.7, "constraint*|because of"),
    (
        Decision,
        2.0,
        "make sense|makes sense|an option|off the table|on the table|in question|out of the question|a candidate",
    ),
    (Preference, 1.0, "how .. written|how .. named|how .. format*|how .. write|which style"),
    (Preference, 1.0, "is it ok|is it okay|is it fine|would i mind|mind if"),
    (Preference, 0.7, "usual*|normal*|typical*|expected"),
    (Requirement, 1.5, "clash*|interfer*|break* with|fails with"),
    (Requirement, 1.0, "before .. can|before .. run|minimum|at least"),
    (Requirement, 1.0, "set up|setup|necessary|rely on|relies on"),
    (File, 1.0, "what .. done to|what .. did .. to|worked on"),
    (File, 0.7, "why .. chang*|when|added"),
    (Event, 1.0, "how long|date|day"),
    (Event, 0.7, "switch*|migrat*|move*|start*|remov*|delet*"),
    (Session, 1.0, "where are we|where am i|what were we|what was i|what were you"),
    (Session, 0.7, "going on|the plan|focus*"),
    (Session, 1.0, "accomplish*|achiev*|got done|get done|finished"),
    (Fix, 0.7, "what works|what worked|what did work"),
    (Cause, 0.7, "fault|blame|origin"),
    (Decision, 0.7, "prefer*|recommend*|suggest*"),
    (Preference, 0.7, "recommend*|which"),
    (Requirement, 0.7, "without|with"),
    (Event, 0.7, "first|initially|original*"),
    (Session, 0.7, "before|previous*"),
    (File, 0.7, "author*|owner*|blame"),
    (Cause, 0.7, "matter*|effect*"),
    (Fix, 1.0, "handle*|sort* .. out|sorted|cope*|tackl*|made .. go|makes .. go"),
    (Fix, 2.0, "what did we do|what did i do|what do we do|what do i do"),
    (Fix, 1.0, "get .. to|got .. to|get .. running|got .. running|get .. going|got .. going"),
    (Fix, 0.7, "did we ever|have we ever|have we seen"),
    (Cause, 1.0, "what .. up with|why was|why were|why couldn't|why did"),
    (Decision, 1.5, "why .. no|why .. don't|why .. doesn't|why .. not in"),
    (Decision, 1.5, "objection*|thinking of|considering|an idea|good idea|bad idea|worth|thoughts on|ok with"),
    (Decision, 1.0, "the deal|the story|what .. about|settl*|agreed"),
    (Decision, 0.7, "is .. ok|is .. okay|is .. fine|ok here|okay here|be fine|be ok|be okay|ok for|fine for|ok in"),
    (Preference, 0.7, "is .. ok|is .. okay|is .. fine|ok here|okay here|be fine|be ok|be okay|ok for|fine for|ok in"),
    (Preference, 1.0, "ok|okay|fine"),
    (Decision, 1.0, "ok|okay|fine"),
    (Preference, 1.5, "how big|how long may|how long should|how many|max|maximum|limit|may .. be|must|need to ask"),
    (Preference, 0.7, "how do we|how do i|how should|can .. tests|are .. allowed"),
    (
        Session,
        2.5,
        "still fail*|still red|still broken|right now|currently failing|red at|failing at|is failing|are failing",
    ),
    (Session, 1.5, "status of|state of|progress on|progress with|how far|stand with|at the moment|currently"),
];

/// What the wording of a question says about the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionShape {
    /// Likelihood of each memory, 0 to 1, in the order of [`MemoryKind::ALL`].
    likelihood: [f32; 9],
    /// Names of files in the question.
    pub files: Vec<String>,
    /// Whether it asks for a time or a person.
    pub asks_when: bool,
    /// Whether it asks for a reason.
    pub asks_why: bool,
    /// Whether it may be, or have in it, a printed error.
    pub may_quote_error: bool,
}

impl QuestionShape {
    /// Reads the wording of a question.
    pub fn parse(question: &str) -> Self {
        let lower = question.to_lowercase().replace('’', "'");
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .map(with_apostrophe)
            .collect();
        let mut points = [0.0_f32; 9];
        for (kind, weight, pattern) in PATTERNS {
            if pattern.split('|').any(|pattern| matches_pattern(&words, pattern)) {
                points[kind as usize] += weight;
            }
        }
        let files = file_names(question);
        // Only a question with the name of a file asks for its history, and hardly for the last session.
        let (file, session) = if files.is_empty() { (0.0, 1.0) } else { (1.5, 0.4) };
        points[File as usize] *= file;
        points[Session as usize] *= session;
        let best = points.iter().copied().fold(CLEAR_POINTS, f32::max);
        let likelihood = points.map(|points| BASE_LIKELIHOOD + (1.0 - BASE_LIKELIHOOD) * points / best);
        let asks_when = words.first().is_some_and(|first| matches!(first.split('\'').next(), Some("when" | "who")))
            || lower.contains("how long ago");
        let asks_why = matches_pattern(&words, "why") || lower.contains("how come") || lower.contains("reason");
        let may_quote_error = may_quote_error(question);
        Self { likelihood, files, asks_when, asks_why, may_quote_error }
    }

    /// How likely this memory is to answer, 0 to 1.
    pub fn likelihood(&self, kind: MemoryKind) -> f32 {
        self.likelihood[kind as usize]
    }

    /// Whether nothing in the wording speaks for any memory.
    pub fn is_open(&self) -> bool {
        self.likelihood.iter().all(|likelihood| *likelihood <= BASE_LIKELIHOOD)
    }

    /// Whether the wording speaks for this memory at least as much as for any other.
    pub fn is_mostly(&self, kind: MemoryKind) -> bool {
        let own = self.likelihood(kind);
        own > BASE_LIKELIHOOD && self.likelihood.iter().all(|other| *other <= own)
    }
}

/// Whether a word alone speaks clearly for a memory: it says which kind of answer is wanted, and not about what.
pub(super) fn names_memory(word: &str) -> bool {
    let clear = PATTERNS.iter().filter(|(_, points, _)| *points >= CLEAR_WORD_POINTS);
    let mut words = clear.flat_map(|(_, _, pattern)| pattern.split('|')).filter(|pattern| !pattern.contains(' '));
    words.any(|pattern| pattern.strip_suffix('*').map_or(word == pattern, |beginning| word.starts_with(beginning)))
}

/// Whether the words match a pattern anywhere.
fn matches_pattern(words: &[&str], pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split(' ').collect();
    (0..words.len()).any(|from| matches_from(&words[from..], &parts))
}

fn matches_from(words: &[&str], parts: &[&str]) -> bool {
    match (parts, words) {
        ([], _) => true,
        (["..", rest @ ..], _) => (0..words.len()).any(|skip| matches_from(&words[skip..], rest)),
        ([part, rest @ ..], [word, others @ ..]) => {
            let is_match = match part.strip_suffix('*') {
                Some(beginning) => word.starts_with(beginning),
                None => word == part || is_contraction_of(word, part),
            };
            is_match && matches_from(others, rest)
        }
        (_, []) => false,
    }
}

/// Whether a word is another one with a verb: "what's", "how'd".
fn is_contraction_of(word: &str, part: &str) -> bool {
    word.strip_prefix(part).is_some_and(|rest| matches!(rest, "'s" | "'d" | "'re" | "'ve" | "'ll"))
}

/// A short form that is often typed without its apostrophe, with it.
fn with_apostrophe(word: &str) -> &str {
    const FORMS: [&str; 18] = [
        "what's",
        "how's",
        "how'd",
        "who's",
        "where's",
        "why's",
        "when's",
        "that's",
        "don't",
        "didn't",
        "doesn't",
        "isn't",
        "wasn't",
        "aren't",
        "can't",
        "couldn't",
        "shouldn't",
        "won't",
    ];
    let is_form = |form: &&&str| form.len() == word.len() + 1 && form.chars().filter(|c| *c != '\'').eq(word.chars());
    FORMS.iter().find(is_form).copied().unwrap_or(word)
}

/// Words that look like a path or the name of a file.
fn file_names(question: &str) -> Vec<String> {
    let tokens = question.split_whitespace().map(|token| {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '/' | '_' | '-' | '@'));
        token.trim_end_matches(['.', '/'])
    });
    tokens.filter(|token| is_file_name(token)).map(str::to_owned).collect()
}

fn is_file_name(token: &str) -> bool {
    let name = token.rsplit('/').next().unwrap_or(token);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return matches!(name.to_lowercase().as_str(), "makefile" | "dockerfile" | "justfile" | "gemfile" | "rakefile");
    };
    let is_extension = (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_address = token.contains("://") || token.contains('@') && !token.contains('/');
    is_extension && !is_address && (!stem.is_empty() || name.len() > 2) && !matches!(token, "e.g" | "i.e")
}

/// Whether a text may contain a printed error: several lines, or the punctuation of one.
fn may_quote_error(question: &str) -> bool {
    let has_mark = [": ", "`", "\"", "'", "[", "::"].iter().any(|mark| question.contains(mark));
    let has_code = question.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| {
        let letters = word.bytes().filter(u8::is_ascii_uppercase).count();
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= 5 && letters + digits == word.len() && letters >= 1 || word.len() > 8 && word.ends_with("Error")
    });
    question.lines().count() > 1 || has_mark || has_code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: MemoryKind, questions: &[&str]) {
        for question in questions {
            let shape = QuestionShape::parse(question);
            assert!(shape.is_mostly(kind), "{question}: {:?}", MemoryKind::ALL.map(|kind| shape.likelihood(kind)));
        }
    }

    #[test]
    fn the_wording_shows_the_memory() {
        // S003-22
        check(Fix, &["how did we fix the login?", "what solved the flaky build", "how do I get rid of ENOSPC again?"]);
        check(
            Decision,
            &["why did we avoid redis?", "what did we decide about caching", "should we use sqlite or postgres"],
        );
        check(
            Preference,
            &["am I allowed to push to main?", "what style do I like for commits", "do we always squash?"],
        );
        check(Cause, &["why does the import crash?", "what caused the outage", "what broke the browser tests"]);
        check(Requirement, &["what does the worker need?", "does the cache work with node 18?"]);
        check(File, &["who changed src/db.ts?", "what happened to parser.rs", "which sessions touched Makefile"]);
        check(Event, &["when did we upgrade node?", "how long ago was the release", "which commit added the plugin"]);
        check(
            Session,
            &["what were we working on?", "where did we stop", "what did we do yesterday?", "what is left to do"],
        );
    }

    #[test]
    fn missing_apostrophes_change_nothing() {
        for (typed, meant) in [
            ("whats left to do", "what's left to do"),
            ("why dont we use redis", "why don't we use redis"),
            ("hows the login fixed", "how's the login fixed"),
        ] {
            let kinds = |question: &str| MemoryKind::ALL.map(|kind| QuestionShape::parse(question).is_mostly(kind));
            assert_eq!(kinds(typed), kinds(meant), "{typed}");
        }
        check(Fix, &["whats the remedy for ENOSPC", "how'd we get past the nil map panic"]);
        check(Decision, &["what was the outcome of the cache discussion", "thinking of redis, any objections?"]);
        check(Session, &["which test is red right now?", "what's the status of the importer"]);
    }

    #[test]
    fn files_are_recognized_by_their_names() {
        let files = |question: &str| QuestionShape::parse(question).files;
        assert_eq!(files("who changed `src/db.ts`, and why config.toml?"), ["src/db.ts", "config.toml"]);
        assert!(files("is v1.2.3 e.g. used at https://a.dev/x?").is_empty());
    }

    #[test]
    fn printed_errors_are_noticed() {
        for text in ["error: no such table: orders", "E0308 again", "a\nb", "TypeError everywhere"] {
            assert!(may_quote_error(text), "{text}");
        }
        assert!(!may_quote_error("why did we drop redis"));
    }
}
