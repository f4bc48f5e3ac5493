//! Short names for what was chosen or is wanted.

/// The most words a name has.
const MOST_WORDS: usize = 6;

/// Words after which a sentence no longer says what was chosen.
const ENDS_A_THING: &str = "for because since so as due otherwise in on at when which that where but and instead rather over here now \
    then please pls to from until unless if while also too by per already not everywhere again anyway is are it \
    we you i they than across after before only yet plus or will should";

/// Words after which a sentence no longer says what the rule is.
const ENDS_A_RULE: &str = "because since so due otherwise but please pls unless if when which it that you from";

const ARTICLES: &str = "a an the";

/// Words that say nothing at the beginning of a name.
const LEADING: &str = "a an the some just simply only our really maybe more any plain good old";

/// Names that begin with one of these point elsewhere instead of naming a thing.
const POINTERS: &str = "this that these those it them my your his her their same what whatever whichever something anything \
    everything nothing one ones other others another first second third last latter former next previous above \
    below following option options approach plan way both either all none suggestion recommendation yes no me us \
    you here there how why who each every as be being doing having two three four half changes things thing \
    stuff step steps phase number current existing new different with of up out off proper right better best \
    simple simpler quick small minimal few couple lot bit combination mix path route";

/// The thing that a text, which follows a cue, names first.
pub(super) fn thing(text: &str, masked: &str) -> Option<String> {
    name(text, masked, ENDS_A_THING).filter(|name| !is_pointer(name))
}

/// What a rule is about: more words than a thing has, because a rule needs its circumstances.
pub(super) fn rule(text: &str, masked: &str) -> Option<String> {
    name(text, masked, ENDS_A_RULE)
}

/// What was picked from a list, in the words of the list.
pub(super) fn item(text: &str) -> Option<String> {
    name(text, text, "because since which that").filter(|name| !is_pointer(name) && !is_task(name))
}

/// Whether a name begins with work to be done, which is an order and no way of doing things.
pub(super) fn is_task(name: &str) -> bool {
    const TASKS: &str = "add analyze check clean commit continue create debug deploy document explain explore fix implement \
        investigate look merge open proceed push read rename redefine review rewrite run show skip start stop \
        tell test triage try update verify wait write remove delete refactor make do to not";
    is_among(name.split(' ').next().unwrap_or_default(), TASKS)
}

/// Whether a name only points to something said elsewhere.
fn is_pointer(name: &str) -> bool {
    let mut words = name.split(' ');
    let first = words.next().unwrap_or_default();
    let is_letter_or_number = name.len() < 2 || first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'%');
    is_letter_or_number || first.starts_with(['/', '@', '#']) || is_among(first, POINTERS)
}

fn name(text: &str, masked: &str, ends: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut at = 0;
    for masked_word in masked.split_inclusive(char::is_whitespace) {
        let word = text.get(at..at + masked_word.len()).unwrap_or_default().trim();
        at += masked_word.len();
        let shape = masked_word.trim();
        let bare = bare(word);
        let is_code = shape.contains('`');
        let is_lead = !is_code && words.is_empty() && is_among(bare, LEADING);
        if !is_code && !is_lead && is_among(bare, ends) {
            break;
        }
        if shape.starts_with(['(', '—', '–', '→']) || shape == "-" || words.len() == MOST_WORDS {
            break;
        }
        if !is_lead && !bare.is_empty() && (is_code || !is_among(bare, ARTICLES)) {
            words.push(folded(word, bare));
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

/// Whether a word stands in a table of words.
fn is_among(word: &str, table: &str) -> bool {
    table.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

fn bare(word: &str) -> &str {
    let word = word.trim_start_matches(['*', '`', '"', '\'', '_', '“', '(', '[', '‘']);
    word.trim_end_matches(['*', '`', '"', '\'', '”', ',', ';', ':', '.', '!', '?', ')', ']', '’'])
}

/// Lower case, except for names in code.
fn folded(word: &str, bare: &str) -> String {
    let is_name = word.contains('`') || bare.contains(['_', '/', '(']) || bare.contains("::");
    if is_name { bare.to_owned() } else { bare.to_lowercase() }
}

/// Whether two names mean the same thing: one is the other, perhaps with more words around it.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
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
    fn a_thing_ends_where_its_circumstances_begin() {
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
            assert_eq!(thing(text, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_name_with_more_words_is_the_same_thing() {
        assert!(are_alike("squash merges", "feature branches with squash merges"));
        assert!(are_alike("SQLite", "sqlite"));
        assert!(!are_alike("go", "mongo"));
    }
}
