//! Builds the sections of an injection, and says why each other section was skipped.

use rethread_model::{Agent, SessionState, one_line};
use rethread_recall::{
    InjectionDetail, InjectionSection, REFERENCE_BYTES, RecentMemory, ReferenceOrigin, ReferenceOutcome, SectionKind,
    SessionReference, SessionView, StoppingPoint, last_session_block, memory_block, memory_line,
    memory_unavailable_block, reference_block, resume_context, resume_greeting, session_context,
};
use rethread_store::{ReadStore, SessionKey};

use super::caller::Caller;
use super::inject::{InjectionTrigger, text_hash};
use super::injection_context::InjectionContext;
use super::known_fix::FactFinder;
use super::last_session::LastSessionState;
use super::pending_notes;
use super::recent_memory::RecentMemories;
use super::session_view::OwnSession;
use crate::awareness::AwarenessService;
use crate::config::SessionInjection;
use crate::hook::HostProtocol;
use crate::{Engine, EngineError};

/// Two texts that begin with the same bytes are taken to be the same.
const SAME_TEXT_BYTES: usize = 60;

/// A reference in a prompt and what it resolves to.
type ResolvedReference = (SessionReference, ReferenceOutcome);

/// Collects the sections of one injection, and the reasons why others were skipped.
struct SectionBuilder<'a> {
    engine: &'a Engine,
    store: &'a ReadStore,
    caller: &'a Caller,
    context: &'a InjectionContext,
    sections: Vec<InjectionSection>,
    skipped: Vec<String>,
}

impl AwarenessService<'_> {
    /// The sections with something new, and why the others were skipped.
    pub(super) fn sections(
        self,
        store: &ReadStore,
        caller: &Caller,
        context: &InjectionContext,
        trigger: InjectionTrigger<'_>,
    ) -> Result<(Vec<InjectionSection>, Vec<String>), EngineError> {
        let (sections, skipped) = (Vec::new(), Vec::new());
        let mut builder = SectionBuilder { engine: self.engine, store, caller, context, sections, skipped };
        if let InjectionTrigger::Prompt(_) | InjectionTrigger::StartWithActivity = trigger {
            builder.add_activity_section();
        }
        // A thread's log is its context, and it searches memory only if its user allows that.
        let is_thread = caller.agent == Agent::Native;
        if !is_thread {
            builder.add_session_sections(trigger)?;
        }
        if trigger == InjectionTrigger::StartWithActivity {
            builder.add_last_session_section(&[]);
        }
        if let InjectionTrigger::Prompt(prompt) = trigger {
            let referenced = builder.resolve_references(prompt)?;
            if !is_thread {
                builder.add_last_session_section(&referenced);
                builder.add_memory_section(prompt, &referenced)?;
            }
            builder.add_reference_section(&referenced);
        }
        Ok((builder.sections, builder.skipped))
    }
}

