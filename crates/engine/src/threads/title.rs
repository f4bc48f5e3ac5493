//! Lets a model name a thread after its first messages. Runs in the background.

use rethread_llm::ChatLimits;
use rethread_model::thread::{NameOrigin, ThreadId};
use rethread_recall::{TITLE_SYSTEM_PROMPT, clean_title, title_prompt};
use serde_json::json;

use crate::EngineError;
use crate::models::own_request;
use crate::threads::TurnService;

impl TurnService<'_> {
    /// Starts a detached process that asks a model to name the thread, if it has an answer and no name yet.
    pub fn start_title(self, id: ThreadId) -> Result<bool, EngineError> {
        Ok(self.needs_title(id)? && self.engine.start_detached(&["thread", "title", &id.to_string()]))
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
