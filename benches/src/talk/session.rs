//! Generates the episodes of one session, independent of a transcript format.

use super::plan::TalkSessionPlan;
use super::shared_content::{TalkContent, TalkProject, pick_many, random_identifier, random_topic};
use crate::text_generator::{TextGenerator, capitalize};

const TOPICS: usize = 25;
const FILES: usize = 8;
const NAMES: usize = 12;
/// Words that occur in only one episode of the session.
const EPISODE_WORDS: usize = 4;

/// A prompt, tool calls and an answer.
#[derive(Debug)]
pub struct TalkEpisode {
    /// User prompt, 8 to 60 words.
    pub prompt: String,
    /// Tool calls of the agent.
    pub calls: Vec<TalkCall>,
    /// Final answer, 20 to 150 words.
    pub answer: String,
}

/// A tool call with its result.
#[derive(Debug)]
pub struct TalkCall {
    /// Name of the tool.
    pub tool: &'static str,
    /// Input fields in order.
    pub input: Vec<(&'static str, String)>,
    /// Text of the result.
    pub result: String,
    /// Whether the result is an error.
    pub failed: bool,
}

/// Generates one session. Deterministic: the same plan always gives the same episodes.
#[derive(Debug)]
pub struct TalkSession<'w> {
    project: &'w TalkProject,
    text: TextGenerator<'w>,
    topics: Vec<String>,
    /// Project files this session works on, as relative paths.
    pub files: Vec<&'w str>,
    /// Code identifiers this session is about.
    pub names: Vec<String>,
    episode_words: Vec<String>,
}

impl<'w> TalkSession<'w> {
    /// Creates a session from its plan, before the first episode.
    #[must_use]
    pub fn new(plan: &TalkSessionPlan, content: &'w TalkContent) -> Self {
        let mut text = TextGenerator::new(&content.words, plan.seed);
        let project = &content.projects[plan.project];
        let files = pick_many(&mut text.random, &project.files, FILES);
        let shared = pick_many(&mut text.random, &project.names, NAMES / 2).into_iter().map(str::to_owned);
        let mut names: Vec<String> = shared.collect();
        names.extend((0..NAMES / 2).map(|_| random_identifier(&mut text)));
        let topics = (0..TOPICS).map(|_| random_topic(&mut text)).collect();
        Self { project, text, topics, files, names, episode_words: Vec::new() }
    }

    /// Generates the next episode.
    pub fn next_episode(&mut self) -> TalkEpisode {
        self.episode_words = (0..EPISODE_WORDS).map(|_| self.text.content_word().to_owned()).collect();
        let asked = self.text.random.size(15, 0.6).clamp(8, 60);
        let said = self.text.random.size(38, 0.5).clamp(20, 150);
        let prompt = self.prose(asked);
        let calls = *self.text.random.pick(&[0, 0, 0, 0, 0, 0, 1, 1, 2, 4]);
        let calls = (0..calls).map(|_| self.call()).collect();
        TalkEpisode { prompt, calls, answer: self.prose(said) }
    }

    /// Sentences with `words` words in total.
    fn prose(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        let (mut left, mut start) = (words, true);
        let mut sentence = 0;
        while left > 0 {
            let word = self.word();
            if start {
                sentence = self.text.random.index(12) + 5;
                text.push_str(&capitalize(&word));
            } else {
                text.push(' ');
                text.push_str(&word);
            }
            left -= 1;
            sentence -= 1;
            start = sentence == 0 || left == 0;
            if start {
                text.push(*self.text.random.pick(&['.', '.', '.', '?']));
                text.push_str(if left == 0 { "" } else { " " });
            }
        }
        text
    }

    fn word(&mut self) -> String {
        let random = &mut self.text.random;
        match random.below(100) {
            0..18 => random.pick(&self.topics).clone(),
            18..25 => random.pick(&self.project.topics).clone(),
            25..30 => random.pick(&self.episode_words).clone(),
            30..33 => format!("`{}`", random.pick(&self.names)),
            33 => (*random.pick(&self.files)).to_owned(),
            _ => self.text.word().to_owned(),
        }
    }

    fn call(&mut self) -> TalkCall {
        let path = *self.text.random.pick(&self.files);
        let full = format!("{}/{path}", self.project.cwd);
        let failed = self.text.chance(8);
        let mut call = match self.text.random.below(10) {
            0..3 => TalkCall { tool: "Read", input: vec![("file_path", full)], result: self.text.code(90), failed },
            3..6 => self.edit(full, failed),
            _ => self.run_command(path, failed),
        };
        if failed && call.tool != "Bash" {
            call.result = format!("<tool_use_error>{}</tool_use_error>", self.error_text(path));
        }
        call
    }

    fn edit(&mut self, path: String, failed: bool) -> TalkCall {
        let result = format!("The file {path} has been updated.");
        let (old, new) = (self.text.code(40), self.text.code(60));
        TalkCall {
            tool: "Edit",
            input: vec![("file_path", path), ("old_string", old), ("new_string", new)],
            result,
            failed,
        }
    }

    fn run_command(&mut self, path: &str, failed: bool) -> TalkCall {
        let (random, one) = (&mut self.text.random, self.names.first().map_or("all", String::as_str));
        let command = match random.below(5) {
            0 => format!("cargo test {one}"),
            1 => format!("git diff --stat {path}"),
            2 => format!("rg -n {} {path}", random.pick(&self.names)),
            3 => format!("python3 {path} --limit {}", random.below(500)),
            _ => format!("wc -l {path}"),
        };
        let output = self.text.output(70);
        let result = if failed { format!("Exit code 1\n{}\n{output}", self.error_text(path)) } else { output };
        TalkCall { tool: "Bash", input: vec![("command", command)], result, failed }
    }

    fn error_text(&mut self, path: &str) -> String {
        let name = self.text.random.pick(&self.names).clone();
        let (line, what) = (self.text.random.below(900), self.text.title());
        format!("error[E{line:04}]: {what} `{name}` --> {path}:{line}:9")
    }
}

#[cfg(test)]
mod tests {
    use super::TalkSession;
    use crate::talk::plan::{TalkSpec, plan_sessions};
    use crate::talk::shared_content::TalkContent;

    #[test]
    fn prompts_and_answers_have_the_expected_lengths() {
        let content = TalkContent::new(1, 10);
        let plans = plan_sessions(TalkSpec { episodes: 500, sessions: 10, seed: 1 }, &content);
        let mut calls = 0;
        for plan in &plans {
            let mut session = TalkSession::new(plan, &content);
            for _ in 0..plan.episodes {
                let exchange = session.next_episode();
                let count = |text: &str| text.split_whitespace().count();
                assert!((8..=60).contains(&count(&exchange.prompt)), "{}", exchange.prompt);
                assert!((20..=150).contains(&count(&exchange.answer)), "{}", exchange.answer);
                calls += exchange.calls.len();
            }
        }
        assert!((250..600).contains(&calls), "{calls} calls in 500 episodes");
    }
}
