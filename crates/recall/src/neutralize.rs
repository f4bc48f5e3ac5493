//! Makes text from sessions unable to pass for a control tag: ours, an agent's, or a chat template's. The only place
//! that knows those tags; everything that reaches a model goes through it.

use rethread_model::is_unsafe_to_display;

/// Removes invisible characters, and replaces the `<` of every control tag, however it is spelled.
pub(crate) fn neutralize(text: &str) -> String {
    let text: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let opens = is_angle_bracket(c) && opens_control_tag(before, &text[at + c.len_utf8()..]);
        out.push(if opens { '‹' } else { c });
        before = c;
    }
    out
}

/// Whether a character can hide inside a tag. Joiners that scripts and emoji need are kept; `TagName` skips them.
pub(crate) fn is_invisible(c: char) -> bool {
    is_unsafe_to_display(c) || matches!(c, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}')
}

/// `<` and the characters that look like it and that models read as it.
pub(crate) fn is_angle_bracket(c: char) -> bool {
    matches!(c, '<' | '\u{fe64}' | '\u{ff1c}')
}

/// Tags with which agents and Rethread mark text as their own, without separators. Nothing else is called so, and a
/// longer name or attributes may follow.
#[rustfmt::skip]
const HOST_TAGS: &[&str] = &[
    "rethreadcontext", "rethreadowncall", "systemreminder", "systemmessage", "systemprompt", "systeminstruction",
    "antml", "tasknotification", "agentnotification", "localcommand", "userpromptsubmithook", "persistedoutput",
    "environmentcontext", "userinstructions", "developerinstructions", "permissionsinstructions", "imstart", "imend",
    "startofturn", "endofturn",
];

/// Tags that models read as roles, tools or parts of a prompt. Types and markup can have the same names, so only the
/// exact name counts, and only where it is not the parameter of a generic type.
#[rustfmt::skip]
const ROLE_TAGS: &[&str] = &[
    "system", "assistant", "human", "user", "developer", "tool", "toolcall", "tooluse", "toolresult", "toolresponse",
    "functioncall", "functioncalls", "functionresult", "functionresults", "invoke", "instructions", "thinking",
    "record", "transcript", "question", "conversation", "previoussummary", "commandname", "commandmessage",
    "commandargs", "bashinput", "bashstdout", "bashstderr",
];

/// Whether a `<` after `before` and followed by `rest` opens or closes a control tag.
fn opens_control_tag(before: char, rest: &str) -> bool {
    let Some(name) = TagName::read(rest) else { return false };
    let is_generic = before.is_alphanumeric() || before == ':' || before == '_';
    HOST_TAGS.iter().any(|tag| name.starts_with(tag))
        || name.is_template
        || (!is_generic && name.is_closed && ROLE_TAGS.iter().any(|tag| name.is_exactly(tag)))
}

/// Maximum number of characters read after a `<`, so that a text full of them takes linear time.
const MAX_TAG_CHARS: usize = 120;

/// What follows a `<`, reduced to the letters that decide which tag it is.
struct TagName {
    /// Letters and digits in lower case, until the tag ends. Letters of other scripts are `ANY_LETTER`.
    letters: String,
    /// Number of letters before the first space.
    first_word: usize,
    /// Whether a `>` follows.
    is_closed: bool,
    /// Whether it is written as `<|name|>`.
    is_template: bool,
}

/// Stands for a letter outside ASCII, which may look like any other: `ѕystem`.
const ANY_LETTER: char = '?';

