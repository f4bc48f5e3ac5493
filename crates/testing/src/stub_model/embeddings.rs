//! Embeddings computed from words: texts about one topic get similar vectors.

use serde_json::json;

use super::{StubReply, StubRequest};

/// Each row is one topic and one dimension of the vectors.
const TOPICS: [&[&str]; 4] = [
    &["unreliable", "sporadic", "flaky", "intermittent"],
    &["authentication", "login", "password"],
    &["postgres", "database", "table", "query"],
    &["color", "font", "margin"],
];

/// One vector for each text of the request.
pub(super) fn reply(request: &StubRequest, padding: usize) -> StubReply {
    let texts = request.body["input"].as_array().unwrap();
    let vectors = texts.iter().map(|text| vector(text.as_str().unwrap(), padding)).enumerate();
    let data: Vec<_> = vectors.map(|(index, embedding)| json!({"index": index, "embedding": embedding})).collect();
    StubReply::http("200 OK", &json!({"data": data}).to_string())
}

fn vector(text: &str, padding: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let topics = TOPICS.map(|words| words.iter().filter(|word| text.contains(**word)).count() as f32);
    // Every text has something in common with every other, as with real models.
    topics.into_iter().chain(std::iter::repeat_n(0.2, padding)).collect()
}
