//! Similarity by embeddings, if the user configured an embedding model. Otherwise nothing here runs.

use std::time::Instant;

use rethread_ingest::{RedactionFindings, Redactor};
use rethread_llm::{ApiKey, Embedder, EmbeddingLimits, Endpoint, Meter, Price, Provider, built_in_price, is_local_url};
use rethread_recall::{SearchQuery, SimilarityScores};
use rethread_store::{EmbeddableEntry, QuantizedVector, ReadStore, Store};

use crate::EmbeddingService;
use crate::config::EmbeddingSettings;
use crate::error::error_with_cause;

/// Entries embedded after one sync, so that a sync stays short. The rest follow with the next syncs.
const MAX_ENTRIES_PER_SYNC: usize = 512;
/// Entries embedded and stored in one request. Stored vectors remain if the next request fails.
const ENTRIES_PER_REQUEST: usize = 64;

/// What happened to the embeddings of new entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbeddingReport {
    /// Number of entries embedded.
    pub embedded: u64,
    /// Whether other entries have no vector yet.
    pub has_more: bool,
    /// Why embedding stopped early. The sync succeeds anyway.
    pub error: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

impl<'e> EmbeddingService<'e> {
    /// Embeds entries that have no vector. Errors are reported, but do not fail the sync.
    pub(crate) fn update(self, store: &mut Store) -> Option<EmbeddingReport> {
        let settings = self.settings()?;
        let start = Instant::now();
        let mut report = EmbeddingReport::default();
        report.error = self.embed_entries(store, settings, &mut report).err();
        report.seconds = start.elapsed().as_secs_f64();
        Some(report)
    }

    /// Whether searches ask an embedding model.
    pub(crate) fn is_configured(self) -> bool {
        self.settings().is_some()
    }

    /// `None` unless both an endpoint and a model are configured.
    fn settings(self) -> Option<&'e EmbeddingSettings> {
        let settings = &self.engine.settings().embeddings;
        (!settings.endpoint.is_empty() && !settings.model.is_empty()).then_some(settings)
    }

    fn embed_entries(
        self,
        store: &mut Store,
        settings: &EmbeddingSettings,
        report: &mut EmbeddingReport,
    ) -> Result<(), String> {
        let model = settings.model.as_str();
        let found = store.pending_embeddings(model, MAX_ENTRIES_PER_SYNC).map_err(error_with_cause)?;
        if found.is_up_to_date() {
            return Ok(());
        }
        // Remains true if a request fails before the last entry is embedded.
        report.has_more = !found.entries.is_empty();
        let mut has_lost = false;
        if report.has_more {
            let embedder = self.embedder(settings, EmbeddingLimits::BACKGROUND)?;
            let ledger = self.engine.models().meter().map_err(error_with_cause)?;
            for entries in found.entries.chunks(ENTRIES_PER_REQUEST) {
                let numbers = embed_texts(&embedder, entries, &ledger)?;
                has_lost |= store_vectors(store, model, entries, &numbers)?;
                report.embedded += entries.len() as u64;
            }
        }
        report.has_more = found.has_more || has_lost;
        if report.has_more {
            return Ok(());
        }
        let mut batch = store.begin().map_err(error_with_cause)?;
        batch.mark_embedded(model, &found).map_err(error_with_cause)?;
        batch.commit().map_err(error_with_cause)
    }

    /// How similar every entry is to the query. `None` if no model is configured or there is nothing to compare.
    pub(crate) fn similarity(self, store: &ReadStore, query: &SearchQuery) -> Option<Result<SimilarityScores, String>> {
        let settings = self.settings()?;
        // Without a topic the newest entries are wanted, regardless of their content.
        if query.topic.trim().is_empty() {
            return None;
        }
        self.similarity_to_stored(store, query, settings).transpose()
    }

    fn similarity_to_stored(
        self,
        store: &ReadStore,
        query: &SearchQuery,
        settings: &EmbeddingSettings,
    ) -> Result<Option<SimilarityScores>, String> {
        let Some(length) = store.embedding_dimension(&settings.model).map_err(error_with_cause)? else {
            return Ok(None);
        };
        let embedder = self.embedder(settings, EmbeddingLimits::INTERACTIVE)?;
        // Secrets are removed from everything that leaves the machine, also from a pasted query.
        let text = Redactor::shared().redact(&query.words, &mut RedactionFindings::default()).into_owned();
        let ledger = self.engine.models().meter().map_err(error_with_cause)?;
        let query = embedder.embed(&[&text], &ledger);
        let vectors = query.map_err(|error| format!("the embedding request failed: {error}"))?;
        let Some(query) = vectors.first().map(|vector| QuantizedVector::quantize(vector)) else { return Ok(None) };
        if query.len() != length {
            let now = query.len();
            return Err(format!("the embedding model returns {now} dimensions, but stored vectors have {length}"));
        }
        let mut cosines = Vec::new();
        let compared = store.for_each_embedding(&settings.model, |session, seq, numbers| {
            cosines.extend(query.cosine(numbers).map(|cosine| (session, seq, cosine)));
        });
        compared.map_err(error_with_cause)?;
        Ok(Some(SimilarityScores::new(cosines)))
    }

    fn embedder(self, settings: &EmbeddingSettings, limits: EmbeddingLimits) -> Result<Embedder, String> {
        let endpoint = Endpoint::parse(&settings.endpoint).map_err(error_with_cause)?;
        let key = if settings.key_env.is_empty() { None } else { Some(self.key(&settings.key_env)?) };
        let price = is_local_url(&settings.endpoint).then_some(Price::FREE);
        let price = price.or_else(|| built_in_price(Provider::OpenAi, &settings.model));
        Ok(Embedder::new(endpoint, &settings.model, key, limits).with_price(price))
    }

    fn key(self, name: &str) -> Result<ApiKey, String> {
        let value = self.engine.environment.variable(name);
        let value = value.ok_or_else(|| format!("${name} (from embeddings.key_env) is not set"))?;
        ApiKey::parse(value).map_err(|error| format!("${name}: {error}"))
    }
}

fn embed_texts(
    embedder: &Embedder,
    entries: &[EmbeddableEntry],
    meter: &dyn Meter,
) -> Result<Vec<QuantizedVector>, String> {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    let vectors = embedder.embed(&texts, meter).map_err(error_with_cause)?;
    Ok(vectors.iter().map(|vector| QuantizedVector::quantize(vector)).collect())
}

/// Stores the vectors. Returns whether older vectors of other entries had to be deleted for it. The database is locked
/// only here, never during a request.
fn store_vectors(
    store: &mut Store,
    model: &str,
    entries: &[EmbeddableEntry],
    numbers: &[QuantizedVector],
) -> Result<bool, String> {
    let before = store.embedding_dimension(model).map_err(error_with_cause)?;
    let now = numbers.first().map(QuantizedVector::len);
    let mut batch = store.begin().map_err(error_with_cause)?;
    let is_other = before.is_some() && before != now;
    if is_other {
        // A different model answers under the same name: its vectors cannot be compared with the old ones.
        batch.clear_embeddings().map_err(error_with_cause)?;
    }
    batch.save_embeddings(model, entries, numbers).map_err(error_with_cause)?;
    batch.commit().map_err(error_with_cause)?;
    Ok(is_other)
}
