//! Writes down what people might ask later about exchanges that are really there.

use super::plan::Plan;
use super::session::{Exchange, Session};
use super::world::World;
use crate::random::Random;

const LONG: usize = 200;
const SHORT: usize = 100;
const NAMED: usize = 50;
const QUOTED: usize = 20;
/// Where the function words stand among the twelve of a long query.
const FUNCTION: [bool; 12] = [true, false, false, true, false, true, false, false, true, false, true, false];

/// 200 queries of twelve words, 100 of two or three, 50 paths and names, 20 phrases in quotation marks.
#[must_use]
pub fn queries(plans: &[Plan], world: &World, seed: u64) -> Vec<String> {
    let mut asker = Asker { plans, world, random: Random::new(seed ^ 0xA5C) };
    let mut all = Vec::with_capacity(LONG + SHORT + NAMED + QUOTED);
    all.extend((0..LONG).map(|_| asker.long()));
    all.extend((0..SHORT).map(|_| asker.short()));
    all.extend((0..NAMED).map(|_| asker.named()));
    all.extend((0..QUOTED).map(|_| asker.quoted()));
    all
}

struct Asker<'w> {
    plans: &'w [Plan],
    world: &'w World,
    random: Random,
}

impl<'w> Asker<'w> {
    /// Some exchange of some session.
    fn exchange(&mut self) -> (Session<'w>, Exchange) {
        let plan = self.random.pick(self.plans);
        let mut session = Session::new(plan, self.world);
        let skipped = self.random.index(plan.episodes);
        (0..skipped).for_each(|_| drop(session.exchange()));
        let exchange = session.exchange();
        (session, exchange)
    }

    fn long(&mut self) -> String {
        let (_, exchange) = self.exchange();
        let mut content = self.content(&exchange);
        let word = |function: &bool| {
            if *function {
                self.world.words.function_word(&mut self.random).to_owned()
            } else {
                draw(&mut self.random, &mut content)
            }
        };
        FUNCTION.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn short(&mut self) -> String {
        let (_, exchange) = self.exchange();
        let mut content = self.content(&exchange);
        let words: Vec<_> = (0..self.random.between(2, 4)).map(|_| draw(&mut self.random, &mut content)).collect();
        words.join(" ")
    }

    fn named(&mut self) -> String {
        let (session, _) = self.exchange();
        let path = *self.random.pick(&session.files);
        match self.random.below(4) {
            0 => path.to_owned(),
            1 => path.rsplit('/').next().unwrap_or(path).to_owned(),
            _ => self.random.pick(&session.names).clone(),
        }
    }

    fn quoted(&mut self) -> String {
        loop {
            let (_, exchange) = self.exchange();
            let words: Vec<_> = exchange.answer.split(' ').collect();
            let count = self.random.index(2) + 3;
            let plain = |words: &&[&str]| words.iter().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric()));
            // Nobody looks for "of by the".
            let says = |words: &&[&str]| words.iter().any(|word| !self.world.words.is_frequent(&word.to_lowercase()));
            let phrases: Vec<_> = words.windows(count).filter(plain).filter(says).collect();
            if !phrases.is_empty() {
                return format!("\"{}\"", self.random.pick(&phrases).join(" "));
            }
        }
    }

    /// What was said, without function words and punctuation; never empty.
    fn content(&mut self, exchange: &Exchange) -> Vec<String> {
        let said = exchange.prompt.split(' ').chain(exchange.answer.split(' '));
        let bare = said.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        let mut words: Vec<_> = bare.filter(|word| !self.world.words.is_frequent(word)).collect();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            words.push(self.world.words.name(&mut self.random).to_owned());
        }
        words
    }
}

/// One of `words`, which is not drawn again as long as there are others.
fn draw(random: &mut Random, words: &mut Vec<String>) -> String {
    let at = random.index(words.len());
    if words.len() > 1 { words.swap_remove(at) } else { words[at].clone() }
}

#[cfg(test)]
mod tests {
    use super::queries;
    use crate::talk::plan::{Wish, sessions};
    use crate::talk::world::World;

    #[test]
    fn queries_have_their_shapes() {
        let world = World::new(2, 20);
        let plans = sessions(Wish { episodes: 300, sessions: 20, seed: 2 }, &world);
        let all = queries(&plans, &world, 2);
        let words = |query: &String| query.split(' ').count();
        assert_eq!(all.len(), 370);
        assert!(all[..200].iter().all(|query| words(query) == 12));
        assert!(all[200..300].iter().all(|query| (2..=3).contains(&words(query))));
        assert!(all[300..350].iter().all(|query| words(query) == 1));
        assert!(all[350..].iter().all(|query| query.starts_with('"') && query.ends_with('"')));
        assert_eq!(all, queries(&plans, &world, 2));
    }
}
