//! Invents what is said and done in one session, exchange by exchange, before any format is chosen for it.

use super::plan::Plan;
use super::world::{Project, World, name, some, topic};
use crate::author::{Author, capitalised};

const TOPICS: usize = 25;
const FILES: usize = 8;
const NAMES: usize = 12;
/// Words that come up in one exchange and nowhere else in the session.
const OWN: usize = 4;

/// One prompt with everything up to the answer.
#[derive(Debug)]
pub struct Exchange {
    /// What the person asked, 8 to 60 words.
    pub prompt: String,
    /// What the agent did.
    pub calls: Vec<Call>,
    /// What it said in the end, 20 to 150 words.
    pub answer: String,
}

/// A tool call with what came back.
#[derive(Debug)]
pub struct Call {
    /// The tool's name.
    pub tool: &'static str,
    /// Its fields.
    pub input: Vec<(&'static str, String)>,
    /// What came back.
    pub result: String,
    /// Whether that is an error.
    pub failed: bool,
}

/// The people and the agent of one session. Gives the same exchanges whenever it is asked.
#[derive(Debug)]
pub struct Session<'w> {
    project: &'w Project,
    author: Author<'w>,
    topics: Vec<String>,
    /// Paths below the project that this session works on.
    pub files: Vec<&'w str>,
    /// Names in the code that this session is about.
    pub names: Vec<String>,
    own: Vec<String>,
}

impl<'w> Session<'w> {
    /// The session of a plan, before its first exchange.
    #[must_use]
    pub fn new(plan: &Plan, world: &'w World) -> Self {
        let mut author = Author::new(&world.words, plan.seed);
        let project = &world.projects[plan.project];
        let files = some(&mut author.random, &project.files, FILES);
        let shared = some(&mut author.random, &project.names, NAMES / 2).into_iter().map(str::to_owned);
        let mut names: Vec<String> = shared.collect();
        names.extend((0..NAMES / 2).map(|_| name(&mut author)));
        let topics = (0..TOPICS).map(|_| topic(&mut author)).collect();
        Self { project, author, topics, files, names, own: Vec::new() }
    }

    /// The next exchange.
    pub fn exchange(&mut self) -> Exchange {
        self.own = (0..OWN).map(|_| self.author.name().to_owned()).collect();
        let asked = self.author.random.size(15, 0.6).clamp(8, 60);
        let said = self.author.random.size(38, 0.5).clamp(20, 150);
        let prompt = self.prose(asked);
        let calls = *self.author.random.pick(&[0, 0, 0, 0, 0, 0, 1, 1, 2, 4]);
        let calls = (0..calls).map(|_| self.call()).collect();
        Exchange { prompt, calls, answer: self.prose(said) }
    }

    /// Sentences of `words` words altogether.
    fn prose(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        let (mut left, mut start) = (words, true);
        let mut sentence = 0;
        while left > 0 {
            let word = self.word();
            if start {
                sentence = self.author.random.index(12) + 5;
                text.push_str(&capitalised(&word));
            } else {
                text.push(' ');
                text.push_str(&word);
            }
            left -= 1;
            sentence -= 1;
            start = sentence == 0 || left == 0;
            if start {
                text.push(*self.author.random.pick(&['.', '.', '.', '?']));
                text.push_str(if left == 0 { "" } else { " " });
            }
        }
        text
    }

    fn word(&mut self) -> String {
        let random = &mut self.author.random;
        match random.below(100) {
            0..18 => random.pick(&self.topics).clone(),
            18..25 => random.pick(&self.project.topics).clone(),
            25..30 => random.pick(&self.own).clone(),
            30..33 => format!("`{}`", random.pick(&self.names)),
            33 => (*random.pick(&self.files)).to_owned(),
            _ => self.author.word().to_owned(),
        }
    }

    fn call(&mut self) -> Call {
        let path = *self.author.random.pick(&self.files);
        let full = format!("{}/{path}", self.project.cwd);
        let failed = self.author.chance(8);
        let mut call = match self.author.random.below(10) {
            0..3 => Call { tool: "Read", input: vec![("file_path", full)], result: self.author.code(90), failed },
            3..6 => self.edit(full, failed),
            _ => self.run(path, failed),
        };
        if failed && call.tool != "Bash" {
            call.result = format!("<tool_use_error>{}</tool_use_error>", self.problem(path));
        }
        call
    }

    fn edit(&mut self, path: String, failed: bool) -> Call {
        let result = format!("The file {path} has been updated.");
        let (old, new) = (self.author.code(40), self.author.code(60));
        Call {
            tool: "Edit",
            input: vec![("file_path", path), ("old_string", old), ("new_string", new)],
            result,
            failed,
        }
    }

    fn run(&mut self, path: &str, failed: bool) -> Call {
        let (random, one) = (&mut self.author.random, self.names.first().map_or("all", String::as_str));
        let command = match random.below(5) {
            0 => format!("cargo test {one}"),
            1 => format!("git diff --stat {path}"),
            2 => format!("rg -n {} {path}", random.pick(&self.names)),
            3 => format!("python3 {path} --limit {}", random.below(500)),
            _ => format!("wc -l {path}"),
        };
        let output = self.author.output(70);
        let result = if failed { format!("Exit code 1\n{}\n{output}", self.problem(path)) } else { output };
        Call { tool: "Bash", input: vec![("command", command)], result, failed }
    }

    fn problem(&mut self, path: &str) -> String {
        let name = self.author.random.pick(&self.names).clone();
        let (line, what) = (self.author.random.below(900), self.author.title());
        format!("error[E{line:04}]: {what} `{name}` --> {path}:{line}:9")
    }
}

#[cfg(test)]
mod tests {
    use super::Session;
    use crate::talk::plan::{Wish, sessions};
    use crate::talk::world::World;

    #[test]
    fn prompts_and_answers_have_their_lengths() {
        let world = World::new(1, 10);
        let plans = sessions(Wish { episodes: 500, sessions: 10, seed: 1 }, &world);
        let mut calls = 0;
        for plan in &plans {
            let mut session = Session::new(plan, &world);
            for _ in 0..plan.episodes {
                let exchange = session.exchange();
                let count = |text: &str| text.split_whitespace().count();
                assert!((8..=60).contains(&count(&exchange.prompt)), "{}", exchange.prompt);
                assert!((20..=150).contains(&count(&exchange.answer)), "{}", exchange.answer);
                calls += exchange.calls.len();
            }
        }
        assert!((250..600).contains(&calls), "{calls} calls in 500 exchanges");
    }
}
