//! Lets a model name a thread after its first messages. Runs in the background.

use std::sync::atomic::{AtomicUsize, Ordering};

use rethread_llm::ChatLimits;
use rethread_model::thread::{NameOrigin, ThreadId};
use rethread_recall::{TITLE_SYSTEM_PROMPT, clean_title, title_prompt};
use serde_json::json;

use crate::models::own_request;
use crate::threads::TurnService;
use crate::{Engine, EngineError};

/// Most threads that a node names at the same time. Others keep a name of their first words.
const MAX_TITLES_ON_NODE: usize = 4;

static TITLES_ON_NODE: AtomicUsize = AtomicUsize::new(0);

impl TurnService<'_> {
    /// Lets a model name the thread, if it has an answer and no name yet, without waiting for it: in a detached process,
    /// on a node in a thread of this one. Returns whether that was started. A command with a store on a server ends
    /// before the model answers, so there it is not.
    pub fn start_title(self, id: ThreadId) -> Result<bool, EngineError> {
        if !self.needs_title(id)? {
            return Ok(false);
        }
        let environment = &self.engine.environment;
        if environment.store.is_some() && environment.reads_only_threads {
            return self.start_title_on_node(id);
        }
        Ok(self.engine.start_detached(&["thread", "title", &id.to_string()]))
    }

    /// With an engine of its own in the same space, because this one may be closed before.
    fn start_title_on_node(self, id: ThreadId) -> Result<bool, EngineError> {
        let Some(slot) = TitleSlot::take() else { return Ok(false) };
        let engine = Engine::open(self.engine.environment.clone())?;
        let thread = std::thread::Builder::new().name("title".to_owned());
        let spawned = thread.spawn(move || {
            if let Err(error) = engine.turns().title(id) {
                engine.journal().error("title", &error);
            }
            drop(slot);
        });
        Ok(spawned.is_ok())
    }

    /// Whether a model should name the thread: titles are enabled, and neither the user nor a model has named it.
    pub fn needs_title(self, id: ThreadId) -> Result<bool, EngineError> {
        if !self.engine.settings().threads.titles || self.engine.settings().model.usable_name().is_empty() {
            return Ok(false);
        }
        let metadata = self.engine.thread_store().metadata(id)?;
        Ok(!metadata.title_was_asked && metadata.name_from < Some(NameOrigin::Model))
    }

    /// Asks the model for a name. `None` if none is needed or the answer is unusable.
    pub fn title(self, id: ThreadId) -> Result<Option<String>, EngineError> {
        if !self.needs_title(id)? {
            return Ok(None);
        }
        let Some(prompt) = title_prompt(&self.engine.thread_store().read(id)?.records) else { return Ok(None) };
        let log = self.engine.thread_store().open(id)?;
        let mut was_asked = false;
        // Several turns may have started this at the same time; only one of them asks.
        let metadata = log.update_settings(self.engine.now(), |metadata| {
            was_asked = std::mem::replace(&mut metadata.title_was_asked, true);
        })?;
        if was_asked {
            return Ok(None);
        }
        let chosen = metadata.model_is_chosen.then_some(metadata.model);
        let model = self.engine.models().configured(chosen.as_deref(), ChatLimits::BACKGROUND)?;
        let request = own_request("title", TITLE_SYSTEM_PROMPT, prompt, 256.min(model.max_output_tokens));
        let answer = model.chat.complete(&request, &self.engine.models().meter()?)?;
        let text: String = answer.content.iter().filter_map(|block| block.as_text()).collect::<Vec<_>>().join(" ");
        let Some(title) = clean_title(&text) else { return Ok(None) };
        let mut is_renamed = false;
        log.update_settings(self.engine.now(), |metadata| {
            // The user may have named it in the meantime.
            if metadata.name_from < Some(NameOrigin::Model) {
                metadata.name = Some(title.clone());
                metadata.name_from = Some(NameOrigin::Model);
                is_renamed = true;
            }
        })?;
        drop(log);
        if !is_renamed {
            return Ok(None);
        }
        self.engine.journal().event("session_renamed", Some(id), &[("name", json!(title))]);
        self.engine.threads().sync(id)?;
        Ok(Some(title))
    }
}

/// The right to name a thread on this node.
struct TitleSlot;

impl TitleSlot {
    /// `None` if too many threads are being named.
    fn take() -> Option<Self> {
        let more = |running| (running < MAX_TITLES_ON_NODE).then_some(running + 1);
        TITLES_ON_NODE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok().then_some(Self)
    }
}

impl Drop for TitleSlot {
    fn drop(&mut self) {
        TITLES_ON_NODE.fetch_sub(1, Ordering::Relaxed);
    }
}
