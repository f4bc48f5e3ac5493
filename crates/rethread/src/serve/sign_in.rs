//! Finds out who makes a request.
//!
//! The user of this machine shows its token, cookie or socket; a member its own token, or the cookie of its browser.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use rethread_engine::{EngineError, SignInError, SignedIn};

use super::caller::{AuthMethod, RequestCaller};
use super::node::ServerNode;
use super::spaces::SpaceUse;
use super::{ApiError, guard};
use crate::failure::FailureKind;

/// The cookie with the token of a member, which scripts of pages cannot read. Nothing else is stored for it, so it works
/// on every node and ends with the token.
pub(super) const MEMBER_COOKIE: &str = "rethread-member";

/// A visitor whose credentials were checked.
#[derive(Debug)]
pub(super) struct Visitor {
    pub(super) caller: RequestCaller,
    pub(super) method: AuthMethod,
    /// The space whose rows it may use; `None` for the operator of a node, who only reads metrics.
    pub(super) space: Option<SpaceUse>,
}

/// What a request shows to prove who makes it.
enum ShownCredential {
    Token(String),
    Cookie(String),
    Socket,
}

/// Who makes the request; `None` if it proves nothing.
pub(super) async fn authenticate(
    node: &Arc<ServerNode>,
    headers: &HeaderMap,
    is_same_user: bool,
) -> Result<Option<Visitor>, ApiError> {
    let Some(shown) = shown_credential(node, headers, is_same_user) else { return Ok(None) };
    if !node.context.is_shared {
        return Ok(node.check_owner(&shown));
    }
    let node = Arc::clone(node);
    let checked = tokio::task::spawn_blocking(move || node.check_member(&shown)).await;
    checked.unwrap_or_else(|_| Err(ApiError::internal_error()))
}

fn shown_credential(node: &ServerNode, headers: &HeaderMap, is_same_user: bool) -> Option<ShownCredential> {
    // An Authorization header decides alone: a wrong token is not rescued by a valid cookie.
    if headers.contains_key(header::AUTHORIZATION) {
        let shown = guard::single_header(headers, &header::AUTHORIZATION)?;
        let (scheme, token) = shown.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then(|| ShownCredential::Token(token.trim().to_owned()));
    }
    if is_same_user {
        return Some(ShownCredential::Socket);
    }
    let name = if node.context.is_shared { MEMBER_COOKIE } else { node.context.credentials.cookie_name() };
    cookie(headers, name).map(|value| ShownCredential::Cookie(value.to_owned()))
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

impl ServerNode {
    /// Checks the credentials of the user of a single machine.
    fn check_owner(&self, shown: &ShownCredential) -> Option<Visitor> {
        let (credentials, engine) = (&self.context.credentials, &self.spaces.own().engine);
        let method = match shown {
            ShownCredential::Token(token) => credentials.is_valid_token(engine, token).then_some(AuthMethod::Token),
            ShownCredential::Cookie(cookie) => {
                credentials.is_valid_cookie(engine, cookie).then_some(AuthMethod::Cookie)
            }
            ShownCredential::Socket => Some(AuthMethod::SameUser),
        };
        method.map(|method| Visitor { caller: RequestCaller::Owner, method, space: Some(self.spaces.use_own()) })
    }

    /// Checks the credentials of a member, or of the operator.
    fn check_member(&self, shown: &ShownCredential) -> Result<Option<Visitor>, ApiError> {
        let engine = &self.spaces.own().engine;
        let (signed_in, method) = match shown {
            ShownCredential::Token(token) if self.context.credentials.is_valid_token(engine, token) => {
                return Ok(Some(Visitor { caller: RequestCaller::Owner, method: AuthMethod::Token, space: None }));
            }
            ShownCredential::Token(token) => (engine.members().sign_in(token), AuthMethod::Token),
            ShownCredential::Cookie(token) => (engine.members().sign_in(token), AuthMethod::Cookie),
            ShownCredential::Socket => {
                let space = Some(self.spaces.use_own());
                return Ok(Some(Visitor { caller: RequestCaller::Owner, method: AuthMethod::SameUser, space }));
            }
        };
        let Some(signed_in) = self.admitted(signed_in)? else { return Ok(None) };
        let space = Some(self.spaces.use_space(&signed_in.space)?);
        Ok(Some(Visitor { caller: RequestCaller::Member(Arc::new(signed_in)), method, space }))
    }

    /// `None` for a wrong token. An error if the database cannot say.
    pub(super) fn admitted(&self, result: Result<SignedIn, SignInError>) -> Result<Option<SignedIn>, ApiError> {
        match result {
            Ok(signed_in) => Ok(Some(signed_in)),
            Err(SignInError::Rejected(_)) => {
                self.context.metrics.count_rejected_token();
                Ok(None)
            }
            Err(SignInError::Store(error)) => Err(EngineError::from(error).into()),
        }
    }
}

/// 401. The reason is not given: it would only help those who guess tokens.
pub(super) fn unauthorized(node: &ServerNode) -> ApiError {
    let error = ApiError::new(StatusCode::UNAUTHORIZED, FailureKind::Unauthorized, "missing or invalid token");
    error.hint(if node.context.is_shared {
        "send `Authorization: Bearer TOKEN` with your token of the space, or sign in at /login"
    } else {
        "send `Authorization: Bearer TOKEN` (`rethread token` prints it), or run `rethread open`"
    })
}