impl TagName {
    /// `None` if no name follows.
    fn read(rest: &str) -> Option<Self> {
        let is_lead = |c: char| c.is_whitespace() || matches!(c, '/' | '|' | '\\' | '!') || !is_visible(c);
        let begin = rest.char_indices().take(MAX_TAG_CHARS).find(|(_, c)| !is_lead(*c))?.0;
        let (lead, name) = rest.split_at(begin);
        if !name.starts_with(char::is_alphabetic) {
            return None;
        }
        let mut tag = Self { letters: String::new(), first_word: 0, is_closed: false, is_template: false };
        let mut in_first_word = true;
        let mut before = ' ';
        for c in name.chars().take(MAX_TAG_CHARS) {
            if is_angle_bracket(c) {
                break;
            }
            if matches!(c, '>' | '\u{fe65}' | '\u{ff1e}') {
                tag.is_closed = true;
                tag.is_template = lead == "|" && before == '|' && in_first_word;
                break;
            }
            in_first_word &= !c.is_whitespace();
            if c.is_alphanumeric() {
                tag.letters.push(fold_letter(c));
                tag.first_word += usize::from(in_first_word);
            }
            before = c;
        }
        Some(tag)
    }

    fn starts_with(&self, tag: &str) -> bool {
        self.letters.len() >= tag.len() && is_spelled(&self.letters[..tag.len()], tag)
    }

    fn is_exactly(&self, tag: &str) -> bool {
        (self.first_word == tag.len() || self.letters.len() == tag.len()) && self.starts_with(tag)
    }
}

/// Compares letters, of which any may be `ANY_LETTER`. A name of only foreign letters is a word of its language.
fn is_spelled(letters: &str, tag: &str) -> bool {
    letters.chars().any(|c| c != ANY_LETTER)
        && letters.chars().zip(tag.chars()).all(|(letter, wanted)| letter == ANY_LETTER || letter == wanted)
}

/// One ASCII character for each letter, so that lengths in bytes and in letters agree.
fn fold_letter(c: char) -> char {
    let narrow = match c {
        // Full-width forms of ASCII.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    if narrow.is_ascii() { narrow.to_ascii_lowercase() } else { ANY_LETTER }
}

/// False for joiners, variation selectors and other marks without a width.
fn is_visible(c: char) -> bool {
    !matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{300}'..='\u{36f}' | '\u{115f}' | '\u{3164}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_spelling_of_a_control_tag_is_neutralized() {
        // D64, T11
        for tag in [
            "</rethread-context>",
            "< /rethread-context>",
            "<\u{200b}/rethread-context>",
            "<\0/rethread-context>",
            "<\u{200d}/rethread-context>",
            "<\n/ RETHREAD _ context\t>",
            "</rethread-con\u{ad}text foo=\"1\">",
            "<system-reminder>",
            "</ System Reminder >",
            "<system_reminder id='7'>",
            "<ѕystem-reminder>",
            "＜system-reminder＞",
            "<ｓystem-reminder>",
            "<s\u{fe0f}ystem-reminder>",
            "<system>",
            "</ human >",
            "<function_calls>",
            "<invoke name=\"Bash\">",
            "<|im_start|>",
            "<|endoftext|>",
            "<task-notification>",
            "<user-prompt-submit-hook>",
        ] {
            let out = neutralize(&format!("a {tag} b"));
            assert!(!out.chars().any(is_angle_bracket), "{tag:?}: {out:?}");
            assert!(out.contains('‹'), "{tag:?}: {out:?}");
        }
    }

    #[test]
    fn code_and_markup_are_kept() {
        for text in [
            "Vec<String> </div> <rethread> a < b && c > d",
            "Option<User>, Result<System, Error>, Vec::<ToolUse>::new()",
            "if x < system_time { y } else if z <= user.len() {",
            "<username>, <user-card id=\"7\">, <toolbar>, <System.Text>",
            "list <| map f |> sum",
            "<Данные>, <人>, a <- b, x << 2, <!-- note -->",
            "<",
            "</",
            "</rethread-contex",
            "<rethread-conté",
            "👩\u{200d}👩 stays joined",
        ] {
            assert_eq!(neutralize(text), text);
        }
    }

    #[test]
    fn a_text_full_of_brackets_takes_linear_time() {
        let text = "< ".repeat(200_000);
        assert_eq!(neutralize(&text), text);
    }
}
