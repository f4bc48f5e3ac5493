//! Delivers events to listeners. Each listener has a bounded queue, so a slow one never blocks the sender.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rethread_model::SessionId;
use rethread_model::thread::ThreadId;
use tokio::sync::Notify;

use crate::json::{FrameEventJson, FrameJson};

/// Most queued events per listener.
const MAX_QUEUED_EVENTS: usize = 1_024;
/// Most queued bytes per listener; a single event may be larger.
const MAX_QUEUED_BYTES: usize = 4 << 20;
/// Bytes of a partial answer that are kept for listeners that join later.
const MAX_PARTIAL_BYTES: usize = 256 << 10;

/// Publishes events to all listeners.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventHub(Arc<Mutex<HubState>>);

/// A serialized event.
#[derive(Clone, Debug)]
pub(crate) struct LiveEvent {
    /// The event name on the wire, in snake case.
    pub(crate) kind: &'static str,
    /// One line of JSON.
    pub(crate) data: Arc<str>,
}

/// A subscription. Dropping it unsubscribes.
#[derive(Debug)]
pub(crate) struct EventListener {
    number: u64,
    hub: EventHub,
    arrived: Arc<Notify>,
}

/// The state of a session's run when a listener joins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CurrentRun {
    pub(crate) run_id: Option<String>,
    /// The partial answer so far; `None` if it is too long to keep.
    pub(crate) partial_text: Option<String>,
}

#[derive(Debug, Default)]
struct HubState {
    last_number: u64,
    queues: BTreeMap<u64, ListenerQueue>,
    /// One entry per running thread, so never more than the limit of concurrent turns.
    current_runs: BTreeMap<SessionId, CurrentRun>,
}

#[derive(Debug)]
struct ListenerQueue {
    filter: EventFilter,
    events: VecDeque<LiveEvent>,
    bytes: usize,
    has_lagged: bool,
    arrived: Arc<Notify>,
}

/// The events a listener receives.
#[derive(Debug)]
enum EventFilter {
    /// All sessions, without text deltas.
    AllSessions,
    /// These sessions, with text deltas.
    Sessions(BTreeSet<SessionId>),
}

/// The sessions an event is about.
#[derive(Debug)]
enum AffectedSessions<'a> {
    AllSessions,
    Sessions(&'a [SessionId]),
}

impl EventHub {
    /// Subscribes to all sessions, without text deltas.
    pub(crate) fn listen_to_all(&self) -> EventListener {
        self.add_listener(EventFilter::AllSessions)
    }

    /// Subscribes to no session yet; see [`EventListener::subscribe`].
    pub(crate) fn listen_to_none(&self) -> EventListener {
        self.add_listener(EventFilter::Sessions(BTreeSet::new()))
    }

    /// Something was stored in these sessions, or anywhere if `None`: clients should reload.
    pub(crate) fn publish_changed(&self, sessions: Option<&[SessionId]>) {
        let named = sessions.map(|sessions| sessions.iter().map(ToString::to_string).collect());
        let concerns = sessions.map_or(AffectedSessions::AllSessions, AffectedSessions::Sessions);
        self.publish(&concerns, &FrameJson::without_session(FrameEventJson::Changed { sessions: named }));
    }

    /// Publishes a frame about a session.
    pub(crate) fn publish_to_session(&self, session: SessionId, payload: FrameEventJson) {
        self.publish(&AffectedSessions::Sessions(&[session]), &FrameJson::for_session(session, payload));
    }

    /// Publishes a frame about a run.
    pub(crate) fn publish_to_run(&self, thread: ThreadId, run_id: &str, payload: FrameEventJson) {
        self.publish(&AffectedSessions::Sessions(&[thread.session_id()]), &FrameJson::for_run(thread, run_id, payload));
    }

    /// How many listeners there are.
    pub(crate) fn listener_count(&self) -> usize {
        self.lock().queues.len()
    }

    fn add_listener(&self, filter: EventFilter) -> EventListener {
        let arrived = Arc::new(Notify::new());
        let mut hub = self.lock();
        hub.last_number += 1;
        let number = hub.last_number;
        let mailbox = ListenerQueue {
            filter,
            events: VecDeque::new(),
            bytes: 0,
            has_lagged: false,
            arrived: Arc::clone(&arrived),
        };
        hub.queues.insert(number, mailbox);
        EventListener { number, hub: self.clone(), arrived }
    }

