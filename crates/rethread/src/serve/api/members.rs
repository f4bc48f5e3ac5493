//! Members, tokens, audit and retention of a space, for its admins.

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use rethread_engine::{AuditFilter, MemberLimits, NewMember, TokenRequest};
use rethread_model::{Access, AccessScope, MemberName, Role};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli::values::since;
use crate::json::{AuditJson, MemberListJson, NewTokenJson, RetentionJson, TokenListJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{BoundedNumber, BoundedText, ResultLimit, TimeParam};
use crate::serve::route::{ApiResult, IdSegment, NoParams, decode_body, decode_query, run_blocking};
use crate::serve::{ApiError, ApiResponse, Route, ServerState, SharedState};

/// A lifetime in days, at most a hundred years.
type DaysParam = BoundedNumber<1, 36_500>;

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::get::<NoParams, MemberListJson<'_>>(
            "/api/members",
            "List the members of the space and their roles, also revoked ones.",
            |app, _| ApiResponse::json(&MemberListJson::new(&app.engine.members().list()?)),
        ),
        Route::with_body::<NewMemberBody, NewTokenJson<'_>>(
            Method::POST,
            "/api/members",
            "Add a member, or give a revoked one access again. Shows its token, once.",
            add,
        )
        .with_status(StatusCode::CREATED)
        .with_errors(&[StatusCode::CONFLICT]),
        Route::custom::<NoParams, ()>(
            Method::DELETE,
            "/api/members/{name}",
            "Revoke a member and its tokens. Takes effect with its next request.",
            for_name::<NoParams>(MethodFilter::DELETE, revoke),
        )
        .with_status(StatusCode::NO_CONTENT)
        .with_errors(&[StatusCode::NOT_FOUND, StatusCode::CONFLICT]),
        Route::custom::<LimitsBody, MemberListJson<'_>>(
            Method::PATCH,
            "/api/members/{name}",
            "Set the limits of a member; missing ones are those of the server.",
            for_name(MethodFilter::PATCH, set_limits),
        )
        .with_errors(&[StatusCode::NOT_FOUND]),
        Route::custom::<RotateBody, NewTokenJson<'_>>(
            Method::POST,
            "/api/members/{name}/rotate",
            "Replace all tokens of a member. Shows the new token, once.",
            for_name(MethodFilter::POST, rotate),
        )
        .with_status(StatusCode::CREATED)
        .with_errors(&[StatusCode::NOT_FOUND]),
        Route::get::<NoParams, TokenListJson<'_>>(
            "/api/tokens",
            "List the tokens of the space without their secrets.",
            |app, _| ApiResponse::json(&TokenListJson::new(&app.engine.members().tokens()?, app.engine.now())),
        ),
        Route::custom::<NoParams, ()>(
            Method::DELETE,
            "/api/tokens/{token}",
            "Revoke one token, named by its id.",
            for_text::<NoParams>(MethodFilter::DELETE, revoke_token),
        )
        .with_status(StatusCode::NO_CONTENT)
        .with_errors(&[StatusCode::NOT_FOUND]),
        Route::get::<AuditParams, AuditJson<'_>>(
            "/api/audit",
            "List who read or wrote what, newest first. Events are stored within a second and kept for a year.",
            audit,
        ),
        Route::get::<NoParams, RetentionJson>("/api/retention", "Show how long sessions are kept.", |app, _| {
            ApiResponse::json(&RetentionJson::new(app.engine.members().retention()?))
        }),
        Route::with_body::<RetentionBody, RetentionJson>(
            Method::PUT,
            "/api/retention",
            "Set how long sessions without activity are kept. Older ones are forgotten within an hour.",
            set_retention,
        ),
    ];
    let for_admins = |route: Route| route.for_callers(RouteAccess::Needs(Access::Admin));
    routes.into_iter().map(for_admins).collect()
}

/// What a member may do.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RoleParam {
    Reader,
    Member,
    Admin,
    Service,
}

/// One thing that a token may do.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AccessParam {
    Read,
    Write,
    Admin,
}

