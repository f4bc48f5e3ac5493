//! Generates search queries for episodes that exist in the home.

use super::plan::TalkSessionPlan;
use super::session::{TalkEpisode, TalkSession};
use super::shared_content::TalkContent;
use crate::random::Random;

const LONG_QUERIES: usize = 200;
const SHORT_QUERIES: usize = 100;
const NAME_QUERIES: usize = 50;
const PHRASE_QUERIES: usize = 20;
/// Which of the twelve words of a long query are function words.
const IS_FUNCTION_WORD: [bool; 12] = [true, false, false, true, false, true, false, false, true, false, true, false];

/// 200 queries of twelve words, 100 of two or three words, 50 paths and names, 20 quoted phrases.
#[must_use]
pub fn generate_queries(plans: &[TalkSessionPlan], content: &TalkContent, seed: u64) -> Vec<String> {
    let mut asker = QueryGenerator { plans, shared: content, random: Random::new(seed ^ 0xA5C) };
    let mut all = Vec::with_capacity(LONG_QUERIES + SHORT_QUERIES + NAME_QUERIES + PHRASE_QUERIES);
    all.extend((0..LONG_QUERIES).map(|_| asker.long_query()));
    all.extend((0..SHORT_QUERIES).map(|_| asker.short_query()));
    all.extend((0..NAME_QUERIES).map(|_| asker.name_query()));
    all.extend((0..PHRASE_QUERIES).map(|_| asker.phrase_query()));
    all
}

struct QueryGenerator<'w> {
    plans: &'w [TalkSessionPlan],
    shared: &'w TalkContent,
    random: Random,
}

impl<'w> QueryGenerator<'w> {
    /// A random episode of a random session.
    fn random_episode(&mut self) -> (TalkSession<'w>, TalkEpisode) {
        let plan = self.random.pick(self.plans);
        let mut session = TalkSession::new(plan, self.shared);
        let skipped = self.random.index(plan.episodes);
        (0..skipped).for_each(|_| drop(session.next_episode()));
        let exchange = session.next_episode();
        (session, exchange)
    }

    fn long_query(&mut self) -> String {
        let (_, exchange) = self.random_episode();
        let mut content = self.content_words(&exchange);
        let word = |function: &bool| {
            if *function {
                self.shared.words.function_word(&mut self.random).to_owned()
            } else {
                take_random(&mut self.random, &mut content)
            }
        };
        IS_FUNCTION_WORD.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn short_query(&mut self) -> String {
        let (_, exchange) = self.random_episode();
        let mut content = self.content_words(&exchange);
        let words: Vec<_> =
            (0..self.random.between(2, 4)).map(|_| take_random(&mut self.random, &mut content)).collect();
        words.join(" ")
    }

    fn name_query(&mut self) -> String {
        let (session, _) = self.random_episode();
        let path = *self.random.pick(&session.files);
        match self.random.below(4) {
            0 => path.to_owned(),
            1 => path.rsplit('/').next().unwrap_or(path).to_owned(),
            _ => self.random.pick(&session.names).clone(),
        }
    }

    fn phrase_query(&mut self) -> String {
        loop {
            let (_, exchange) = self.random_episode();
            let words: Vec<_> = exchange.answer.split(' ').collect();
            let count = self.random.index(2) + 3;
            let plain = |words: &&[&str]| words.iter().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric()));
            // A phrase of function words only, such as "of by the", is not a realistic query.
            let says =
                |words: &&[&str]| words.iter().any(|word| !self.shared.words.is_function_word(&word.to_lowercase()));
            let phrases: Vec<_> = words.windows(count).filter(plain).filter(says).collect();
            if !phrases.is_empty() {
                return format!("\"{}\"", self.random.pick(&phrases).join(" "));
            }
        }
    }

    /// The distinct words of an episode, without function words and punctuation. Never empty.
    fn content_words(&mut self, exchange: &TalkEpisode) -> Vec<String> {
        let said = exchange.prompt.split(' ').chain(exchange.answer.split(' '));
        let bare = said.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        let mut words: Vec<_> = bare.filter(|word| !self.shared.words.is_function_word(word)).collect();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            words.push(self.shared.words.content_word(&mut self.random).to_owned());
        }
        words
    }
}

/// Removes and returns a random word; the last one is not removed.
fn take_random(random: &mut Random, words: &mut Vec<String>) -> String {
    let at = random.index(words.len());
    if words.len() > 1 { words.swap_remove(at) } else { words[at].clone() }
}

#[cfg(test)]
mod tests {
    use super::generate_queries;
    use crate::talk::plan::{TalkSpec, plan_sessions};
    use crate::talk::shared_content::TalkContent;

    #[test]
    fn queries_have_the_expected_forms() {
        let content = TalkContent::new(2, 20);
        let plans = plan_sessions(TalkSpec { episodes: 300, sessions: 20, seed: 2 }, &content);
        let all = generate_queries(&plans, &content, 2);
        let words = |query: &String| query.split(' ').count();
        assert_eq!(all.len(), 370);
        assert!(all[..200].iter().all(|query| words(query) == 12));
        assert!(all[200..300].iter().all(|query| (2..=3).contains(&words(query))));
        assert!(all[300..350].iter().all(|query| words(query) == 1));
        assert!(all[350..].iter().all(|query| query.starts_with('"') && query.ends_with('"')));
        assert_eq!(all, generate_queries(&plans, &content, 2));
    }
}
