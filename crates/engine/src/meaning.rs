//! Likeness of meaning, where the user configured an embedding model. Without one nothing here runs.

use std::time::Instant;

use rethread_ingest::{Findings, Redactor};
use rethread_llm::{Embedder, Endpoint, Key, Limits, Meter, Price, Provider, built_in_price, is_local};
use rethread_recall::{Likeness, Query};
use rethread_store::{Numbers, Store, Wordy};

use crate::{Config, Engine};

/// Entries that get their numbers after one sync, so that a sync stays short; the others follow after the next ones.
const MOST_PER_SYNC: usize = 512;
/// Entries whose numbers are asked for and stored together. What is stored stays when the next ones fail.
const AT_ONCE: usize = 64;

/// What became of the meanings of what was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbeddingReport {
    /// Entries that got their numbers.
    pub made: u64,
    /// Whether others have none yet.
    pub more: bool,
    /// Why it could not be gone on. A sync succeeds all the same.
    pub failed: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

/// What the user configured.
struct Settings<'a> {
    endpoint: &'a str,
    model: &'a str,
    key_env: &'a str,
}

impl<'a> Settings<'a> {
    /// Nothing unless both a place and a model are named.
    fn of(config: &'a Config) -> Option<Self> {
        let [endpoint, model, key_env] =
            ["endpoint", "model", "key_env"].map(|field| config.text(&format!("embeddings.{field}")).trim());
        (!endpoint.is_empty() && !model.is_empty()).then_some(Self { endpoint, model, key_env })
    }
}

impl Engine {
    /// Asks for the numbers of entries that have none. What goes wrong is told, and no reason to fail a sync.
    pub(crate) fn embed_new(&self, store: &mut Store) -> Option<EmbeddingReport> {
        let settings = Settings::of(&self.config)?;
        let start = Instant::now();
        let mut report = EmbeddingReport::default();
        report.failed = self.embed_some(store, &settings, &mut report).err();
        report.seconds = start.elapsed().as_secs_f64();
        Some(report)
    }

    fn embed_some(
        &self,
        store: &mut Store,
        settings: &Settings<'_>,
        report: &mut EmbeddingReport,
    ) -> Result<(), String> {
        let model = settings.model;
        let found = store.unembedded(model, MOST_PER_SYNC).map_err(told)?;
        if found.is_settled() {
            return Ok(());
        }
        // True until the last entry has its numbers.
        report.more = !found.entries.is_empty();
        let mut has_lost = false;
        if report.more {
            let embedder = self.embedder(settings, Limits::PATIENT)?;
            let books = self.books().map_err(told)?;
            for entries in found.entries.chunks(AT_ONCE) {
                let numbers = numbers_of(&embedder, entries, &books)?;
                has_lost |= store_numbers(store, model, entries, &numbers)?;
                report.made += entries.len() as u64;
            }
        }
        report.more = found.more || has_lost;
        if report.more {
            return Ok(());
        }
        let mut batch = store.begin().map_err(told)?;
        batch.note_embedded(model, &found).map_err(told)?;
        batch.commit().map_err(told)
    }

    /// How alike every entry is to the query: nothing if no model is configured or there is nothing to compare with.
    pub(crate) fn likeness(&self, store: &Store, query: &Query) -> Option<Result<Likeness, String>> {
        let settings = Settings::of(&self.config)?;
        // Without a topic the newest entries are wanted, whatever they are about.
        if query.topic.trim().is_empty() {
            return None;
        }
        self.compare(store, query, &settings).transpose()
    }

    fn compare(&self, store: &Store, query: &Query, settings: &Settings<'_>) -> Result<Option<Likeness>, String> {
        let Some(length) = store.vector_length(settings.model).map_err(told)? else { return Ok(None) };
        let embedder = self.embedder(settings, Limits::QUICK)?;
        // Secrets are taken out of whatever leaves the machine, also of a pasted query.
        let text = Redactor::shared().clean(&query.words, &mut Findings::default()).into_owned();
        let books = self.books().map_err(told)?;
        let asked = embedder.embed(&[&text], &books);
        let vectors = asked.map_err(|error| format!("the embedding model could not be asked: {error}"))?;
        let Some(asked) = vectors.first().map(|vector| Numbers::of(vector)) else { return Ok(None) };
        if asked.len() != length {
            let now = asked.len();
            return Err(format!("the embedding model gives {now} numbers now and gave {length} for what is stored"));
        }
        let mut cosines = Vec::new();
        let compared = store.each_vector(settings.model, |session, seq, numbers| {
            cosines.extend(asked.cosine(numbers).map(|cosine| (session, seq, cosine)));
        });
        compared.map_err(told)?;
        Ok(Some(Likeness::new(cosines)))
    }

    fn embedder(&self, settings: &Settings<'_>, limits: Limits) -> Result<Embedder, String> {
        let endpoint = Endpoint::parse(settings.endpoint).map_err(told)?;
        let key = if settings.key_env.is_empty() { None } else { Some(self.key(settings.key_env)?) };
        let price = is_local(settings.endpoint).then_some(Price::FREE);
        let price = price.or_else(|| built_in_price(Provider::OpenAi, settings.model));
        Ok(Embedder::new(endpoint, settings.model, key, limits).with_price(price))
    }

    fn key(&self, name: &str) -> Result<Key, String> {
        let variables = &self.environment.variables;
        let value = variables.iter().find(|(variable, _)| variable == name).map(|(_, value)| value);
        let value = value.ok_or_else(|| format!("${name}, which embeddings.key_env names, is not set"))?;
        Key::parse(value).map_err(|error| format!("${name}: {error}"))
    }
}

fn numbers_of(embedder: &Embedder, entries: &[Wordy], meter: &dyn Meter) -> Result<Vec<Numbers>, String> {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    let vectors = embedder.embed(&texts, meter).map_err(told)?;
    Ok(vectors.iter().map(|vector| Numbers::of(vector)).collect())
}

/// Stores the numbers; whether those of other entries had to go for it. The database is locked only here, never while
/// a server is waited for.
fn store_numbers(store: &mut Store, model: &str, entries: &[Wordy], numbers: &[Numbers]) -> Result<bool, String> {
    let before = store.vector_length(model).map_err(told)?;
    let now = numbers.first().map(Numbers::len);
    let mut batch = store.begin().map_err(told)?;
    let is_other = before.is_some() && before != now;
    if is_other {
        // Another model answers to the name: what the old one gave cannot be compared with it.
        batch.clear_vectors().map_err(told)?;
    }
    batch.put_vectors(model, entries, numbers).map_err(told)?;
    batch.commit().map_err(told)?;
    Ok(is_other)
}

fn told(error: impl std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