/// The member to add.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewMemberBody {
    /// 1 to 64 lower-case letters, digits and dashes.
    name: BoundedText<1, 64>,
    /// Readers read, members also write, admins also manage members, services only write.
    role: RoleParam,
    /// What the token may do; by default all that the role allows.
    scope: Option<Vec<AccessParam>>,
    /// Days until the token expires; by default it does not.
    expires_days: Option<DaysParam>,
    /// Most requests in a minute.
    requests_per_minute: Option<BoundedNumber<1, 1_000_000>>,
    /// Most bytes of one request.
    max_body_bytes: Option<BoundedNumber<1, { 1 << 40 }>>,
    /// Most bytes of requests in a day.
    max_bytes_per_day: Option<BoundedNumber<1, { 1 << 50 }>>,
}

/// The limits of a member.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LimitsBody {
    /// Most requests in a minute.
    requests_per_minute: Option<BoundedNumber<1, 1_000_000>>,
    /// Most bytes of one request.
    max_body_bytes: Option<BoundedNumber<1, { 1 << 40 }>>,
    /// Most bytes of requests in a day.
    max_bytes_per_day: Option<BoundedNumber<1, { 1 << 50 }>>,
}

/// What the new token may do.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RotateBody {
    /// What the token may do; by default what the old one may.
    scope: Option<Vec<AccessParam>>,
    /// Days until the token expires; by default as long as the old one lived.
    expires_days: Option<DaysParam>,
    /// Minutes for which old tokens still work; by default none.
    grace_minutes: Option<BoundedNumber<0, 43_200>>,
}

/// Which events to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AuditParams {
    /// Only events of this member.
    member: Option<BoundedText<1, 64>>,
    /// Only events since this time: 30d, 12h, 2026-02-20.
    since: Option<TimeParam>,
    /// Only events with a smaller number, for the next page.
    before: Option<BoundedNumber<1, { (1 << 53) - 1 }>>,
    /// Show at most this many events.
    #[serde(default)]
    limit: ResultLimit<100, 1_000>,
}

/// How long to keep sessions.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetentionBody {
    /// Days without activity after which a session is forgotten; null keeps all.
    days: Option<DaysParam>,
}

fn add(app: &ServerState, body: NewMemberBody) -> ApiResult {
    let limits = LimitsBody {
        requests_per_minute: body.requests_per_minute,
        max_body_bytes: body.max_body_bytes,
        max_bytes_per_day: body.max_bytes_per_day,
    };
    let token = token_request(body.scope, body.expires_days)?;
    let new = NewMember { name: member_name(&body.name.0)?, role: body.role.into(), limits: limits.into(), token };
    ApiResponse::created(&NewTokenJson::new(&app.engine.members().add_member(&new)?))
}

fn revoke(app: &ServerState, name: &MemberName, _: NoParams) -> ApiResult {
    app.engine.members().revoke(name)?;
    ApiResponse::no_content()
}

fn set_limits(app: &ServerState, name: &MemberName, body: LimitsBody) -> ApiResult {
    app.engine.members().set_limits(name, body.into())?;
    let members = app.engine.members().list()?;
    let changed: Vec<_> = members.into_iter().filter(|member| member.name == *name).collect();
    ApiResponse::json(&MemberListJson::new(&changed))
}

fn rotate(app: &ServerState, name: &MemberName, body: RotateBody) -> ApiResult {
    let grace = body.grace_minutes.map_or(0, |BoundedNumber(minutes)| minutes);
    let token = app.engine.members().rotate(name, token_request(body.scope, body.expires_days)?, grace)?;
    ApiResponse::created(&NewTokenJson::new(&token))
}

fn revoke_token(app: &ServerState, id: &str, _: NoParams) -> ApiResult {
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ApiError::bad_request("invalid token id"));
    }
    app.engine.members().revoke_token(id)?;
    ApiResponse::no_content()
}

