//! Who listens, to what, and what waits to be told to them. Nobody waits for a slow listener.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rethread_model::SessionId;
use rethread_model::thread::ThreadId;
use tokio::sync::Notify;

use crate::json::{Frame, Told};

/// Events that may wait for one listener.
const MOST_EVENTS: usize = 1_024;
/// Bytes of them; a single event may be longer.
const MOST_BYTES: usize = 4 << 20;
/// So much of what a model is saying is kept for those who come later.
const MOST_SAID: usize = 256 << 10;

/// What happens in the server, for all who listen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(Arc<Mutex<Hub>>);

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// Its name.
    pub(crate) kind: &'static str,
    /// It as one line of JSON.
    pub(crate) data: Arc<str>,
}

/// Somebody who listens. Dropped, it listens no more.
#[derive(Debug)]
pub(crate) struct Listener {
    number: u64,
    hub: Events,
    arrived: Arc<Notify>,
}

/// What is going on in a session when somebody begins to listen to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Present {
    /// The run that speaks.
    pub(crate) run_id: Option<String>,
    /// What it has said of its present answer; nothing if that is too much.
    pub(crate) said: Option<String>,
}

#[derive(Debug, Default)]
struct Hub {
    last_number: u64,
    boxes: BTreeMap<u64, Mailbox>,
    /// One for each thread that runs, so never more than turns at a time.
    speaking: BTreeMap<SessionId, Present>,
}

#[derive(Debug)]
struct Mailbox {
    wants: Wants,
    events: VecDeque<Event>,
    bytes: usize,
    has_lagged: bool,
    arrived: Arc<Notify>,
}

/// What a listener wants to hear.
#[derive(Debug)]
enum Wants {
    /// Of all sessions, but not every word.
    Everything,
    /// Everything of these.
    Sessions(BTreeSet<SessionId>),
}

/// Whom an event concerns.
#[derive(Debug)]
enum Concerns<'a> {
    Everybody,
    Sessions(&'a [SessionId]),
}

impl Events {
    /// Listens to all sessions from now on.
    pub(crate) fn listen_to_all(&self) -> Listener {
        self.listen(Wants::Everything)
    }

    /// Listens to no session yet.
    pub(crate) fn listen_to_none(&self) -> Listener {
        self.listen(Wants::Sessions(BTreeSet::new()))
    }

    /// Something was stored: whoever shows these sessions, or anything if they are not named, should look again.
    pub(crate) fn tell_changed(&self, sessions: Option<&[SessionId]>) {
        let named = sessions.map(|sessions| sessions.iter().map(ToString::to_string).collect());
        let concerns = sessions.map_or(Concerns::Everybody, Concerns::Sessions);
        self.tell(&concerns, &Frame::of_nobody(Told::Changed { sessions: named }));
    }

    /// Something happened in a session.
    pub(crate) fn tell_session(&self, session: SessionId, told: Told) {
        self.tell(&Concerns::Sessions(&[session]), &Frame::of_session(session, told));
    }

    /// Something happened in a run.
    pub(crate) fn tell_run(&self, thread: ThreadId, run_id: &str, told: Told) {
        self.tell(&Concerns::Sessions(&[thread.session()]), &Frame::of_run(thread, run_id, told));
    }

    /// How many listen.
    #[cfg(test)]
    fn listeners(&self) -> usize {
        self.lock().boxes.len()
    }

    fn listen(&self, wants: Wants) -> Listener {
        let arrived = Arc::new(Notify::new());
        let mut hub = self.lock();
        hub.last_number += 1;
        let number = hub.last_number;
        let mailbox =
            Mailbox { wants, events: VecDeque::new(), bytes: 0, has_lagged: false, arrived: Arc::clone(&arrived) };
        hub.boxes.insert(number, mailbox);
        Listener { number, hub: self.clone(), arrived }
    }

