//! What there is to tell a session at a moment, part by part, and why the rest is not told.

use rethread_model::{Agent, State};
use rethread_recall::{
    Part, PartKind, REFERENCE_BYTES, SessionView, WARM_MEMORIES, memory_block, memory_line, memory_unavailable,
    reference_block, reference_reminder, resume_context, session_context,
};
use rethread_store::Store;

use super::inject::{Caller, Moment, NEW_CONTEXT, Occasion, hash_of};
use super::news;
use super::warm::Remembered;
use crate::references::Standpoint;
use crate::{Engine, EngineError};

/// Claude Code keeps what is longer than 10,000 characters from the model; our mark and the last line take some of it.
const CLAUDE_BYTES: usize = 9_500;

/// What is told, and what is not and why.
#[derive(Default)]
struct Told {
    parts: Vec<Part>,
    silent: Vec<String>,
}

impl Told {
    fn not(&mut self, part: &str, why: &str) {
        self.silent.push(format!("{part}: {why}"));
    }
}

impl Engine {
    /// The parts that have something new to say, and why the others have not.
    pub(super) fn parts(
        &self,
        store: &Store,
        caller: &Caller,
        moment: &Moment,
        occasion: Occasion<'_>,
    ) -> Result<(Vec<Part>, Vec<String>), EngineError> {
        let mut told = Told::default();
        if let Occasion::Prompt(_) = occasion {
            self.add_activity(moment, &mut told);
        }
        self.add_session(store, caller, moment, occasion, &mut told)?;
        if let Occasion::Prompt(prompt) = occasion {
            self.add_memory(store, caller, prompt, moment, &mut told)?;
            self.add_references(store, caller, prompt, moment, &mut told)?;
        }
        Ok((told.parts, told.silent))
    }

    fn add_activity(&self, moment: &Moment, told: &mut Told) {
        if !self.config.flag("inject.activity") {
            return told.not("activity", "switched off by inject.activity");
        }
        let Some(news) = &moment.activity else { return told.not("activity", "no other session did anything new") };
        let reason = match news.told.len() + news.left_out {
            1 => "another session did something since the last prompt".to_owned(),
            count => format!("{count} other sessions did something since the last prompt"),
        };
        // Watermarks keep it from being told twice; the same may well be done twice.
        told.parts.push(Part { kind: PartKind::Activity, text: news.text.clone(), reason, says: Vec::new() });
    }

    fn add_session(
        &self,
        store: &Store,
        caller: &Caller,
        moment: &Moment,
        occasion: Occasion<'_>,
        told: &mut Told,
    ) -> Result<(), EngineError> {
        if !self.config.flag("inject.session") {
            told.not("session", "switched off by inject.session");
            return Ok(());
        }
        let (kind, found) = own_context(store, caller, moment, occasion)?;
        let mut heard = Vec::new();
        match found {
            None => told.not("session", "it has not been away, and knows what it did"),
            Some(part) if store.was_told(caller.key(), part.says[0])? => {
                told.not(kind.as_str(), "the same was said before");
            }
            Some(part) => {
                heard.clone_from(&part.says);
                told.parts.push(part);
            }
        }
        if let Some(news) = news::unheard(store, caller.key(), &moment.own, &heard, moment.now)? {
            let reason = "somebody noted something for the session, or set its task".to_owned();
            told.parts.push(Part { kind: PartKind::Session, text: news.text, reason, says: news.says });
        }
        Ok(())
    }

    /// What the sessions are that the prompt names. A name that means nothing is told too, and fails nothing.
    fn add_references(
        &self,
        store: &Store,
        caller: &Caller,
        prompt: &str,
        moment: &Moment,
        told: &mut Told,
    ) -> Result<(), EngineError> {
        let from = Standpoint { own: Some(caller.key()), project: Some(&moment.project) };
        let outcomes = self.outcomes(store, from, prompt);
        let used: usize = told.parts.iter().map(|part| part.text.len() + 2).sum();
        let room = match caller.agent {
            Agent::ClaudeCode => CLAUDE_BYTES.saturating_sub(used),
            _ => REFERENCE_BYTES,
        };
        let Some(text) = reference_block(&outcomes, room) else { return Ok(()) };
        let became: Vec<&str> = outcomes.iter().map(|(_, outcome)| outcome.as_str()).collect();
        let reason = format!("the prompt names sessions: {}", became.join(", "));
        // What is told does not depend on what else there was to tell.
        let says = hash_of(&reference_block(&outcomes, REFERENCE_BYTES).unwrap_or_default());
        let part = if store.was_told(caller.key(), says)? {
            let Some(text) = reference_reminder(&outcomes) else { return Ok(()) };
            Part { kind: PartKind::References, text, reason, says: Vec::new() }
        } else {
            Part { kind: PartKind::References, text, reason, says: vec![says] }
        };
        told.parts.push(part);
        Ok(())
    }

