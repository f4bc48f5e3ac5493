//! What sessions do right now, for somebody of whom it is not known which session it is.

use rethread_model::{Agent, Timestamp};
use rethread_recall::{Activity, activity};
use rethread_store::{Scope, SessionFilter, SessionKey, Store};

use super::neighbours::NEIGHBOUR_MILLIS;
use crate::{Engine, EngineError, Listed};

/// A reader that has seen nothing yet, and is nobody's neighbour.
const NOBODY: SessionKey<'static> = SessionKey { agent: Agent::Native, external_id: "" };
/// Where all projects are looked at: so many sessions are looked through for those that are at work.
const LOOKED_THROUGH: u64 = 200;

/// Sessions that did something in the last hour.
#[derive(Clone, Debug, Default)]
pub struct LiveActivity {
    /// What they did; nothing if there are none.
    pub activity: Option<Activity>,
    /// They themselves, the one that did something last first.
    pub sessions: Vec<Listed>,
}

impl Engine {
    /// What sessions did in the last hour. Reads what is new in their transcripts; nobody's watermark moves.
    pub fn live_activity(&self, scope: &Scope) -> Result<LiveActivity, EngineError> {
        let Some(mut store) = self.reader()? else { return Ok(LiveActivity::default()) };
        let now = self.now();
        let (mut others, mut sessions) = (Vec::new(), Vec::new());
        for project in projects_at_work(&store, scope, now)? {
            if let Err(error) = self.catch_up(&mut store, &project, now) {
                // Who cannot write is told what was read before.
                self.note_trouble("activity", &error);
            }
            let found = Self::neighbours(&store, NOBODY, &project, now)?;
            for mark in &found.marks {
                let session = store.session_by_number(mark.session)?;
                sessions.extend(session.map(|session| self.listed(&store, session)).transpose()?);
            }
            others.extend(found.others);
        }
        sessions.sort_by_key(|listed: &Listed| std::cmp::Reverse(listed.session.last_activity_at));
        Ok(LiveActivity { activity: activity(&others, &[], None, now), sessions })
    }
}

/// The project that is meant, or all in which something happened lately.
fn projects_at_work(store: &Store, scope: &Scope, now: Timestamp) -> Result<Vec<String>, EngineError> {
    if let Scope::Project(project) = scope {
        return Ok(vec![project.clone()]);
    }
    let filter = SessionFilter { limit: Some(LOOKED_THROUGH), ..SessionFilter::default() };
    let lately = |at: Timestamp| now.millis_since(at) <= NEIGHBOUR_MILLIS;
    let sessions = store.sessions(&filter)?;
    let live = sessions.into_iter().filter(|session| session.last_activity_at.is_some_and(lately));
    let mut projects: Vec<String> = live.filter_map(|session| session.project).collect();
    projects.sort();
    projects.dedup();
    Ok(projects)
}
