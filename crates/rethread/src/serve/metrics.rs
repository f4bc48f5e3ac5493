//! Counts requests and their times, and writes them with the state of the server in the text format of Prometheus.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use rethread_engine::PoolStatus;

/// Upper bounds of the times of requests, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The content type of the answer.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the server counts.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    rejected_tokens: Counter,
    failed_audits: Counter,
    open_spaces: Gauge<i64>,
    index_lag: Gauge<u64, AtomicU64>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("rethread");
        let new = Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            rejected_tokens: Counter::default(),
            failed_audits: Counter::default(),
            open_spaces: Gauge::default(),
            index_lag: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("requests", "Requests by route and status", new.requests.clone());
        let about = "Time until the answer begins";
        registry.register_with_unit("request_duration", about, Unit::Seconds, new.seconds.clone());
        registry.register("rejected_tokens", "Requests with an invalid token", new.rejected_tokens.clone());
        registry.register(
            "failed_audits",
            "Failed attempts to store audit events, and events that were lost",
            new.failed_audits.clone(),
        );
        registry.register("open_spaces", "Spaces that are open on this node", new.open_spaces.clone());
        let about = "Entries that the most outdated index of an open space lacks; searches read them from the store";
        registry.register("index_lag_entries", about, new.index_lag.clone());
        Self { registry, ..new }
    }
}

impl Metrics {
    pub(super) fn count_request(&self, method: &axum::http::Method, route: Option<&str>, status: u16, took: Duration) {
        let route = route.unwrap_or("none").to_owned();
        self.seconds.get_or_create(&RouteLabels { route: route.clone() }).observe(took.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { method: known_method(method), route, status }).inc();
    }

    pub(super) fn count_rejected_token(&self) {
        self.rejected_tokens.inc();
    }

    pub(super) fn count_failed_audit(&self) {
        self.failed_audits.inc();
    }

    pub(super) fn set_spaces(&self, open: usize, index_lag: u64) {
        self.open_spaces.set(open as i64);
        self.index_lag.set(index_lag);
    }

    /// All numbers, with those of the database connections.
    pub(super) fn text(&self, pool: Option<PoolStatus>) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        let Some(pool) = pool else { return Ok(text) };
        // The end mark belongs after the last metric.
        let mut whole = text.trim_end().trim_end_matches("# EOF").to_owned();
        let mut extra = Registry::with_prefix("rethread");
        let used = pool.open.saturating_sub(pool.idle);
        let gauges = [
            ("pool_used", "Connections to the database that are in use", used),
            ("pool_idle", "Connections to the database that are open and not in use", pool.idle),
            ("pool_limit", "Most connections to the database", pool.limit),
        ];
        for (name, about, value) in gauges {
            extra.register(name, about, ConstGauge::new(value as i64));
        }
        let reconnects = ConstCounter::new(pool.reconnects);
        extra.register("pool_reconnects", "Connections opened after the first", reconnects);
        let takeovers = ConstCounter::new(rethread_engine::lease_takeovers());
        extra.register("lease_takeovers", "Turns of dead processes that were taken over", takeovers);
        encode(&mut whole, &extra)?;
        Ok(whole)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// A client may send any method; a label for each would use up the memory.
fn known_method(method: &axum::http::Method) -> &'static str {
    ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"]
        .into_iter()
        .find(|known| method.as_str() == *known)
        .unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_once_and_in_the_text_format() {
        let metrics = Metrics::default();
        metrics.count_request(&axum::http::Method::GET, Some("/api/search"), 200, Duration::from_millis(3));
        let text = metrics.text(None).unwrap();
        let line = "rethread_requests_total{method=\"GET\",route=\"/api/search\",status=\"200\"} 1";
        assert!(text.contains(line) && text.contains("rethread_request_duration_seconds_bucket"), "{text}");
        assert_eq!(text.matches("# EOF").count(), 1);
    }
}