fn audit(app: &ServerState, params: AuditParams) -> ApiResult {
    let bad = |why: String| ApiError::bad_request(format!("since: {why}"));
    let moment = params.since.map(|BoundedText(text)| since(&text).map_err(bad)).transpose()?;
    let filter = AuditFilter {
        member: params.member.map(|BoundedText(name)| member_name(&name)).transpose()?,
        since: moment.map(|moment| moment.before(app.engine.now())),
        before: params.before.map(|BoundedNumber(number)| number),
        limit: params.limit.get() as u64,
    };
    ApiResponse::json(&AuditJson::new(&app.engine.members().audit(&filter)?))
}

fn set_retention(app: &ServerState, RetentionBody { days }: RetentionBody) -> ApiResult {
    let days = days.map(|BoundedNumber(days)| days);
    app.engine.members().set_retention(days)?;
    ApiResponse::json(&RetentionJson::new(days))
}

fn member_name(text: &str) -> Result<MemberName, ApiError> {
    let invalid =
        |_| ApiError::bad_request("invalid member name").hint("use 1 to 64 lower-case letters, digits and dashes");
    text.parse().map_err(invalid)
}

fn token_request(scope: Option<Vec<AccessParam>>, days: Option<DaysParam>) -> Result<TokenRequest, ApiError> {
    let parse = |accesses: Vec<AccessParam>| {
        let names: Vec<&str> = accesses.into_iter().map(|access| Access::from(access).as_str()).collect();
        names.join(",").parse::<AccessScope>().map_err(|_| ApiError::bad_request("scope must not be empty"))
    };
    Ok(TokenRequest { scope: scope.map(parse).transpose()?, days: days.map(|BoundedNumber(days)| days) })
}

impl From<RoleParam> for Role {
    fn from(role: RoleParam) -> Self {
        match role {
            RoleParam::Reader => Self::Reader,
            RoleParam::Member => Self::Member,
            RoleParam::Admin => Self::Admin,
            RoleParam::Service => Self::Service,
        }
    }
}

impl From<AccessParam> for Access {
    fn from(access: AccessParam) -> Self {
        match access {
            AccessParam::Read => Self::Read,
            AccessParam::Write => Self::Write,
            AccessParam::Admin => Self::Admin,
        }
    }
}

impl From<LimitsBody> for MemberLimits {
    fn from(body: LimitsBody) -> Self {
        Self {
            requests_per_minute: body.requests_per_minute.map(|BoundedNumber(most)| most),
            max_body_bytes: body.max_body_bytes.map(|BoundedNumber(most)| most),
            max_bytes_per_day: body.max_bytes_per_day.map(|BoundedNumber(most)| most),
        }
    }
}

/// A handler for a path that ends with the name of a member.
fn for_name<B: serde::de::DeserializeOwned + Send + 'static>(
    method: MethodFilter,
    call: fn(&ServerState, &MemberName, B) -> ApiResult,
) -> MethodRouter<SharedState> {
    on(method, async move |State(app): State<SharedState>, path: IdSegment, query: RawQuery, body: Bytes| {
        let (name, body) = (member_name(segment(&path))?, params(query, &body)?);
        run_blocking(app, move |app| call(app, &name, body)).await
    })
}

/// A handler for a path that ends with any text.
fn for_text<B: serde::de::DeserializeOwned + Send + 'static>(
    method: MethodFilter,
    call: fn(&ServerState, &str, B) -> ApiResult,
) -> MethodRouter<SharedState> {
    on(method, async move |State(app): State<SharedState>, path: IdSegment, query: RawQuery, body: Bytes| {
        let (text, body) = (segment(&path).to_owned(), params(query, &body)?);
        run_blocking(app, move |app| call(app, &text, body)).await
    })
}

fn segment(path: &IdSegment) -> &str {
    path.as_ref().map_or("", |Path(text)| text)
}

fn params<B: serde::de::DeserializeOwned>(RawQuery(query): RawQuery, body: &[u8]) -> Result<B, ApiError> {
    let NoParams {} = decode_query(query.as_deref())?;
    decode_body(body)
}
