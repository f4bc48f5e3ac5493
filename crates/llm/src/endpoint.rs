//! Address of a model API. Other hosts must use https; plain http is allowed for this machine only.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::ChatError;

/// Last path segment of every OpenAI-compatible embeddings endpoint.
const EMBEDDINGS_PATH: &str = "/embeddings";

/// Full URL that requests are sent to.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    /// The URL without its query, which may contain a secret.
    display_url: String,
}

impl Endpoint {
    /// Parses an OpenAI-compatible embeddings endpoint from a base URL such as `http://127.0.0.1:11434/v1` or the full URL.
    pub fn parse(text: &str) -> Result<Self, ChatError> {
        Self::join(text, EMBEDDINGS_PATH)
    }

    /// Appends `path` to a base URL that may already end with all or the first segments of `path`.
    pub(crate) fn join(text: &str, path: &str) -> Result<Self, ChatError> {
        let text = text.trim();
        let refuse = |reason| {
            // Anything before an `@` or after a `?` may be secret.
            let shown = text.rsplit('@').next().unwrap_or_default().split('?').next().unwrap_or_default();
            Err(ChatError::InvalidEndpoint { endpoint: shown.to_owned(), reason })
        };
        let Ok(uri) = text.parse::<Uri>() else { return refuse("not a URL") };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return refuse("must start with https:// or http://");
        };
        if authority.as_str().contains('@') {
            return refuse("must not contain a password; put the key in an environment variable and set key_env");
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(authority.host()) => {}
            "http" => return refuse("http is allowed for this machine only; use https"),
            _ => return refuse("must start with https:// or http://"),
        }
        let path = join_paths(uri.path().trim_end_matches('/'), path);
        let shown = format!("{scheme}://{authority}{path}");
        let url = uri.query().map_or_else(|| shown.clone(), |query| format!("{shown}?{query}"));
        Ok(Self { url, display_url: shown })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Adds a query parameter. It is sent but not displayed.
    #[must_use]
    pub(crate) fn with_query(mut self, part: &str) -> Self {
        self.url.push(if self.url.contains('?') { '&' } else { '?' });
        self.url.push_str(part);
        self
    }

    /// Whether this is an https URL of exactly this host.
    pub(crate) fn has_host(&self, host: &str) -> bool {
        self.display_url
            .strip_prefix("https://")
            .and_then(|rest| rest.strip_prefix(host))
            .is_some_and(|rest| rest.starts_with('/'))
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.display_url)
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Endpoint({})", self.display_url)
    }
}

/// Joins both paths. An overlap, such as `/v1` at the end of the base, is not repeated.
fn join_paths(base: &str, path: &str) -> String {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]).rev();
    let common = ends.map(|end| &path[..end]).find(|beginning| base.ends_with(beginning)).unwrap_or_default();
    format!("{base}{}", &path[common.len()..])
}

/// Whether a URL points to this machine, where models are free of charge.
pub fn is_local_url(address: &str) -> bool {
    address.trim().parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(is_loopback))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = Endpoint::parse(text).map_or_else(|error| error.to_string(), |endpoint| endpoint.to_string());
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_base_url_and_a_full_url_give_the_same_endpoint() {
        check("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/embeddings");
        check("http://localhost:11434/v1/", "http://localhost:11434/v1/embeddings");
        check("http://[::1]:8080/v1/embeddings", "http://[::1]:8080/v1/embeddings");
        check("https://api.example.com/v1/embeddings/", "https://api.example.com/v1/embeddings");
        check("https://api.example.com", "https://api.example.com/embeddings");
    }

    #[test]
    fn an_overlap_of_base_and_path_is_not_repeated() {
        let at = |base, path| Endpoint::join(base, path).map(|endpoint| endpoint.to_string());
        let messages = Ok("https://example.com/v1/messages".to_owned());
        assert_eq!(at("https://example.com", "/v1/messages"), messages);
        assert_eq!(at("https://example.com/v1/", "/v1/messages"), messages);
        assert_eq!(at("https://example.com/v1/messages", "/v1/messages"), messages);
        assert_eq!(at("https://example.com/x1", "/v1/messages"), Ok("https://example.com/x1/v1/messages".to_owned()));
    }

    #[test]
    fn a_query_is_sent_but_not_displayed() {
        let endpoint = Endpoint::parse("https://example.com/v1?api-version=2");
        assert!(endpoint.as_ref().is_ok_and(|endpoint| endpoint.url().ends_with("/v1/embeddings?api-version=2")));
        assert_eq!(format!("{endpoint:?}"), "Ok(Endpoint(https://example.com/v1/embeddings))");
        let more = endpoint.map(|endpoint| endpoint.with_query("alt=sse"));
        assert!(more.as_ref().is_ok_and(|endpoint| endpoint.url().ends_with("?api-version=2&alt=sse")));
        assert!(more.is_ok_and(|endpoint| endpoint.has_host("example.com") && !endpoint.has_host("example")));
    }

    #[test]
    fn other_hosts_need_https() {
        let only = "http is allowed for this machine only; use https";
        check("http://example.com/v1", &format!("invalid endpoint \"http://example.com/v1\": {only}"));
        check(
            "http://127.0.0.1.example.com/v1",
            &format!("invalid endpoint \"http://127.0.0.1.example.com/v1\": {only}"),
        );
        check("http://192.168.1.4/v1", &format!("invalid endpoint \"http://192.168.1.4/v1\": {only}"));
        let scheme = "must start with https:// or http://";
        check("ftp://example.com/v1", &format!("invalid endpoint \"ftp://example.com/v1\": {scheme}"));
        check("localhost:11434", &format!("invalid endpoint \"localhost:11434\": {scheme}"));
        check("no url", "invalid endpoint \"no url\": not a URL");
    }

    #[test]
    fn a_password_in_the_url_is_rejected_and_not_repeated() {
        let message = Endpoint::parse("https://me:hush@example.com/v1?k=hush").err().map(|error| error.to_string());
        assert!(message.is_some_and(|message| message.contains("example.com/v1\"") && !message.contains("hush")));
    }
}
