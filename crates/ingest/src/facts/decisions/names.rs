//! Derives short names for decisions and preferences.

/// Maximum number of words in a name.
const MAX_NAME_WORDS: usize = 6;
/// Same, for a name that the sentence model marked: it often is a whole phrase.
const MAX_SPAN_WORDS: usize = 9;

/// Maximum length of a name, in bytes. A longer first word is kept, because a part of it names nothing.
const MAX_NAME_BYTES: usize = 80;

/// Words that end the name of an option.
const OPTION_STOP_WORDS: &str = "for because since so as due otherwise in on at when which that where but and instead rather over here now \
    then please pls to from until unless if while also too by per already not everywhere again anyway is are it \
    we you i they than across after before only yet plus or will should nevertheless after all";

/// Words that end the name of a preference.
const PREFERENCE_STOP_WORDS: &str =
    "because since so due otherwise but please pls unless if when which it that you from";

const ARTICLES: &str = "a an the";

/// Words that are dropped at the start of a name.
const DROPPED_PREFIX_WORDS: &str = "a an the some just simply only our really maybe more any plain good old";

/// Words that are dropped at the start of a marked name.
const DROPPED_SPAN_WORDS: &str =
    "use using with by of to just only any the a an our your be is for not no never in on another more we i they rid";

/// Words with which no name ends.
const DANGLING_WORDS: &str =
    "such as for with of to in on at by from and or but that which is are be so some any its their our your into";

/// Verbs before the name of a package that is added.
const ADDING_VERBS: [&str; 10] = [
    "pull in ",
    "pulling in ",
    "bring in ",
    "install ",
    "installing ",
    "add ",
    "import ",
    "rely on ",
    "depend on ",
    "introduce ",
];

/// Nouns after the name of a package.
const PACKAGE_NOUNS: [&str; 7] = [" package", " library", " lib", " dependency", " module", " crate", " gem"];

/// Names that start with one of these refer to something else instead of naming it.
const REFERENCE_WORDS: &str = "this that these those it them my your his her their same what whatever whichever something anything \
    everything nothing one ones other others another first second third last latter former next previous above \
    below following option options approach plan way both either all none suggestion recommendation yes no me us \
    you here there how why who each every as be being doing having two three four half changes things thing \
    stuff step steps phase number current existing new different with of up out off proper right better best \
    simple simpler quick small minimal few couple lot bit combination mix path route nah nope absolutely definitely issue problem";

/// The name at the start of a text that follows a cue.
pub(super) fn leading_name(text: &str, masked: &str) -> Option<String> {
    collect_name(text, masked, OPTION_STOP_WORDS, MAX_NAME_WORDS).filter(|name| !is_reference(name))
}

/// The name of a preference: longer than the name of an option, because it includes circumstances.
pub(super) fn preference_name(text: &str, masked: &str) -> Option<String> {
    collect_name(text, masked, PREFERENCE_STOP_WORDS, MAX_NAME_WORDS)
}

/// The name that the sentence model marked: as it is, without articles. `None` if it only refers to something else.
pub(super) fn span_name(text: &str) -> Option<String> {
    let mut text = text.trim();
    while let Some((_, rest)) = text.split_once(' ').filter(|(first, _)| contains_word(first, DROPPED_SPAN_WORDS)) {
        text = rest.trim_start();
    }
    // "pull in axios", "the uuid package": the name is the package.
    for verb in ADDING_VERBS {
        let bare =
            text.get(..verb.len()).filter(|start| start.eq_ignore_ascii_case(verb)).map(|_| text[verb.len()..].trim());
        text = bare.filter(|bare| !bare.is_empty() && !bare.contains(' ')).unwrap_or(text);
    }
    for noun in PACKAGE_NOUNS {
        text = text.strip_suffix(noun).filter(|bare| !bare.trim().contains(' ')).unwrap_or(text);
    }
    let mut name = collect_name(text, text, "because since", MAX_SPAN_WORDS)?;
    while let Some((rest, _)) = name.rsplit_once(' ').filter(|(_, last)| contains_word(last, DANGLING_WORDS)) {
        name.truncate(rest.len());
    }
    Some(name).filter(|name| !is_bare_reference(name) && !is_bare_task(name) && !is_fragment(name))
}

/// Words with which a statement turns something down.
const DENIALS: &str = "no not never don't dont do stop avoid without neither nothing none";

/// The name of a statement that names no thing: its own words, up to the first pause.
pub(super) fn statement_name(text: &str) -> Option<String> {
    const LEADS: &str = "ok okay so and but also alright right well yes yeah actually please pls then now let's lets i we i'd we'll i'll \
        we're i'm want would like to think that should";
    let mut rest = text.trim();
    while let Some((_, after)) =
        rest.split_once(' ').filter(|(first, _)| contains_word(strip_punctuation(first), LEADS))
    {
        rest = after.trim_start();
    }
    // What is turned down needs a name of its own: "not mongo" must not read like a wish for it.
    if contains_word(strip_punctuation(rest.split(' ').next().unwrap_or_default()), DENIALS) {
        return None;
    }
    let name = collect_name(rest, rest, "because since", MAX_SPAN_WORDS)?;
    let says_nothing = |word: &str| {
        contains_word(word, REFERENCE_WORDS)
            || contains_word(word, OPTION_STOP_WORDS)
            || contains_word(word, "go do use keep make take like want need get put with")
    };
    (name.split(' ').count() >= 2 && !name.split(' ').all(says_nothing) && !is_bare_task(&name) && !is_fragment(&name))
        .then_some(name)
}