impl SectionBuilder<'_> {
    fn skip(&mut self, part: &str, why: &str) {
        self.skipped.push(format!("{part}: {why}"));
    }

    fn push(&mut self, kind: SectionKind, text: String, reason: String, dedupe_keys: Vec<u64>) {
        self.sections.push(InjectionSection { kind, text, reason, dedupe_keys });
    }

    fn add_activity_section(&mut self) {
        if !self.engine.settings().inject.activity {
            return self.skip("activity", "disabled by inject.activity");
        }
        let Some(activity) = &self.context.activity else {
            return self.skip("activity", "no other session did anything new");
        };
        let reason = match activity.included.len() + activity.left_out {
            1 => "another session did something since the last prompt".to_owned(),
            count => format!("{count} other sessions did something since the last prompt"),
        };
        // No dedupe key: watermarks already prevent repetition, and two sessions may do the same thing.
        self.push(SectionKind::Activity, activity.text.clone(), reason, Vec::new());
    }

    fn add_last_session_section(&mut self, referenced: &[ResolvedReference]) {
        match &self.context.last_session {
            LastSessionState::Found(last, _) if is_session_referenced(&last.id, referenced) => {
                self.skip("last_session", "the prompt references it");
            }
            LastSessionState::Found(last, _) => {
                let reason = "the session begins; the last one in the project stopped here".to_owned();
                let dedupe_keys = vec![LastSessionState::dedupe_key()];
                self.push(SectionKind::LastSession, last_session_block(last, self.context.now), reason, dedupe_keys);
            }
            LastSessionState::Skipped(why) => self.skip("last_session", why),
            LastSessionState::NotDue => self.skip("last_session", "this is not the first prompt of a session"),
        }
    }

    fn add_session_sections(&mut self, trigger: InjectionTrigger<'_>) -> Result<(), EngineError> {
        let (store, caller, context) = (self.store, self.caller, self.context);
        let when = self.engine.settings().inject.session;
        if when == SessionInjection::Off {
            self.skip("session", "disabled by inject.session");
            return Ok(());
        }
        let own = OwnSections { store, caller, context, detail: self.engine.settings().inject.detail };
        let missing = own.missing_section(trigger)?;
        let is_injected = match missing.as_ref().and_then(|part| part.dedupe_keys.first()) {
            Some(key) => store.was_injected(caller.key(), *key)?,
            None => false,
        };
        let mut included = Vec::new();
        match missing {
            Some(part) if !is_injected => {
                included.clone_from(&part.dedupe_keys);
                self.sections.push(part);
            }
            _ if when == SessionInjection::Always => match own.current_section("inject.session = \"always\"")? {
                Some(part) => {
                    included.clone_from(&part.dedupe_keys);
                    // No dedupe key: it is meant to be repeated.
                    self.sections.push(InjectionSection { dedupe_keys: Vec::new(), ..part });
                }
                None => self.skip("session", "the session has done nothing yet"),
            },
            Some(part) => self.skip(part.kind.as_str(), "already injected"),
            None => self.skip("session", "the session had no break and still has its context"),
        }
        if let Some(pending) =
            pending_notes::find_pending_notes(store, caller.key(), &context.own, &included, context.now)?
        {
            let reason = "a user added a note or set the task".to_owned();
            self.push(SectionKind::Session, pending.text, reason, pending.dedupe_keys);
        }
        Ok(())
    }

    /// Resolves the references of a prompt. Summaries that were injected before are marked, and what was said before about
    /// an unknown name is left out.
    fn resolve_references(&self, prompt: &str) -> Result<Vec<ResolvedReference>, EngineError> {
        let (store, caller, context) = (self.store, self.caller, self.context);
        let from = ReferenceOrigin { session: Some(caller.key()), project: Some(&context.project) };
        let mut outcomes = self.engine.questions().reference_outcomes(store, from, prompt);
        for (_, outcome) in &mut outcomes {
            if let ReferenceOutcome::Resolved(sessions) = outcome {
                for session in sessions {
                    session.is_repeated = store.was_injected(caller.key(), text_hash(&session.content()))?;
                }
            }
        }
        let mut fresh = Vec::new();
        for one in outcomes {
            let is_resolved = matches!(one.1, ReferenceOutcome::Resolved(_));
            if is_resolved || !store.was_injected(caller.key(), outcome_key(&one))? {
                fresh.push(one);
            }
        }
        Ok(fresh)
    }

    /// Summaries of the sessions that the prompt references. An unknown reference is reported in the text and is not an
    /// error.
    fn add_reference_section(&mut self, outcomes: &[ResolvedReference]) {
        let caller = self.caller;
        let used: usize = self.sections.iter().map(|part| part.text.len() + 2).sum();
        let limit = HostProtocol::of(caller.agent).and_then(|host| host.max_context_bytes);
        let max_bytes = limit.map_or(REFERENCE_BYTES, |limit| limit.saturating_sub(used));
        let Some(text) = reference_block(outcomes, max_bytes) else { return };
        let results: Vec<&str> = outcomes.iter().map(|(_, outcome)| outcome.as_str()).collect();
        let reason = format!("the prompt references sessions: {}", results.join(", "));
        // The dedupe keys do not depend on how much space the other sections left. Without one, only a reminder is left.
        let dedupe_keys = outcomes.iter().flat_map(|one| match &one.1 {
            ReferenceOutcome::Resolved(sessions) => {
                let fresh = sessions.iter().filter(|session| !session.is_repeated);
                fresh.map(|session| text_hash(&session.content())).collect()
            }
            _ => vec![outcome_key(one)],
        });
        let dedupe_keys = dedupe_keys.collect();
        self.push(SectionKind::References, text, reason, dedupe_keys);
    }

    fn add_memory_section(&mut self, prompt: &str, referenced: &[ResolvedReference]) -> Result<(), EngineError> {
        let (store, caller, context) = (self.store, self.caller, self.context);
        if !self.engine.settings().inject.memory {
            self.skip("memory", "disabled by inject.memory");
            return Ok(());
        }
        let finder = FactFinder { engine: self.engine, store, caller, project: &context.project, now: context.now };
        let known = finder.for_prompt(prompt)?.filter(|known| !cites_referenced(&known.text, referenced));
        let (mut lines, mut dedupe_keys, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        let detail = self.engine.settings().inject.detail;
        if let Some(known) = known {
            lines.push(known.text);
            dedupe_keys.push(known.dedupe_key);
            reasons.push(known.reason.to_owned());
        }
        match self.engine.awareness().recent_memories(store, caller, prompt, context)? {
            RecentMemories::Found(memories) => {
                let free_slots = detail.max_memories().saturating_sub(lines.len());
                // What a reference brings needs no second mention.
                let last = context.last_session.session().map(|(last, _)| &last.stopped);
                let is_new = |memory: &&RecentMemory| {
                    !is_referenced(memory, referenced) && !last.is_some_and(|last| repeats_last_session(memory, last))
                };
                for memory in memories.iter().filter(is_new).take(free_slots) {
                    lines.push(memory_line(memory, detail, context.now));
                    dedupe_keys.push(text_hash(&memory.episode));
                    reasons.push(format!("{:.2} of the prompt's words", memory.word_share));
                }
            }
            RecentMemories::Unavailable(why) => {
                self.skip("memory", &why);
                // Reported only next to other sections; on its own it would be noise.
                if lines.is_empty() && !self.sections.is_empty() {
                    let (text, reason) = (memory_unavailable_block(&why), "memory could not be searched".to_owned());
                    self.push(SectionKind::Memory, text, reason, Vec::new());
                }
                if lines.is_empty() {
                    return Ok(());
                }
            }
        }
        if lines.is_empty() {
            self.skip("memory", "nothing in the last week matches the prompt closely enough");
            return Ok(());
        }
        let reason = format!("{} recent, {}", lines.len(), reasons.join(" and "));
        self.push(SectionKind::Memory, memory_block(&lines), reason, dedupe_keys);
        Ok(())
    }
}

