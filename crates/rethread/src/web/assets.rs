//! Serves the embedded style sheet, scripts and icon.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest, Sha256};

use crate::failure::FailureKind;
use crate::serve::ApiError;

/// An embedded file; its version is a hash of the content.
struct StaticAsset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
    version: String,
}

/// One style sheet: the parts of single pages come last.
const STYLES: &str = concat!(
    include_str!("page.css"),
    include_str!("board/board.css"),
    include_str!("session/session.css"),
    include_str!("original.css"),
    include_str!("search/search.css"),
    include_str!("usage/usage.css"),
    include_str!("memory/memory.css"),
    include_str!("graph/graph.css"),
    include_str!("session/chat.css"),
);

/// One script: the parts share one scope.
const SCRIPTS: &str = concat!(
    include_str!("page.js"),
    include_str!("edit.js"),
    include_str!("session/session.js"),
    include_str!("original.js"),
    include_str!("palette.js"),
    include_str!("search/search.js"),
    include_str!("session/chat.js"),
);

static ASSETS: LazyLock<[StaticAsset; 4]> = LazyLock::new(|| {
    let asset = |name, kind, text: &'static str| {
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let begin = digest.first_chunk().copied().unwrap_or_default();
        StaticAsset { name, kind, text, version: format!("{:016x}", u64::from_be_bytes(begin)) }
    };
    [
        asset("page.css", "text/css; charset=utf-8", STYLES),
        asset("page.js", "text/javascript; charset=utf-8", SCRIPTS),
        asset("theme.js", "text/javascript; charset=utf-8", include_str!("theme.js")),
        asset("icon.svg", "image/svg+xml", include_str!("icon.svg")),
    ]
});

/// The static files. They need no credentials, as they contain no data of the user.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/static/{name}", get(file))
}

/// The URL of a file, which changes with its content.
pub(super) fn asset_url(name: &str) -> String {
    let version = ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| asset.version.as_str());
    format!("/static/{name}?v={version}")
}

async fn file(Path(name): Path<String>, RawQuery(query): RawQuery, headers: HeaderMap) -> Result<Response, ApiError> {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return Err(ApiError::new(StatusCode::NOT_FOUND, FailureKind::UnknownPath, "no such file"));
    };
    // A URL with the current version can be cached forever; without it the browser revalidates.
    let is_named = query.as_deref().and_then(|query| query.strip_prefix("v=")) == Some(asset.version.as_str());
    let keep = if is_named { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tag = format!("\"{}\"", asset.version);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag));
    let about = [(header::CACHE_CONTROL, keep.to_owned()), (header::ETAG, tag)];
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    Ok((about, [(header::CONTENT_TYPE, asset.kind)], asset.text).into_response())
}
