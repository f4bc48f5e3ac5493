//! Where a model answers. Texts leave this machine by https only.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::ChatError;

/// The last part of the path of every OpenAI-compatible endpoint for embeddings.
const EMBEDDINGS: &str = "/embeddings";

/// The whole address that requests are sent to.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    /// Without the query, which may hold something secret.
    shown: String,
}

impl Endpoint {
    /// Of an OpenAI-compatible `/v1/embeddings`: takes a base such as `http://127.0.0.1:11434/v1`, or the whole address.
    pub fn parse(text: &str) -> Result<Self, ChatError> {
        Self::at(text, EMBEDDINGS)
    }

    /// This path at a base, which may already end with the path or with its beginning.
    pub(crate) fn at(text: &str, path: &str) -> Result<Self, ChatError> {
        let text = text.trim();
        let refuse = |reason| {
            // Whatever stands before an `@` or after a `?` may be secret.
            let shown = text.rsplit('@').next().unwrap_or_default().split('?').next().unwrap_or_default();
            Err(ChatError::Endpoint { endpoint: shown.to_owned(), reason })
        };
        let Ok(uri) = text.parse::<Uri>() else { return refuse("it is not a URL") };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return refuse("it must begin with https:// or http://");
        };
        if authority.as_str().contains('@') {
            return refuse("it must not hold a password; name the variable with the key in key_env");
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(authority.host()) => {}
            "http" => return refuse("http is for this machine only; another host needs https"),
            _ => return refuse("it must begin with https:// or http://"),
        }
        let path = joined(uri.path().trim_end_matches('/'), path);
        let shown = format!("{scheme}://{authority}{path}");
        let url = uri.query().map_or_else(|| shown.clone(), |query| format!("{shown}?{query}"));
        Ok(Self { url, shown })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The same with one more part of a query, which is not shown.
    #[must_use]
    pub(crate) fn with_query(mut self, part: &str) -> Self {
        self.url.push(if self.url.contains('?') { '&' } else { '?' });
        self.url.push_str(part);
        self
    }

    /// Whether it is at this host, over https.
    pub(crate) fn is_at(&self, host: &str) -> bool {
        self.shown
            .strip_prefix("https://")
            .and_then(|rest| rest.strip_prefix(host))
            .is_some_and(|rest| rest.starts_with('/'))
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

/// The path after the base; what both have in common, such as `/v1`, stands there once.
fn joined(base: &str, path: &str) -> String {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]).rev();
    let common = ends.map(|end| &path[..end]).find(|beginning| base.ends_with(beginning)).unwrap_or_default();
    format!("{base}{}", &path[common.len()..])
}

/// Whether an address is one of this machine, where nobody sends a bill.
pub fn is_local(address: &str) -> bool {
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
    fn what_base_and_path_have_in_common_stands_once() {
        let at = |base, path| Endpoint::at(base, path).map(|endpoint| endpoint.to_string());
        let messages = Ok("https://example.com/v1/messages".to_owned());
        assert_eq!(at("https://example.com", "/v1/messages"), messages);
        assert_eq!(at("https://example.com/v1/", "/v1/messages"), messages);
        assert_eq!(at("https://example.com/v1/messages", "/v1/messages"), messages);
        assert_eq!(at("https://example.com/x1", "/v1/messages"), Ok("https://example.com/x1/v1/messages".to_owned()));
    }

    #[test]
    fn a_query_is_sent_and_not_shown() {
        let endpoint = Endpoint::parse("https://example.com/v1?api-version=2");
        assert!(endpoint.as_ref().is_ok_and(|endpoint| endpoint.url().ends_with("/v1/embeddings?api-version=2")));
        assert_eq!(format!("{endpoint:?}"), "Ok(Endpoint(https://example.com/v1/embeddings))");
        let more = endpoint.map(|endpoint| endpoint.with_query("alt=sse"));
        assert!(more.as_ref().is_ok_and(|endpoint| endpoint.url().ends_with("?api-version=2&alt=sse")));
        assert!(more.is_ok_and(|endpoint| endpoint.is_at("example.com") && !endpoint.is_at("example")));
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
