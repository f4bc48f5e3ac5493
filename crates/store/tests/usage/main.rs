//! Usage sums: each message once, grouped by model, time and agent.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_model::{Agent, MessageUsage, NativeKey, SessionChanges, Timestamp, Tokens};
use rethread_store::{
    AuthorizedSpace, ModelSpending, PlannedRequest, SettledRequest, Store, StoreLocation, UsageFilter, UsageGrain,
    UsageTotal,
};

fn store_in(folder: &tempfile::TempDir) -> Store {
    Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn usage_row(model: Option<&str>, when: Option<&str>, input: u64, cost_usd: Option<f64>) -> MessageUsage {
    let tokens = Tokens { input, output: 1, cache_read: 2, cache_write: 3 };
    MessageUsage { tokens, model: model.map(str::to_owned), at: when.map(at), cost_usd, ..MessageUsage::default() }
}

/// Two agents with one session each: messages with and without a noted cost, time and model.
fn store_with_messages(folder: &tempfile::TempDir) -> Store {
    let mut store = store_in(folder);
    let rows = [
        (Agent::Pi, usage_row(Some("small"), Some("2026-03-01T10:14:59Z"), 10, Some(0.5))),
        (Agent::Pi, usage_row(Some("small"), Some("2026-03-01T10:00:00Z"), 20, Some(0.25))),
        (Agent::Pi, usage_row(Some("small"), Some("2026-03-01T10:15:00Z"), 30, None)),
        (Agent::ClaudeCode, usage_row(Some("large"), Some("2026-03-02T00:00:00Z"), 1_000, None)),
        (Agent::ClaudeCode, usage_row(Some("large"), None, 5, None)),
        (Agent::ClaudeCode, usage_row(None, Some("2026-03-02T00:00:00Z"), 7, None)),
        (Agent::ClaudeCode, usage_row(Some("<synthetic>"), Some("2026-03-02T00:00:00Z"), 9, None)),
        (Agent::ClaudeCode, MessageUsage { model: Some("idle".into()), ..MessageUsage::default() }),
    ];
    let mut batch = store.begin().unwrap();
    for (number, (agent, row)) in rows.into_iter().enumerate() {
        let session = batch.open_session(agent, "one").unwrap().number;
        let usage = [(NativeKey::from_stored(number as i64), row)].into();
        batch.apply_changes(session, None, &SessionChanges { usage, ..SessionChanges::default() }, None).unwrap();
    }
    batch.commit().unwrap();
    store
}

/// One line per slice, sorted.
fn slices(store: &Store, filter: &UsageFilter, grain: UsageGrain, steps: &[u64]) -> Vec<String> {
    let say = |slice: UsageTotal| {
        let UsageTotal { at, label, model, price_step: step, messages, tokens, cost_nanos, .. } = slice;
        let place = at.map(|at| at.to_string()[..16].to_owned()).or(label).unwrap_or_default();
        let model = model.unwrap_or_default();
        format!("{place} {model}/{step} {messages} messages {} input {cost_nanos:?}", tokens.input)
    };
    let mut all: Vec<String> = store.usage(filter, grain, steps).unwrap().into_iter().map(say).collect();
    all.sort();
    all
}

#[test]
fn usage_sums_by_model_and_noted_cost() {
    // E003-14
    let folder = tempfile::tempdir().unwrap();
    let store = store_with_messages(&folder);
    let all = slices(&store, &UsageFilter::default(), UsageGrain::Model, &[]);
    assert_eq!(
        all,
        [
            " /0 1 messages 7 input None",
            " large/0 2 messages 1005 input None",
            " small/0 1 messages 30 input None",
            " small/0 2 messages 30 input Some(750000000)",
        ]
    );
    let sums = store.usage(&UsageFilter::default(), UsageGrain::Model, &[]).unwrap();
    let total = sums.iter().fold(Tokens::default(), |sum, slice| sum.plus(slice.tokens));
    assert_eq!(total, Tokens { input: 1_072, output: 6, cache_read: 12, cache_write: 18 });
}

#[test]
fn long_prompts_are_split_by_price_step() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_with_messages(&folder);
    // Cached tokens count: 5 of the 1,005 tokens of a prompt.
    let of_large = |steps: &[u64]| {
        let all = slices(&store, &UsageFilter::default(), UsageGrain::Model, steps);
        all.into_iter().filter(|line| line.contains("large")).collect::<Vec<_>>()
    };
    assert_eq!(of_large(&[9, 1_004])[1..], [" large/2 1 messages 1000 input None"]);
    assert_eq!(of_large(&[9, 1_005])[0], " large/1 2 messages 1005 input None");
}

#[test]
fn usage_splits_by_time_and_agent() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_with_messages(&folder);
    let pi = UsageFilter { agent: Some(Agent::Pi), ..UsageFilter::default() };
    assert_eq!(
        slices(&store, &pi, UsageGrain::Time, &[]),
        [
            "2026-03-01T10:00 small/0 2 messages 30 input Some(750000000)",
            "2026-03-01T10:15 small/0 1 messages 30 input None",
        ]
    );
    let day = UsageFilter { from: Some(at("2026-03-02T00:00:00Z")), ..UsageFilter::default() };
    assert_eq!(
        slices(&store, &day, UsageGrain::Agent, &[]),
        ["claude-code /0 1 messages 7 input None", "claude-code large/0 1 messages 1000 input None"]
    );
    let before = UsageFilter { to: Some(at("2026-03-01T10:14:59Z")), ..UsageFilter::default() };
    assert_eq!(slices(&store, &before, UsageGrain::Agent, &[]), ["pi small/0 1 messages 20 input Some(250000000)"]);
}

#[test]
fn requests_sum_by_purpose_and_model() {
    // S003-21
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_in(&folder);
    let mut ask = |minute: i64, purpose, cost_nanos, error: Option<&str>| {
        let at = Timestamp::from_millis(minute * 60_000);
        let planned = PlannedRequest { at, provider: "openai", model: "small", purpose, tokens: 100, cost_nanos };
        let number = store.record_request(&planned, at, |_| Ok::<(), ()>(())).unwrap().unwrap();
        store.settle_request(number, &SettledRequest { error, ..SettledRequest::default() }).unwrap();
    };
    ask(1, "turn", Some(7), None);
    ask(2, "turn", None, Some("away"));
    ask(3, "card", Some(5), None);
    let sums = store.ledger_totals(None, None).unwrap();
    let slices: Vec<_> = sums
        .iter()
        .map(|sum| (sum.purpose.as_str(), sum.spending, sum.failed_requests, sum.unpriced_requests))
        .collect();
    assert_eq!(
        slices,
        [
            ("turn", ModelSpending { requests: 2, tokens: 200, cost_nanos: 7 }, 1, 1),
            ("card", ModelSpending { requests: 1, tokens: 100, cost_nanos: 5 }, 0, 0),
        ]
    );
    let minute = |minute: i64| Some(Timestamp::from_millis(minute * 60_000));
    assert_eq!(store.ledger_totals(minute(2), minute(3)).unwrap()[0].spending.requests, 1);
    assert_eq!(store.ledger_totals(minute(4), None).unwrap(), []);
}
