//! Reads vectors and error messages out of an answer, and trusts nothing in it.

use serde::Deserialize;

/// More numbers than any model gives for one text.
const MOST_NUMBERS: usize = 16_384;
/// What is shown of a server's own words.
const LONGEST_MESSAGE: usize = 200;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Vector>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
}

/// The vectors of so many texts, in their order, and the tokens that were counted.
pub(crate) type Vectors = (Vec<Vec<f32>>, Option<u64>);

#[derive(Deserialize)]
struct Vector {
    /// Which text it is of. Some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of so many texts, or what is wrong.
pub(crate) fn vectors(body: &[u8], expected: usize) -> Result<Vectors, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    // A server that counts nothing at all for some text does not count.
    let tokens = answer.usage.and_then(|usage| usage.prompt_tokens).filter(|count| *count > 0);
    let count = answer.data.len();
    if count != expected {
        return Err(format!("{count} vectors for {expected} texts"));
    }
    let mut placed: Vec<Option<Vec<f32>>> = vec![None; expected];
    for (at, vector) in answer.data.into_iter().enumerate() {
        let place = placed.get_mut(vector.index.unwrap_or(at)).filter(|place| place.is_none());
        let Some(place) = place else { return Err("its vectors are not numbered from 0".to_owned()) };
        *place = Some(vector.embedding);
    }
    let vectors: Vec<Vec<f32>> = placed.into_iter().flatten().collect();
    let length = vectors.first().map_or(0, Vec::len);
    if expected > 0 && !(1..=MOST_NUMBERS).contains(&length) {
        return Err(format!("a vector of {length} numbers"));
    }
    if vectors.iter().any(|vector| vector.len() != length) {
        return Err("vectors of different lengths".to_owned());
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return Err("a number that is not finite".to_owned());
    }
    Ok((vectors, tokens))
}

/// What a server says about an error: `{"error":{"message":…}}`, `{"error":…}`, `{"detail":…}`, or nothing.
pub(crate) fn message(body: &[u8]) -> String {
    told(&serde_json::from_slice(body).unwrap_or_default())
}

/// The same of JSON that was read already.
pub(crate) fn told(value: &serde_json::Value) -> String {
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

/// A short text without control characters, whatever a server wrote.
pub(crate) fn bounded(text: &str) -> String {
    let plain: String = text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    plain[..plain.floor_char_boundary(LONGEST_MESSAGE)].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: usize, told: Result<Vec<Vec<f32>>, &str>) {
        assert_eq!(
            vectors(body.as_bytes(), expected).map(|(vectors, _)| vectors),
            told.map_err(str::to_owned),
            "{body}"
        );
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let turned = r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}],"usage":{}}"#;
        check(turned, 2, Ok(vec![vec![1.0, 0.5], vec![0.0, 1.0]]));
        check(r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#, 2, Ok(vec![vec![1.0], vec![2.0]]));
    }

    #[test]
    fn tokens_are_told_where_they_were_counted() {
        let counted =
            |usage: &str| vectors(format!(r#"{{"data":[{{"embedding":[1]}}]{usage}}}"#).as_bytes(), 1).unwrap().1;
        assert_eq!(counted(r#","usage":{"prompt_tokens":7,"total_tokens":7}"#), Some(7));
        assert_eq!(counted(r#","usage":{"prompt_tokens":0}"#), None);
        assert_eq!(counted(r#","usage":null"#), None);
        assert_eq!(counted(""), None);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        check(r#"{"data":[]}"#, 1, Err("0 vectors for 1 texts"));
        check(r#"{"data":[{"index":0,"embedding":[]}]}"#, 1, Err("a vector of 0 numbers"));
        check(r#"{"data":[{"index":1,"embedding":[1]}]}"#, 1, Err("its vectors are not numbered from 0"));
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        check(twice, 2, Err("its vectors are not numbered from 0"));
        check(r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, 2, Err("vectors of different lengths"));
        check(r#"{"data":[{"embedding":[1e39]}]}"#, 1, Err("a number that is not finite"));
        assert!(vectors(br#"{"data":[{"embedding":"AACAPw=="}]}"#, 1).is_err());
        assert!(vectors(br#"{"data":[{"embedding":[null]}]}"#, 1).is_err());
        assert!(vectors(b"<html>", 1).is_err());
    }

    #[test]
    fn what_a_server_says_is_shortened() {
        assert_eq!(bounded(&message(br#"{"error":{"message":"no\u001bsuch model"}}"#)), "no such model");
        assert_eq!(message(br#"{"error":"no such model"}"#), "no such model");
        assert_eq!(message(br#"{"detail":"no such model"}"#), "no such model");
        assert_eq!(message(br#"{"detail":[{"loc":["stream_options"]}]}"#), r#"[{"loc":["stream_options"]}]"#);
        assert_eq!(message(b"<html>"), "");
        let long = format!(r#"{{"error":"{}"}}"#, "ä".repeat(500));
        assert_eq!(bounded(&message(long.as_bytes())).len(), LONGEST_MESSAGE);
    }
}