/// Whether a name begins in the middle of a phrase.
fn is_fragment(name: &str) -> bool {
    const FIRST: &str = "from at off about into they've they're it's it'll i've i'm you're that's banned than until while though \
        whenever when where how very too so and or but ever further";
    contains_word(name.split(' ').next().unwrap_or_default(), FIRST)
}

/// Whether a name is a piece of work on something that is not named: "implement them".
fn is_bare_task(name: &str) -> bool {
    const WORK: &str = "implement fix do make add remove change update create build write test run check guide help see use try handle";
    name.split_once(' ').is_some_and(|(verb, rest)| {
        contains_word(verb, WORK) && rest.split(' ').all(|word| contains_word(word, REFERENCE_WORDS))
    })
}

/// Whether a name consists of words that refer to something else.
fn is_bare_reference(name: &str) -> bool {
    let is_empty = |word: &str| {
        contains_word(word, REFERENCE_WORDS)
            || contains_word(word, OPTION_STOP_WORDS)
            || (name.contains(' ') && word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name.len() < 2 || name.split(' ').all(is_empty)
}

/// Whether a name starts with a task, which makes it an instruction and not a decision.
pub(super) fn is_task(name: &str) -> bool {
    const TASKS: &str = "add analyze check clean commit continue create debug deploy document explain explore fix implement \
        investigate look merge open proceed push read rename redefine review rewrite run show skip start stop \
        tell test triage try update verify wait write remove delete refactor make do to not";
    contains_word(name.split(' ').next().unwrap_or_default(), TASKS)
}

/// Whether a name only refers to something mentioned elsewhere.
fn is_reference(name: &str) -> bool {
    let mut words = name.split(' ');
    let first = words.next().unwrap_or_default();
    let is_letter_or_number = name.len() < 2 || first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'%');
    is_letter_or_number || first.starts_with(['/', '@', '#']) || contains_word(first, REFERENCE_WORDS)
}

fn collect_name(text: &str, masked: &str, ends: &str, max_words: usize) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut at = 0;
    for masked_word in masked.split_inclusive(char::is_whitespace) {
        let word = text.get(at..at + masked_word.len()).unwrap_or_default().trim();
        at += masked_word.len();
        let shape = masked_word.trim();
        let bare = strip_punctuation(word);
        let is_code = shape.contains('`');
        let is_lead = !is_code && words.is_empty() && contains_word(bare, DROPPED_PREFIX_WORDS);
        if !is_code && !is_lead && contains_word(bare, ends) {
            break;
        }
        let length: usize = words.iter().map(|word| word.len() + 1).sum();
        let is_full = words.len() == max_words || (length > 0 && length + bare.len() > MAX_NAME_BYTES);
        if shape.starts_with(['(', '—', '–', '→']) || shape == "-" || is_full {
            break;
        }
        if !is_lead && !bare.is_empty() && (is_code || !contains_word(bare, ARTICLES)) {
            words.push(fold_case(word, bare));
        }
        if !words.is_empty()
            && shape.trim_end_matches(['*', '`', '"', '_', '\'']).ends_with([',', ';', ':', '.', '!', '?', ')'])
        {
            break;
        }
    }
    let name = words.join(" ");
    name.chars().any(char::is_alphabetic).then_some(name)
}

/// Whether a space-separated table contains a word.
pub(super) fn contains_word(word: &str, table: &str) -> bool {
    // Bytes are much faster to split than characters, and names are compared with long tables.
    table.as_bytes().split(|byte| *byte == b' ').any(|known| known.eq_ignore_ascii_case(word.as_bytes()))
}

pub(super) fn strip_punctuation(word: &str) -> &str {
    let word = word.trim_start_matches(['*', '`', '"', '\'', '_', '“', '(', '[', '‘']);
    word.trim_end_matches(['*', '`', '"', '\'', '”', ',', ';', ':', '.', '!', '?', ')', ']', '’'])
}

/// Lower case, except for names in code.
fn fold_case(word: &str, bare: &str) -> String {
    let is_name = word.contains('`') || bare.contains(['_', '/', '(']) || bare.contains("::");
    if is_name { bare.to_owned() } else { bare.to_lowercase() }
}

/// Whether two names mean the same: equal, or one contains the words of the other.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        name.to_lowercase().split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
    };
    let (one, other) = (words(one), words(other));
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    !short.is_empty() && long.windows(short.len()).any(|window| window == short.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_ends_where_the_circumstances_start() {
        for (text, expected) in [
            ("postgres because we need it", Some("postgres")),
            ("the CSS modules, one file each", Some("css modules")),
            ("a hand written recursive descent parser rather than pest", Some("hand written recursive descent parser")),
            ("Java 21 as the baseline", Some("java 21")),
            ("`showSelector` here", Some("showSelector")),
            ("**Deno** - one binary", Some("deno")),
            ("that one", None),
            ("5 as the limit", None),
            ("/skill:x to read", None),
            ("option 1", None),
        ] {
            assert_eq!(leading_name(text, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn marked_name_is_complete_and_names_something() {
        for (text, expected) in [
            ("support for plain links such as", Some("support for plain links")),
            ("we keep the old parser around for", Some("keep old parser around")),
            ("show a clear error message for each field", Some("show clear error message for each field")),
            ("implement them", None),
            ("fix it", None),
            ("option 1", None),
        ] {
            assert_eq!(span_name(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn name_with_more_words_is_the_same_name() {
        assert!(is_same_name("squash merges", "feature branches with squash merges"));
        assert!(is_same_name("SQLite", "sqlite"));
        assert!(!is_same_name("go", "mongo"));
    }
}
