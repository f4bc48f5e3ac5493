//! Several things said of a session at once, by hand: all of it is looked at before any of it is done.

use rethread_model::{SessionId, State, Timestamp};
use rethread_store::SessionKey;

use super::deeds::{check_alias, check_note};
use super::view::day_before;
use crate::{Engine, EngineError};

/// What is to become of a session; what is not named stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// Its name; an empty one gives back the one it would have without anybody's doing.
    pub name: Option<String>,
    /// Its alias; an empty one takes it away.
    pub alias: Option<String>,
    /// What it is working on; nothing if it is empty.
    pub task: Option<String>,
    /// Something it should remember for a day.
    pub note: Option<String>,
    /// How its period of work ends.
    pub closing: Option<Closing>,
}

/// How a period of work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The next prompt goes on with it.
    Suspend,
    /// The next prompt begins a new one.
    End,
}

/// What a session has at hand, as far as people said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtHand {
    /// What it is working on.
    pub task: Option<String>,
    /// What it should remember, oldest first.
    pub notes: Vec<(Timestamp, String)>,
}

impl Engine {
    /// Changes a session or thread. What cannot be done is told before anything is.
    pub fn change_session(&self, id: SessionId, change: &SessionChange) -> Result<(), EngineError> {
        let alias = change.alias.as_deref().map(str::trim);
        alias.filter(|alias| !alias.is_empty()).map_or(Ok(()), check_alias)?;
        change.note.as_deref().map_or(Ok(()), check_note)?;
        let state = self.conversation(id)?.listed.state;
        if change.closing == Some(Closing::Suspend) && state == State::Ended {
            return Err(EngineError::HasEnded(id));
        }
        self.make_known(id)?;
        let reference = id.to_string();
        change.name.as_deref().map_or(Ok(()), |name| self.set_name(&reference, name))?;
        match alias {
            None => {}
            Some("") => self.clear_alias(&reference)?,
            Some(alias) => self.set_alias(&reference, alias)?,
        }
        change.task.as_deref().map_or(Ok(()), |task| self.set_task(&reference, task))?;
        change.note.as_deref().map_or(Ok(()), |note| self.add_note(&reference, note))?;
        match change.closing {
            None => Ok(()),
            Some(Closing::Suspend) => self.pause_session(&reference).map(drop),
            Some(Closing::End) => self.end_session(&reference).map(drop),
        }
    }

    /// What people said a session should have at hand; notes of the last day.
    pub fn at_hand(&self, id: SessionId) -> Result<AtHand, EngineError> {
        let session = self.conversation(id)?.listed.session;
        let Some(store) = self.reader()? else { return Ok(AtHand::default()) };
        let key = SessionKey { agent: session.agent, external_id: &session.external_id };
        let hot = store.hot(key, day_before(self.now()))?.into_iter();
        Ok(AtHand {
            task: store.life(key)?.and_then(|life| life.task),
            notes: hot.filter(|hot| hot.is_note).map(|hot| (hot.at, hot.text)).collect(),
        })
    }

    fn clear_alias(&self, reference: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.clear_alias(caller.agent, &caller.external_id)?;
        Ok(batch.commit()?)
    }
}
