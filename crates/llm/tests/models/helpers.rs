//! Shared by these tests: requests, a client of the stub model, and a meter that records everything.

use std::sync::Mutex;

use rethread_llm::{
    Admission, ApiKey, BudgetRefusal, ChatError, ChatLimits, ChatModel, ChatRequest, Meter, Price, Provider,
    RequestEstimate, RequestSettlement,
};
use rethread_model::thread::ChatMessage;
use rethread_testing::StubModel;

/// A key that no error and no log may contain.
pub(crate) const SECRET: &str = "sk-this-is-never-shown-0123456789";

/// A client of the stub.
pub(crate) fn client(server: &StubModel, provider: Provider, limits: ChatLimits) -> ChatModel {
    let key = Some(ApiKey::parse(SECRET).unwrap());
    let base = if provider == Provider::OpenAi { server.openai_url() } else { server.url() };
    ChatModel::new(provider, &base, "small", key, Some(price()), limits).unwrap()
}

/// The message of an error with `BASE` for the address. Checks that it does not contain the key.
pub(crate) fn message(server: &StubModel, error: &ChatError) -> String {
    let message = error.to_string();
    assert!(!message.contains("sk-") && !format!("{error:?}").contains("sk-"), "{message}");
    message.replace(&server.url(), "BASE")
}

/// Limits with this many retries.
pub(crate) fn retrying(retries: u32) -> ChatLimits {
    ChatLimits { retries, ..ChatLimits::BACKGROUND }
}

/// One nano-dollar for an input token, three for an output token.
pub(crate) fn price() -> Price {
    Price { input: "0.001".parse().unwrap(), output: "0.003".parse().unwrap(), ..Price::FREE }
}

/// A request with one user message.
pub(crate) fn request(text: &str) -> ChatRequest {
    let messages = vec![ChatMessage::user(text)];
    ChatRequest { system: None, messages, tools: Vec::new(), max_output_tokens: 100, purpose: "turn" }
}

/// Admits every request, or only the first few, and records what it is given.
#[derive(Default)]
pub(crate) struct RecordingMeter {
    /// How many requests are admitted; all if not set.
    limit: Option<usize>,
    planned: Mutex<Vec<RequestEstimate>>,
    settled: Mutex<Vec<(Admission, RequestSettlement)>>,
}

impl RecordingMeter {
    /// Refuses all but the first `limit` requests.
    pub(crate) fn admitting(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    pub(crate) fn planned(&self) -> Vec<RequestEstimate> {
        self.planned.lock().unwrap().clone()
    }

    /// The settled requests in order. Checks that each admission was settled exactly once.
    pub(crate) fn settled(&self) -> Vec<RequestSettlement> {
        let settled = self.settled.lock().unwrap().clone();
        let numbers: Vec<u64> = settled.iter().map(|(Admission(number), _)| *number).collect();
        let admitted = self.planned().len().min(self.limit.unwrap_or(usize::MAX)) as u64;
        assert_eq!(numbers, (1..=admitted).collect::<Vec<_>>(), "each admission is settled once");
        settled.into_iter().map(|(_, settled)| settled).collect()
    }

    /// The errors of the settled requests; empty for success.
    pub(crate) fn errors(&self) -> Vec<String> {
        self.settled().into_iter().map(|settled| settled.error.unwrap_or_default()).collect()
    }
}

impl Meter for RecordingMeter {
    fn admit(&self, planned: &RequestEstimate) -> Result<Admission, BudgetRefusal> {
        let mut all = self.planned.lock().unwrap();
        all.push(planned.clone());
        if self.limit.is_some_and(|limit| all.len() > limit) {
            return Err(BudgetRefusal::NoBudget);
        }
        Ok(Admission(all.len() as u64))
    }

    fn settle(&self, admission: Admission, settled: &RequestSettlement) {
        self.settled.lock().unwrap().push((admission, settled.clone()));
    }
}