    fn tell(&self, concerns: &Concerns<'_>, frame: &Frame) {
        let Some(event) = Event::of(frame) else { return };
        let mut hub = self.lock();
        if let Concerns::Sessions([session]) = concerns {
            hub.follow(*session, frame);
        }
        // All under one lock, so that all hear it in the same order.
        for mailbox in hub.boxes.values_mut().filter(|mailbox| mailbox.wants.wants(concerns, frame)) {
            mailbox.put(event.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Hub> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Event {
    /// As it is sent.
    pub(crate) fn of(frame: &Frame) -> Option<Self> {
        Some(Self { kind: frame.told.kind(), data: crate::json::text(frame).ok()?.into() })
    }
}

impl Listener {
    /// Listens to a session too. What is going on in it, unless it was listened to already; whatever happens after
    /// that is heard.
    pub(crate) fn add(&self, session: SessionId) -> Option<Present> {
        let mut hub = self.hub.lock();
        let present = hub.speaking.get(&session).cloned().unwrap_or_default();
        let is_new = hub.boxes.get_mut(&self.number).is_some_and(|mailbox| match &mut mailbox.wants {
            Wants::Everything => false,
            Wants::Sessions(sessions) => sessions.insert(session),
        });
        is_new.then_some(present)
    }

    /// Listens to a session no more.
    pub(crate) fn remove(&self, session: SessionId) {
        if let Some(Mailbox { wants: Wants::Sessions(sessions), .. }) = self.hub.lock().boxes.get_mut(&self.number) {
            sessions.remove(&session);
        }
    }

    /// Whether it listens to a session.
    pub(crate) fn listens_to(&self, session: SessionId) -> bool {
        let hub = self.hub.lock();
        hub.boxes.get(&self.number).is_some_and(|mailbox| match &mailbox.wants {
            Wants::Everything => true,
            Wants::Sessions(sessions) => sessions.contains(&session),
        })
    }

    /// How many sessions it listens to.
    pub(crate) fn sessions(&self) -> usize {
        match self.hub.lock().boxes.get(&self.number).map(|mailbox| &mailbox.wants) {
            Some(Wants::Sessions(sessions)) => sessions.len(),
            _ => 0,
        }
    }

    /// The next event, as soon as there is one. Nothing is lost if it is not waited for to the end.
    pub(crate) async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.waiting() {
                return event;
            }
            self.arrived.notified().await;
        }
    }

    /// The next event, if there is one.
    pub(crate) fn waiting(&mut self) -> Option<Event> {
        let mut hub = self.hub.lock();
        let mailbox = hub.boxes.get_mut(&self.number)?;
        if std::mem::take(&mut mailbox.has_lagged) {
            return Event::of(&Frame::of_nobody(Told::Lagged));
        }
        let event = mailbox.events.pop_front()?;
        mailbox.bytes -= event.data.len();
        Some(event)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.lock().boxes.remove(&self.number);
    }
}

impl Hub {
    /// Keeps in mind who speaks, for those who come later.
    fn follow(&mut self, session: SessionId, frame: &Frame) {
        match &frame.told {
            Told::RunStart { .. } => {
                let present = Present { run_id: frame.run_id.clone(), said: Some(String::new()) };
                self.speaking.insert(session, present);
            }
            Told::StreamDelta { delta } => {
                if let Some(present) = self.speaking.get_mut(&session) {
                    let said = present.said.take().filter(|said| said.len() + delta.len() <= MOST_SAID);
                    present.said = said.map(|said| said + delta);
                }
            }
            Told::MessageComplete { .. } => {
                // Others may append while a model speaks.
                let present = self.speaking.get_mut(&session).filter(|present| present.run_id == frame.run_id);
                if let Some(present) = present {
                    present.said = Some(String::new());
                }
            }
            Told::RunEnd { .. } => {
                // One that was stopped while it waited has not spoken.
                self.speaking.retain(|speaker, present| *speaker != session || present.run_id != frame.run_id);
            }
            _ => {}
        }
    }
}

impl Mailbox {
    fn put(&mut self, event: Event) {
        let is_full = self.events.len() >= MOST_EVENTS || self.bytes + event.data.len() > MOST_BYTES;
        if is_full && !self.events.is_empty() {
            self.events.clear();
            self.bytes = 0;
            self.has_lagged = true;
        }
        self.bytes += event.data.len();
        self.events.push_back(event);
        self.arrived.notify_one();
    }
}

impl Wants {
    fn wants(&self, concerns: &Concerns<'_>, frame: &Frame) -> bool {
        match (self, concerns) {
            (Wants::Everything, _) => !matches!(frame.told, Told::StreamDelta { .. }),
            (Wants::Sessions(_), Concerns::Everybody) => true,
            (Wants::Sessions(wanted), Concerns::Sessions(told)) => told.iter().any(|session| wanted.contains(session)),
        }
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::Timestamp;

    use super::*;

    fn thread() -> ThreadId {
        ThreadId::draw(Timestamp::from_millis(1))
    }

    fn delta(text: &str) -> Told {
        Told::StreamDelta { delta: text.to_owned() }
    }

    fn kinds(listener: &mut Listener) -> Vec<&'static str> {
        std::iter::from_fn(|| listener.waiting()).map(|event| event.kind).collect()
    }

    #[test]
    fn everybody_hears_what_concerns_them_and_words_only_who_asked_for_them() {
        let (events, one, other) = (Events::default(), thread(), thread());
        let (mut all, mut some) = (events.listen_to_all(), events.listen_to_none());
        assert_eq!(some.add(one.session()), Some(Present::default()));
        assert_eq!(some.add(one.session()), None, "once is enough");
        events.tell_run(one, "r", Told::RunStart { client_id: None });
        events.tell_run(one, "r", delta("a"));
        events.tell_run(other, "s", Told::RunStart { client_id: None });
        events.tell_changed(Some(&[other.session()]));
        events.tell_changed(None);
        assert_eq!(kinds(&mut some), ["run_start", "stream_delta", "changed"]);
        assert_eq!(kinds(&mut all), ["run_start", "run_start", "changed", "changed"]);
        some.remove(one.session());
        events.tell_run(one, "r", delta("b"));
        assert_eq!(kinds(&mut some), Vec::<&str>::new());
        drop((all, some));
        assert_eq!(events.listeners(), 0);
    }

    #[test]
    fn l004_17_a_slow_listener_holds_no_more_than_a_bounded_box_and_is_told() {
        let (events, thread) = (Events::default(), thread());
        let mut slow = events.listen_to_none();
        slow.add(thread.session());
        for _ in 0..MOST_EVENTS + 10 {
            events.tell_run(thread, "r", delta("word "));
        }
        let heard = kinds(&mut slow);
        assert_eq!((heard[0], heard.len()), ("lagged", 11));
        // One event may be longer than the box, but never two.
        for _ in 0..3 {
            events.tell_run(thread, "r", delta(&"long ".repeat(MOST_BYTES / 5 + 1)));
        }
        assert_eq!(kinds(&mut slow), ["lagged", "stream_delta"]);
    }

    #[test]
    fn who_comes_late_learns_what_was_said_so_far() {
        let (events, thread) = (Events::default(), thread());
        events.tell_run(thread, "r", Told::RunStart { client_id: None });
        events.tell_run(thread, "r", delta("It is "));
        events.tell_run(thread, "r", delta("raining"));
        let late = events.listen_to_none();
        let present = Present { run_id: Some("r".to_owned()), said: Some("It is raining".to_owned()) };
        assert_eq!(late.add(thread.session()), Some(present));
        events.tell_run(thread, "r", delta(&"x".repeat(MOST_SAID)));
        assert_eq!(events.listen_to_none().add(thread.session()).unwrap().said, None, "too much to keep");
        let end = Told::RunEnd {
            stop_reason: rethread_model::thread::Stop::End,
            usage: None,
            cost_usd: None,
            waiting_calls: Vec::new(),
            cut_short: false,
        };
        events.tell_run(thread, "r", end);
        assert_eq!(events.listen_to_none().add(thread.session()), Some(Present::default()));
    }
}
