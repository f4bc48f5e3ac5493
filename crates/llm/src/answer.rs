//! Reads the numbers out of an answer, and trusts nothing in it.

use serde::Deserialize;

/// More numbers than any model gives for one text.
const MOST_NUMBERS: usize = 16_384;
/// What is shown of a server's own words.
const LONGEST_MESSAGE: usize = 200;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    /// Which text it is of. Some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of so many texts, in their order, or what is wrong.
pub(crate) fn vectors(body: &[u8], expected: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| error.to_string())?;
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
    Ok(vectors)
}

/// What a server says about an error: `{"error":{"message":…}}`, `{"error":…}`, or nothing.
pub(crate) fn message(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &value["error"];
    error["message"].as_str().or(error.as_str()).or(value["message"].as_str()).unwrap_or_default().to_owned()
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
        assert_eq!(vectors(body.as_bytes(), expected), told.map_err(str::to_owned), "{body}");
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let turned = r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}],"usage":{}}"#;
        check(turned, 2, Ok(vec![vec![1.0, 0.5], vec![0.0, 1.0]]));
        check(r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#, 2, Ok(vec![vec![1.0], vec![2.0]]));
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
        assert_eq!(message(b"<html>"), "");
        let long = format!(r#"{{"error":"{}"}}"#, "ä".repeat(500));
        assert_eq!(bounded(&message(long.as_bytes())).len(), LONGEST_MESSAGE);
    }
}
