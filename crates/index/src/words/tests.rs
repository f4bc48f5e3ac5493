//! Word splitting, checked with tables of texts and their expected words.

use proptest::prelude::*;

use super::*;

/// Checks the words in order; `|` separates positions.
fn check(text: &str, expect: &str) {
    let words = split(text);
    let mut joined = String::new();
    let mut place = 0;
    for word in words.iter() {
        if !joined.is_empty() {
            joined.push_str(if word.position == place { " " } else { " | " });
        }
        place = word.position;
        joined.push_str(word.text);
    }
    assert_eq!(joined, expect, "words of {text:?}");
}

fn finds(text: &str, query: &str) {
    let words = split(text);
    let found = split(query).iter().any(|wanted| words.iter().any(|word| word.text == wanted.text));
    assert!(found, "{query:?} should find {text:?}");
}

#[test]
fn code_is_found_by_its_parts_and_whole() {
    check("src/store/wal.rs", "src/store/wal.rs src | store | wal.rs wal | rs");
    check("HttpClientError", "httpclienterror http | client | error");
    check("max_hot_entries", "max_hot_entries max | hot | entri");
    check("foo.bar", "foo.bar foo | bar");
    check("std::fs::File", "std::fs::file std | fs | file");
    check("XMLHttpRequest2", "xmlhttprequest2 xml | http | request2");
    check("C:\\Users\\ann", "c | users\\ann user | ann");
    check("kebab-case --no-run", "kebab-case kebab | case | no-run | run");
    check("error[E0502]: borrow", "error | e0502 | borrow");
    check("fn main() { x += 1; }", "fn | main | x | 1");
    check("a1b2c3d4e5f6 0x7fff v1.2.3", "a1b2c3d4e5f6 | 0x7fff | v1.2.3 v1 | 2 | 3");
    check("foo(bar)->baz", "foo | bar | baz");
    check("https://host.example:8080/a_b?q=1", "https | host.example host | exampl | 8080/a_b 8080 | a_b | b | q | 1");
}

#[test]
fn prose_is_stemmed_and_stop_words_are_left_out() {
    check("We decided to use the faster queries", "decid | use | faster | queri");
    check("Ann's dogs don't run; I've stopped.", "ann | dog | run | stop");
    check("naïve café", "naiv | cafe");
    check("It is what it is", "");
    check("rock’n’roll", "rock | n | roll");
}

#[test]
fn any_form_of_a_word_finds_it() {
    for (text, query) in [
        ("src/store/wal.rs", "wal.rs"),
        ("src/store/wal.rs", "STORE"),
        ("HttpClientError", "httpclienterror"),
        ("maxHotEntries", "maxhotentries"),
        ("max_hot_entries", "hot entry"),
        ("retries", "retry"),
        ("cafe\u{301}", "café"),
        ("ＦＵＬＬ width", "full"),
        ("数据库连接失败", "连接"),
        ("数据库连接失败", "库"),
        ("エラーを修正した", "修正"),
        ("데이터베이스 오류", "오류"),
        ("ship it 🚀🚀", "🚀"),
        ("हिन्दी में", "हिन्दी"),
        ("Größe der Straße", "größe"),
        ("ошибка сети", "ОШИБКА"),
        ("👩‍💻 wrote it", "wrote"),
    ] {
        finds(text, query);
    }
}

#[test]
fn blobs_are_left_out_but_keep_their_position() {
    check(&format!("{} end", "x".repeat(65)), "end");
    let words = split(&format!("begin {} end", "a".repeat(500)));
    assert_eq!(words.iter().map(|word| word.position).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn word_tables_are_sorted_for_binary_search() {
    assert!(english::COMMON_WORDS.is_sorted());
    assert!(english::MORE_STOP_WORDS.is_sorted());
    assert!(english::IRREGULAR_FORMS.is_sorted());
}

#[test]
fn accents_without_a_letter_are_not_words() {
    check("\u{300} a\u{300}\u{301}b", "ab");
}

proptest! {
    #[test]
    fn words_lie_within_the_text(text in any::<String>()) {
        let words = split(&text);
        let mut last = 0;
        for word in words.iter() {
            prop_assert!(!word.text.is_empty());
            prop_assert!(word.position >= last);
            prop_assert!(text.get(word.start..word.end).is_some_and(|slice| !slice.is_empty()));
            last = word.position;
        }
    }

    #[test]
    fn a_reused_splitter_gives_the_same_words(texts in proptest::collection::vec(any::<String>(), 1..5)) {
        let mut splitter = WordSplitter::default();
        for text in &texts {
            let mut words = WordList::default();
            splitter.split(text, &mut words);
            let alone = split(text);
            prop_assert_eq!(words.iter().collect::<Vec<_>>(), alone.iter().collect::<Vec<_>>());
        }
    }
}
