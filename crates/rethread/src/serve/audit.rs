//! Collects what members did, and stores it once a second: a transaction for each request would wait for the disk.
//!
//! A node that is killed loses the events of its last second. What a request changed is in the store before its answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rethread_engine::{AuditEvent, Engine, EngineError};
use rethread_model::Timestamp;

/// Most events that wait while the database cannot be reached. Later ones are lost, and counted by the metrics.
const MAX_WAITING: usize = 100_000;

/// Events and uses of tokens that are not stored yet.
#[derive(Debug, Default)]
pub(crate) struct AuditLog(Mutex<WaitingEvents>);

#[derive(Debug, Default)]
struct WaitingEvents {
    events: Vec<AuditEvent>,
    tokens: BTreeMap<String, Timestamp>,
    /// Whether events are being stored that are no longer in the list.
    is_storing: bool,
}

impl AuditLog {
    /// Adds an event, and that the token was used. False if there are too many already.
    pub(super) fn add(&self, event: AuditEvent, token_id: &str) -> bool {
        let mut waiting = self.lock();
        if waiting.events.len() >= MAX_WAITING {
            return false;
        }
        waiting.tokens.insert(token_id.to_owned(), event.at);
        waiting.events.push(event);
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        let waiting = self.lock();
        waiting.events.is_empty() && !waiting.is_storing
    }

    /// Stores what waits. If that fails, it waits for the next call.
    pub(super) fn store(&self, engine: &Engine) -> Result<(), EngineError> {
        let WaitingEvents { events, tokens, .. } =
            std::mem::replace(&mut *self.lock(), WaitingEvents { is_storing: true, ..WaitingEvents::default() });
        let stored = store_all(engine, &events, &tokens);
        let mut waiting = self.lock();
        waiting.is_storing = false;
        if stored.is_err() {
            let newer = std::mem::replace(&mut waiting.events, events);
            waiting.events.extend(newer);
            let newer = std::mem::replace(&mut waiting.tokens, tokens);
            waiting.tokens.extend(newer);
        }
        stored
    }

    fn lock(&self) -> MutexGuard<'_, WaitingEvents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn store_all(engine: &Engine, events: &[AuditEvent], tokens: &BTreeMap<String, Timestamp>) -> Result<(), EngineError> {
    if events.is_empty() {
        return Ok(());
    }
    // First what may be repeated: a failure after the events would store them twice.
    let used: Vec<(String, Timestamp)> = tokens.iter().map(|(id, at)| (id.clone(), *at)).collect();
    engine.members().mark_tokens_used(&used)?;
    engine.members().append_audit(events)
}

/// How many items a JSON answer lists: the elements of the arrays at its top; 1 if it has none.
pub(super) fn count_items(body: &[u8]) -> u64 {
    let parsed: Result<BTreeMap<String, CountedArray>, _> = serde_json::from_slice(body);
    let count = parsed.map_or(0, |fields| fields.values().map(|field| field.0).sum());
    if count == 0 { 1 } else { count }
}

/// The number of elements of an array; 0 for any other value.
#[derive(Clone, Copy, Debug, Default)]
struct CountedArray(u64);

impl<'de> serde::Deserialize<'de> for CountedArray {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> serde::de::Visitor<'de> for CountVisitor {
    type Value = CountedArray;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut elements: A) -> Result<CountedArray, A::Error> {
        let mut count = 0;
        while elements.next_element::<serde::de::IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(CountedArray(count))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut fields: A) -> Result<CountedArray, A::Error> {
        while fields.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(CountedArray(0))
    }

    fn visit_bool<E>(self, _: bool) -> Result<CountedArray, E> {
        Ok(CountedArray(0))
    }

    fn visit_i64<E>(self, _: i64) -> Result<CountedArray, E> {
        Ok(CountedArray(0))
    }

    fn visit_u64<E>(self, _: u64) -> Result<CountedArray, E> {
        Ok(CountedArray(0))
    }

    fn visit_f64<E>(self, _: f64) -> Result<CountedArray, E> {
        Ok(CountedArray(0))
    }

    fn visit_str<E>(self, _: &str) -> Result<CountedArray, E> {
        Ok(CountedArray(0))
    }

    fn visit_unit<E>(self) -> Result<CountedArray, E> {
        Ok(CountedArray(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_what_it_lists() {
        for (body, count) in [
            (r#"{"schema":1,"hits":[{"a":[1,2]},{}],"next":null}"#, 2),
            (r#"{"schema":1,"session":{"tags":[1,2,3]},"x":1.5,"y":"s","z":true,"w":-1}"#, 1),
            (r#"{"hits":[]}"#, 1),
            ("", 1),
            ("<html>", 1),
        ] {
            assert_eq!(count_items(body.as_bytes()), count, "{body}");
        }
    }
}
