//! Parses embedding responses and server error messages. Every value in a response is untrusted and checked.

use serde::Deserialize;

/// Larger than the vectors of any known embedding model.
const MAX_DIMENSIONS: usize = 16_384;
/// Bytes of a server's error message that are shown.
const MAX_MESSAGE_BYTES: usize = 200;

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<EmbeddingItem>,
    #[serde(default)]
    usage: Option<EmbeddingUsage>,
}

#[derive(Deserialize)]
struct EmbeddingUsage {
    prompt_tokens: Option<u64>,
}

/// One vector per text, in the order of the texts, and the input tokens if the server reported them.
pub(crate) type EmbeddingVectors = (Vec<Vec<f32>>, Option<u64>);

#[derive(Deserialize)]
struct EmbeddingItem {
    /// Index of the text. Some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Parses and validates the vectors of `expected` texts. The error says what is wrong with the response.
pub(crate) fn parse_vectors(body: &[u8], expected: usize) -> Result<EmbeddingVectors, String> {
    let answer: EmbeddingResponse = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    // A server that reports 0 tokens for a non-empty text does not count tokens.
    let tokens = answer.usage.and_then(|usage| usage.prompt_tokens).filter(|count| *count > 0);
    let count = answer.data.len();
    if count != expected {
        return Err(format!("{count} vectors for {expected} texts"));
    }
    let mut placed: Vec<Option<Vec<f32>>> = vec![None; expected];
    for (at, vector) in answer.data.into_iter().enumerate() {
        let place = placed.get_mut(vector.index.unwrap_or(at)).filter(|place| place.is_none());
        let Some(place) = place else { return Err("vector indexes are not 0 to N-1".to_owned()) };
        *place = Some(vector.embedding);
    }
    let vectors: Vec<Vec<f32>> = placed.into_iter().flatten().collect();
    let length = vectors.first().map_or(0, Vec::len);
    if expected > 0 && !(1..=MAX_DIMENSIONS).contains(&length) {
        return Err(format!("vector with {length} numbers"));
    }
    if vectors.iter().any(|vector| vector.len() != length) {
        return Err("vectors of different lengths".to_owned());
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return Err("vector contains a number that is not finite".to_owned());
    }
    Ok((vectors, tokens))
}

/// The message in an error body: `{"error":{"message":…}}`, `{"error":…}` or `{"detail":…}`. Empty if there is none.
pub(crate) fn error_message(body: &[u8]) -> String {
    error_message_in(&serde_json::from_slice(body).unwrap_or_default())
}

/// Like [`error_message`], for JSON that is already parsed.
pub(crate) fn error_message_in(value: &serde_json::Value) -> String {
    let error = &value["error"];
    if let Some(text) = error["message"].as_str().or(error.as_str()).or(value["message"].as_str()) {
        return text.to_owned();
    }
    match &value["detail"] {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Shortens a server's text and replaces control characters with spaces.
pub(crate) fn sanitize_message(text: &str) -> String {
    let plain: String = text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    plain[..plain.floor_char_boundary(MAX_MESSAGE_BYTES)].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: usize, result: Result<Vec<Vec<f32>>, &str>) {
        assert_eq!(
            parse_vectors(body.as_bytes(), expected).map(|(vectors, _)| vectors),
            result.map_err(str::to_owned),
            "{body}"
        );
    }

    #[test]
    fn vectors_are_returned_in_the_order_of_the_texts() {
        let reversed = r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}],"usage":{}}"#;
        check(reversed, 2, Ok(vec![vec![1.0, 0.5], vec![0.0, 1.0]]));
        check(r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#, 2, Ok(vec![vec![1.0], vec![2.0]]));
    }

    #[test]
    fn tokens_are_reported_only_when_the_server_counted_them() {
        let counted =
            |usage: &str| parse_vectors(format!(r#"{{"data":[{{"embedding":[1]}}]{usage}}}"#).as_bytes(), 1).unwrap().1;
        assert_eq!(counted(r#","usage":{"prompt_tokens":7,"total_tokens":7}"#), Some(7));
        assert_eq!(counted(r#","usage":{"prompt_tokens":0}"#), None);
        assert_eq!(counted(r#","usage":null"#), None);
        assert_eq!(counted(""), None);
    }

    #[test]
    fn invalid_vectors_are_rejected() {
        check(r#"{"data":[]}"#, 1, Err("0 vectors for 1 texts"));
        check(r#"{"data":[{"index":0,"embedding":[]}]}"#, 1, Err("vector with 0 numbers"));
        check(r#"{"data":[{"index":1,"embedding":[1]}]}"#, 1, Err("vector indexes are not 0 to N-1"));
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        check(twice, 2, Err("vector indexes are not 0 to N-1"));
        check(r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, 2, Err("vectors of different lengths"));
        check(r#"{"data":[{"embedding":[1e39]}]}"#, 1, Err("vector contains a number that is not finite"));
        assert!(parse_vectors(br#"{"data":[{"embedding":"AACAPw=="}]}"#, 1).is_err());
        assert!(parse_vectors(br#"{"data":[{"embedding":[null]}]}"#, 1).is_err());
        assert!(parse_vectors(b"<html>", 1).is_err());
    }

    #[test]
    fn server_messages_are_shortened() {
        assert_eq!(sanitize_message(&error_message(br#"{"error":{"message":"no\u001bsuch model"}}"#)), "no such model");
        assert_eq!(error_message(br#"{"error":"no such model"}"#), "no such model");
        assert_eq!(error_message(br#"{"detail":"no such model"}"#), "no such model");
        assert_eq!(error_message(br#"{"detail":[{"loc":["stream_options"]}]}"#), r#"[{"loc":["stream_options"]}]"#);
        assert_eq!(error_message(b"<html>"), "");
        let long = format!(r#"{{"error":"{}"}}"#, "ä".repeat(500));
        assert_eq!(sanitize_message(&error_message(long.as_bytes())).len(), MAX_MESSAGE_BYTES);
    }
}