    fn publish(&self, concerns: &AffectedSessions<'_>, frame: &FrameJson) {
        let Some(event) = LiveEvent::from_frame(frame) else { return };
        let mut hub = self.lock();
        if let AffectedSessions::Sessions([session]) = concerns {
            hub.track_run(*session, frame);
        }
        // One lock for all listeners, so that all receive events in the same order.
        for mailbox in hub.queues.values_mut().filter(|mailbox| mailbox.filter.matches(concerns, frame)) {
            mailbox.push(event.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveEvent {
    pub(crate) fn from_frame(frame: &FrameJson) -> Option<Self> {
        Some(Self { kind: frame.event.type_name(), data: crate::json::to_json_line(frame).ok()?.into() })
    }
}

impl EventListener {
    /// Subscribes to a session. Returns its current run if the subscription is new; all later events are delivered.
    pub(crate) fn subscribe(&self, session: SessionId) -> Option<CurrentRun> {
        let mut hub = self.hub.lock();
        let present = hub.current_runs.get(&session).cloned().unwrap_or_default();
        let is_new = hub.queues.get_mut(&self.number).is_some_and(|mailbox| match &mut mailbox.filter {
            EventFilter::AllSessions => false,
            EventFilter::Sessions(sessions) => sessions.insert(session),
        });
        is_new.then_some(present)
    }

    pub(crate) fn unsubscribe(&self, session: SessionId) {
        if let Some(ListenerQueue { filter: EventFilter::Sessions(sessions), .. }) =
            self.hub.lock().queues.get_mut(&self.number)
        {
            sessions.remove(&session);
        }
    }

    pub(crate) fn is_subscribed(&self, session: SessionId) -> bool {
        let hub = self.hub.lock();
        hub.queues.get(&self.number).is_some_and(|mailbox| match &mailbox.filter {
            EventFilter::AllSessions => true,
            EventFilter::Sessions(sessions) => sessions.contains(&session),
        })
    }

    /// The number of subscribed sessions.
    pub(crate) fn session_count(&self) -> usize {
        match self.hub.lock().queues.get(&self.number).map(|mailbox| &mailbox.filter) {
            Some(EventFilter::Sessions(sessions)) => sessions.len(),
            _ => 0,
        }
    }

    /// Waits for the next event. Cancel safe.
    pub(crate) async fn next(&mut self) -> LiveEvent {
        loop {
            if let Some(event) = self.try_next() {
                return event;
            }
            self.arrived.notified().await;
        }
    }

    /// The next event, if one is queued.
    pub(crate) fn try_next(&mut self) -> Option<LiveEvent> {
        let mut hub = self.hub.lock();
        let mailbox = hub.queues.get_mut(&self.number)?;
        if std::mem::take(&mut mailbox.has_lagged) {
            return LiveEvent::from_frame(&FrameJson::without_session(FrameEventJson::Lagged));
        }
        let event = mailbox.events.pop_front()?;
        mailbox.bytes -= event.data.len();
        Some(event)
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        self.hub.lock().queues.remove(&self.number);
    }
}

impl HubState {
    /// Tracks the partial answer of each run, for listeners that join later.
    fn track_run(&mut self, session: SessionId, frame: &FrameJson) {
        match &frame.event {
            FrameEventJson::RunStart { .. } => {
                let present = CurrentRun { run_id: frame.run_id.clone(), partial_text: Some(String::new()) };
                self.current_runs.insert(session, present);
            }
            FrameEventJson::StreamDelta { delta } => {
                if let Some(present) = self.current_runs.get_mut(&session) {
                    let text = present.partial_text.take().filter(|text| text.len() + delta.len() <= MAX_PARTIAL_BYTES);
                    present.partial_text = text.map(|text| text + delta);
                }
            }
            FrameEventJson::MessageComplete { .. } => {
                // Other clients may append while a run is active.
                let present = self.current_runs.get_mut(&session).filter(|present| present.run_id == frame.run_id);
                if let Some(present) = present {
                    present.partial_text = Some(String::new());
                }
            }
            FrameEventJson::RunEnd { .. } => {
                // A run that was canceled while queued is not the current one.
                self.current_runs.retain(|speaker, present| *speaker != session || present.run_id != frame.run_id);
            }
            _ => {}
        }
    }
}

impl ListenerQueue {
    fn push(&mut self, event: LiveEvent) {
        let is_full = self.events.len() >= MAX_QUEUED_EVENTS || self.bytes + event.data.len() > MAX_QUEUED_BYTES;
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

impl EventFilter {
    fn matches(&self, concerns: &AffectedSessions<'_>, frame: &FrameJson) -> bool {
        match (self, concerns) {
            (EventFilter::AllSessions, _) => !matches!(frame.event, FrameEventJson::StreamDelta { .. }),
            (EventFilter::Sessions(_), AffectedSessions::AllSessions) => true,
            (EventFilter::Sessions(subscribed), AffectedSessions::Sessions(affected)) => {
                affected.iter().any(|session| subscribed.contains(session))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::Timestamp;

    use super::*;

    fn thread() -> ThreadId {
        ThreadId::generate(Timestamp::from_millis(1))
    }

    fn delta(text: &str) -> FrameEventJson {
        FrameEventJson::StreamDelta { delta: text.to_owned() }
    }

    fn kinds(listener: &mut EventListener) -> Vec<&'static str> {
        std::iter::from_fn(|| listener.try_next()).map(|event| event.kind).collect()
    }

    #[test]
    fn listeners_get_their_events_and_deltas_only_on_request() {
        let (events, one, other) = (EventHub::default(), thread(), thread());
        let (mut all, mut some) = (events.listen_to_all(), events.listen_to_none());
        assert_eq!(some.subscribe(one.session_id()), Some(CurrentRun::default()));
        assert_eq!(some.subscribe(one.session_id()), None, "already subscribed");
        events.publish_to_run(one, "r", FrameEventJson::RunStart { client_id: None });
        events.publish_to_run(one, "r", delta("a"));
        events.publish_to_run(other, "s", FrameEventJson::RunStart { client_id: None });
        events.publish_changed(Some(&[other.session_id()]));
        events.publish_changed(None);
        assert_eq!(kinds(&mut some), ["run_start", "stream_delta", "changed"]);
        assert_eq!(kinds(&mut all), ["run_start", "run_start", "changed", "changed"]);
        some.unsubscribe(one.session_id());
        events.publish_to_run(one, "r", delta("b"));
        assert_eq!(kinds(&mut some), Vec::<&str>::new());
        drop((all, some));
        assert_eq!(events.listener_count(), 0);
    }

    #[test]
    fn a_slow_listener_has_a_bounded_queue_and_is_notified() {
        // L004-17
        let (events, thread) = (EventHub::default(), thread());
        let mut slow = events.listen_to_none();
        slow.subscribe(thread.session_id());
        for _ in 0..MAX_QUEUED_EVENTS + 10 {
            events.publish_to_run(thread, "r", delta("word "));
        }
        let received = kinds(&mut slow);
        assert_eq!((received[0], received.len()), ("lagged", 11));
        // One event may exceed the limit, but never two.
        for _ in 0..3 {
            events.publish_to_run(thread, "r", delta(&"long ".repeat(MAX_QUEUED_BYTES / 5 + 1)));
        }
        assert_eq!(kinds(&mut slow), ["lagged", "stream_delta"]);
    }

    #[test]
    fn late_listeners_get_the_partial_answer() {
        let (events, thread) = (EventHub::default(), thread());
        events.publish_to_run(thread, "r", FrameEventJson::RunStart { client_id: None });
        events.publish_to_run(thread, "r", delta("It is "));
        events.publish_to_run(thread, "r", delta("raining"));
        let late = events.listen_to_none();
        let present = CurrentRun { run_id: Some("r".to_owned()), partial_text: Some("It is raining".to_owned()) };
        assert_eq!(late.subscribe(thread.session_id()), Some(present));
        events.publish_to_run(thread, "r", delta(&"x".repeat(MAX_PARTIAL_BYTES)));
        assert_eq!(
            events.listen_to_none().subscribe(thread.session_id()).unwrap().partial_text,
            None,
            "too much to keep"
        );
        let end = FrameEventJson::RunEnd {
            end: crate::json::RunEndJson::without_report(rethread_model::thread::StopReason::End, Vec::new()),
        };
        events.publish_to_run(thread, "r", end);
        assert_eq!(events.listen_to_none().subscribe(thread.session_id()), Some(CurrentRun::default()));
    }
}