/// Whether a memory is from a session whose summary is injected anyway.
fn is_referenced(memory: &RecentMemory, referenced: &[ResolvedReference]) -> bool {
    is_session_referenced(memory.citation.split(':').next().unwrap_or_default(), referenced)
}

fn is_session_referenced(id: &str, referenced: &[ResolvedReference]) -> bool {
    referenced_ids(referenced).any(|known| known == id)
}

/// Whether a line cites a session whose summary is injected anyway.
fn cites_referenced(line: &str, referenced: &[ResolvedReference]) -> bool {
    referenced_ids(referenced).any(|id| line.contains(&format!("{id}:")))
}

fn referenced_ids(referenced: &[ResolvedReference]) -> impl Iterator<Item = &str> {
    let sessions = referenced.iter().filter_map(|(_, outcome)| match outcome {
        ReferenceOutcome::Resolved(sessions) => Some(sessions),
        _ => None,
    });
    sessions.flatten().map(|session| session.id.as_str())
}

/// Whether a memory is the last exchange of the last session, which has its own section.
fn repeats_last_session(memory: &RecentMemory, last: &StoppingPoint) -> bool {
    let asked = |prompt: &String| last.asked.as_ref().is_some_and(|asked| one_line(prompt).starts_with(asked.as_str()));
    let is_outcome = |outcome: &String| {
        let begin = &outcome[..outcome.floor_char_boundary(SAME_TEXT_BYTES)];
        one_line(&memory.text).contains(begin)
    };
    memory.prompt.as_ref().is_some_and(asked) || last.outcome.as_ref().is_some_and(is_outcome)
}

