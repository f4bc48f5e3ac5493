//! Collects the events of one line: gives each its id, and cleans every text before it leaves the parser.

use rethread_model::{Place, Speech, Timestamp};

use super::content::Block;
use super::loose::Text;
use super::tool::tool_use;
use super::{EntryWay, Event, Scribe, TitleRank, Typed, Voice, What};

pub(super) struct Out {
    pub(super) events: Vec<Event>,
    pub(super) native_id: String,
    pub(super) copy_of: Option<String>,
    pub(super) copied_from: Option<String>,
    pub(super) voice: Voice,
    place: Place,
    at: Option<Timestamp>,
    texts: usize,
}

impl Out {
    pub(super) fn new(place: Place, at: Option<Timestamp>, native_id: String) -> Self {
        Self {
            events: Vec::new(),
            native_id,
            copy_of: None,
            copied_from: None,
            voice: Voice::Main,
            place,
            at,
            texts: 0,
        }
    }

    pub(super) fn push(&mut self, what: What) {
        self.push_as(self.native_id.clone(), what);
    }

    fn push_as(&mut self, native_id: String, what: What) {
        self.events.push(Event {
            place: self.place,
            at: self.at,
            native_id,
            copy_of: self.copy_of.clone(),
            copied_from: self.copied_from.clone(),
            voice: self.voice.clone(),
            what,
        });
    }

    /// The line's id for its first text, numbered ones for further texts of the same line.
    pub(super) fn next_id(&mut self) -> String {
        self.texts += 1;
        if self.texts == 1 { self.native_id.clone() } else { format!("{}:{}", self.native_id, self.texts) }
    }

    pub(super) fn text(&mut self, speech: Speech, text: String, message: Option<&str>, scribe: &mut Scribe<'_>) {
        self.text_by(speech, text, message, EntryWay::Line, scribe);
    }

    pub(super) fn text_by(
        &mut self,
        speech: Speech,
        text: String,
        message: Option<&str>,
        way: EntryWay,
        scribe: &mut Scribe<'_>,
    ) {
        if text.trim().is_empty() {
            return;
        }
        let typed = (speech == Speech::Prompt).then(|| Typed::new(&text, way));
        let kept = match speech {
            Speech::Prompt | Speech::Task | Speech::Answer => scribe.filter.keep_user_messages,
            Speech::Said => scribe.filter.keep_agent_responses,
            _ => true,
        };
        let text = if kept { scribe.clean(text) } else { String::new() };
        let id = self.next_id();
        self.push_as(id, What::Text { speech, text, message: message.map(str::to_owned), typed });
    }

    /// A tool call of the model.
    pub(super) fn call(&mut self, block: Block<'_>, message: &str, scribe: &mut Scribe<'_>) {
        let tool = tool_use(block.name.as_str(), block.input, scribe);
        let id = block.id.filled().map_or_else(|| self.next_id(), Into::into);
        self.push(What::Call { id, message: Some(message.to_owned()), tool });
    }

    /// What the model thought, if the filter asks for it.
    pub(super) fn reasoning(&mut self, block: &Block<'_>, scribe: &mut Scribe<'_>) {
        if scribe.filter.keep_reasoning {
            let thought = block.thinking.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
            self.text(Speech::Reasoning, thought, None, scribe);
        }
    }

    pub(super) fn title(&mut self, rank: TitleRank, title: Text<'_>, leaf: Option<String>, scribe: &mut Scribe<'_>) {
        // An empty name takes the one given before back.
        if let Some(text) = title.0 {
            let text = scribe.clean(text.into_owned());
            self.push(What::Title { rank, text, leaf });
        }
    }
}
