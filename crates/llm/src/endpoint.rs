//! Where a model answers. Texts leave this machine by https only.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::EmbeddingError;

/// The last part of the path of every such endpoint.
const PATH: &str = "/embeddings";

/// The address of an OpenAI-compatible `/v1/embeddings`.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    /// Without the query, which may hold something secret.
    shown: String,
}

impl Endpoint {
    /// Takes a base such as `http://127.0.0.1:11434/v1`, or the whole address.
    pub fn parse(text: &str) -> Result<Self, EmbeddingError> {
        let text = text.trim();
        let refuse = |reason| {
            // Whatever stands before an `@` or after a `?` may be secret.
            let shown = text.rsplit('@').next().unwrap_or_default().split('?').next().unwrap_or_default();
            Err(EmbeddingError::Endpoint { endpoint: shown.to_owned(), reason })
        };
        let Ok(uri) = text.parse::<Uri>() else { return refuse("it is not a URL") };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return refuse("it must begin with https:// or http://");
        };
        if authority.as_str().contains('@') {
            return refuse("it must not hold a password; name the variable with the key in embeddings.key_env");
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(authority.host()) => {}
            "http" => return refuse("http is for this machine only; another host needs https"),
            _ => return refuse("it must begin with https:// or http://"),
        }
        let path = uri.path().trim_end_matches('/');
        let path = if path.ends_with(PATH) { path.to_owned() } else { format!("{path}{PATH}") };
        let shown = format!("{scheme}://{authority}{path}");
        let url = uri.query().map_or_else(|| shown.clone(), |query| format!("{shown}?{query}"));
        Ok(Self { url, shown })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Endpoint({})", self.shown)
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = Endpoint::parse(text).map_or_else(|error| error.to_string(), |endpoint| endpoint.to_string());
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn a_base_and_a_whole_address_mean_the_same() {
        check("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/embeddings");
        check("http://localhost:11434/v1/", "http://localhost:11434/v1/embeddings");
        check("http://[::1]:8080/v1/embeddings", "http://[::1]:8080/v1/embeddings");
        check("https://api.example.com/v1/embeddings/", "https://api.example.com/v1/embeddings");
        check("https://api.example.com", "https://api.example.com/embeddings");
    }

    #[test]
    fn a_query_is_sent_and_not_shown() {
        let endpoint = Endpoint::parse("https://example.com/v1?api-version=2");
        assert!(endpoint.as_ref().is_ok_and(|endpoint| endpoint.url().ends_with("/v1/embeddings?api-version=2")));
        assert_eq!(format!("{endpoint:?}"), "Ok(Endpoint(https://example.com/v1/embeddings))");
    }

    #[test]
    fn texts_leave_the_machine_by_https_only() {
        let only = "cannot be used: http is for this machine only; another host needs https";
        check("http://example.com/v1", &format!("the endpoint http://example.com/v1 {only}"));
        check("http://127.0.0.1.example.com/v1", &format!("the endpoint http://127.0.0.1.example.com/v1 {only}"));
        check("http://192.168.1.4/v1", &format!("the endpoint http://192.168.1.4/v1 {only}"));
        let begin = "cannot be used: it must begin with https:// or http://";
        check("ftp://example.com/v1", &format!("the endpoint ftp://example.com/v1 {begin}"));
        check("localhost:11434", &format!("the endpoint localhost:11434 {begin}"));
        check("no url", "the endpoint no url cannot be used: it is not a URL");
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        let told = Endpoint::parse("https://me:hush@example.com/v1?k=hush").err().map(|error| error.to_string());
        assert!(told.is_some_and(|told| told.contains("example.com/v1 ") && !told.contains("hush")));
    }
}