/// Identifies what is said about a reference that was not resolved.
fn outcome_key((reference, outcome): &ResolvedReference) -> u64 {
    text_hash(&format!("reference {} {outcome:?}", reference.as_typed()))
}

/// The sections about the session itself.
struct OwnSections<'a> {
    store: &'a ReadStore,
    caller: &'a Caller,
    context: &'a InjectionContext,
    detail: InjectionDetail,
}

impl OwnSections<'_> {
    /// What the agent does not know: how long a break was, and what the session did if its own context is new. The
    /// first dedupe key must not change with time.
    fn missing_section(&self, trigger: InjectionTrigger<'_>) -> Result<Option<InjectionSection>, EngineError> {
        let (context, key) = (self.context, self.caller.key());
        // A session that was ended and continued at once had no break.
        let is_back =
            context.silence_millis > context.lifecycle.idle_millis || context.state == SessionState::Suspended;
        let has_lost_context = self.store.has_new_context(key)?;
        if is_back {
            let view = context.view_before_break(self.store, key)?;
            if !view.recent_events.is_empty() {
                return Ok(Some(self.resume_section(view, has_lost_context)));
            }
        }
        let view = if let InjectionTrigger::Cleared(external_id) = trigger {
            let key = SessionKey { external_id, ..key };
            OwnSession::load_with_actions(self.store, key)?.view(self.store, key, context.lifecycle, context.now)?
        } else if trigger == InjectionTrigger::NewContext || has_lost_context {
            context.own.view(self.store, key, context.lifecycle, context.now)?
        } else {
            return Ok(None);
        };
        Ok(self.context_section(&view, "the session continues with a new context"))
    }

    fn resume_section(&self, view: SessionView, has_lost_context: bool) -> InjectionSection {
        let context = self.context;
        // One greeting per break.
        let mut dedupe_keys = vec![text_hash(&format!("back {:?}", context.silent_since()))];
        let text = if has_lost_context {
            let text = resume_context(&view, self.detail, context.silence_millis, context.now);
            // It does not contain notes, so their keys are left out.
            dedupe_keys.extend(pending_notes::note_and_task_keys(&SessionView { notes: Vec::new(), ..view }));
            text
        } else {
            resume_greeting(&view.id, context.silence_millis)
        };
        let reason = "the session resumes after a break".to_owned();
        InjectionSection { kind: SectionKind::Resume, text, reason, dedupe_keys }
    }

    fn current_section(&self, reason: &str) -> Result<Option<InjectionSection>, EngineError> {
        let context = self.context;
        let view = context.own.view(self.store, self.caller.key(), context.lifecycle, context.now)?;
        Ok(self.context_section(&view, reason))
    }

    fn context_section(&self, view: &SessionView, reason: &str) -> Option<InjectionSection> {
        let text = session_context(view, self.detail, self.context.now)?;
        let hot: Vec<&String> = view.hot_memory.iter().chain(&view.notes).map(|hot| &hot.text).collect();
        // Ages are not part of the key: the same content counts as the same however old it is.
        let mut dedupe_keys = vec![text_hash(&format!("context {:?} {hot:?} {:?}", view.files, view.task))];
        dedupe_keys.extend(pending_notes::note_and_task_keys(view));
        Some(InjectionSection { kind: SectionKind::Session, text, reason: reason.to_owned(), dedupe_keys })
    }
}