    fn add_memory(
        &self,
        store: &Store,
        caller: &Caller,
        prompt: &str,
        moment: &Moment,
        told: &mut Told,
    ) -> Result<(), EngineError> {
        if !self.config.flag("inject.memory") {
            told.not("memory", "switched off by inject.memory");
            return Ok(());
        }
        let remedy = Self::known_of_prompt(store, caller, &moment.project, prompt, moment.now)?;
        let (mut lines, mut says, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(remedy) = remedy {
            lines.push(remedy.line);
            says.push(remedy.says);
            reasons.push(remedy.reason.to_owned());
        }
        match self.remembered(store, caller, prompt, moment)? {
            Remembered::Memories(memories) => {
                let room = WARM_MEMORIES - lines.len();
                for memory in memories.iter().take(room) {
                    lines.push(memory_line(memory, moment.now));
                    says.push(hash_of(&memory.exchange));
                    reasons.push(format!("{:.2} of the prompt's words", memory.share));
                }
            }
            Remembered::Unavailable(why) => {
                told.not("memory", &why);
                // Said beside something else, it is honest; alone it would only be noise.
                if lines.is_empty() && !told.parts.is_empty() {
                    let (text, reason) = (memory_unavailable(&why), "memory could not be looked into".to_owned());
                    told.parts.push(Part { kind: PartKind::Memory, text, reason, says: Vec::new() });
                }
                if lines.is_empty() {
                    return Ok(());
                }
            }
        }
        if lines.is_empty() {
            told.not("memory", "nothing of the last week is close enough to the prompt");
            return Ok(());
        }
        let reason = format!("{} warm, {}", lines.len(), reasons.join(" and "));
        told.parts.push(Part { kind: PartKind::Memory, text: memory_block(&lines), reason, says });
        Ok(())
    }
}

/// What a session is told of itself: a greeting after a break, what it has at hand if its context is new. What it
/// says first is known by a number that does not change with the clock.
fn own_context(
    store: &Store,
    caller: &Caller,
    moment: &Moment,
    occasion: Occasion<'_>,
) -> Result<(PartKind, Option<Part>), EngineError> {
    // An end that was followed at once by going on is no break.
    let is_back = moment.silence_millis > moment.lifecycle.idle_millis || moment.state == State::Suspended;
    if is_back {
        let view = moment.past(store, caller.key())?;
        if !view.recent.is_empty() {
            let text = resume_context(&view, moment.silence_millis, moment.now);
            // Each break is greeted once. A greeting has no room for notes.
            let mut says = vec![hash_of(&format!("back {:?}", moment.back_since()))];
            says.extend(news::told_by(&SessionView { notes: Vec::new(), ..view }));
            let reason = "the session comes back after a break".to_owned();
            return Ok((PartKind::Resume, Some(Part { kind: PartKind::Resume, text, reason, says })));
        }
    }
    let kind = PartKind::Session;
    if occasion != Occasion::NewContext && !store.was_told(caller.key(), hash_of(NEW_CONTEXT))? {
        return Ok((kind, None));
    }
    let view = moment.own.view(store, caller.key(), moment.lifecycle, moment.now)?;
    let part = session_context(&view, moment.now).map(|text| {
        let hot: Vec<&String> = view.hot.iter().chain(&view.notes).map(|hot| &hot.text).collect();
        // The same is the same however old it has become.
        let mut says = vec![hash_of(&format!("context {:?} {hot:?} {:?}", view.files, view.task))];
        says.extend(news::told_by(&view));
        Part { kind, text, reason: "the session goes on with a new context".to_owned(), says }
    });
    Ok((kind, part))
}
