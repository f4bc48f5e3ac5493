//! `/ws`: sends messages, cancels runs and delivers events. Disconnecting stops nothing.

use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use rethread_engine::SendRequest;
use rethread_model::{Access, SessionId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::event_hub::{CurrentRun, EventListener, LiveEvent};
use super::events::{EventParams, existing_session};
use super::messages::{check_client_id, check_text, parse_thread_id};
use super::turn_queue::{self, AcceptedTurn};
use crate::failure::FailureKind;
use crate::json::{CallerToolJson, ClientFrameJson, FrameEventJson, FrameJson};
use crate::serve::guard::MAX_BODY_BYTES;
use crate::serve::open_connection::ConnectionOwner;
use crate::serve::route::decode_query;
use crate::serve::state::wait_until_true;
use crate::serve::{ApiError, RequestCaller, SharedState};

/// Hard limit of a frame: longer ones are not read and close the connection.
const MAX_FRAME_BYTES: usize = 4 * MAX_BODY_BYTES;
/// Interval of pings.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// A client that sends nothing for this long, not even a pong, is disconnected.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// Write timeout.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to wait for the client's close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Most sessions that one client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 256;

/// Why a connection ends.
#[derive(Clone, Copy, Debug)]
enum CloseReason {
    /// The client disconnected.
    ClientClosed,
    /// The client sent nothing for too long, or did not read.
    TimedOut,
    /// The client sent an invalid frame; the close code.
    InvalidFrame(u16),
    /// The token was rotated or revoked, or it has expired.
    TokenInvalid,
    /// The server is shutting down.
    ShuttingDown,
}

/// One WebSocket connection.
struct SocketConnection {
    app: SharedState,
    socket: WebSocket,
    listener: EventListener,
    last_received: Instant,
    owner: ConnectionOwner,
}

/// Upgrades the request to a WebSocket.
pub(super) async fn open(
    State(app): State<SharedState>,
    Extension(caller): Extension<RequestCaller>,
    RawQuery(query): RawQuery,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let filter: EventParams = decode_query(query.as_deref())?;
    let upgrade = upgrade.map_err(|error| {
        ApiError::new(StatusCode::UPGRADE_REQUIRED, FailureKind::BadRequest, error.body_text())
            .hint("connect with a WebSocket client")
    })?;
    let owner = ConnectionOwner::new(&app, caller)?;
    let session = match filter.session {
        Some(id) => Some(existing_session(&app, &id).await?),
        None => None,
    };
    let permit = app.server.socket_permits.clone().try_acquire_owned().map_err(|_| {
        let message = "too many open WebSockets";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, FailureKind::Serve, message).hint("close one and try again")
    })?;
    let upgrade = upgrade.max_message_size(MAX_FRAME_BYTES).max_frame_size(MAX_FRAME_BYTES);
    Ok(upgrade.on_upgrade(move |socket| serve_socket(app, owner, socket, session, permit)))
}

async fn serve_socket(
    app: SharedState,
    owner: ConnectionOwner,
    socket: WebSocket,
    session: Option<SessionId>,
    permit: OwnedSemaphorePermit,
) {
    let began = Instant::now();
    app.engine.journal().event("ws_connect", None, &[]);
    let listener = app.events.listen_to_none();
    let mut connection = SocketConnection { app, socket, listener, last_received: began, owner };
    let close_reason = match connection.subscribe_initial(session).await {
        Ok(()) => connection.run_loop().await,
        Err(close_reason) => close_reason,
    };
    let SocketConnection { app, socket, listener, owner, .. } = connection;
    let fields = [
        ("milliseconds", (began.elapsed().as_millis() as u64).into()),
        ("sessions", listener.session_count().into()),
        ("why", close_reason.log_value().into()),
    ];
    // Unsubscribe first, so that events no longer queue up.
    drop(listener);
    close(socket, close_reason).await;
    drop(owner);
    app.engine.journal().event("ws_disconnect", None, &fields);
    drop(permit);
}

impl SocketConnection {
    async fn subscribe_initial(&mut self, session: Option<SessionId>) -> Result<(), CloseReason> {
        let Some(session) = session else { return Ok(()) };
        if let Some(present) = self.listener.subscribe(session) {
            self.send_status(session, present).await?;
        }
        Ok(())
    }

    /// Forwards events and handles frames until the connection ends.
    async fn run_loop(&mut self) -> CloseReason {
        let mut done = self.app.turns.done();
        let mut ping = interval(PING_INTERVAL);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let step = tokio::select! {
                event = self.listener.next() => self.forward(event).await,
                received = self.socket.recv() => match received {
                    Some(Ok(message)) => self.handle_frame(message).await,
                    Some(Err(error)) => Err(CloseReason::from_read_error(&error)),
                    None => Err(CloseReason::ClientClosed),
                },
                _ = ping.tick() => self.ping().await,
                () = wait_until_true(&mut done) => self.drain().await,
            };
            if let Err(over) = step {
                return over;
            }
        }
    }

    /// Sends the events that were queued before shutdown.
    async fn drain(&mut self) -> Result<(), CloseReason> {
        while let Some(event) = self.listener.try_next() {
            self.forward(event).await?;
        }
        Err(CloseReason::ShuttingDown)
    }

    /// Sends an event of others, unless the token ended meanwhile.
    async fn forward(&mut self, event: LiveEvent) -> Result<(), CloseReason> {
        self.check_token().await?;
        self.send_event(event).await
    }

    async fn ping(&mut self) -> Result<(), CloseReason> {
        if self.last_received.elapsed() > IDLE_TIMEOUT {
            return Err(CloseReason::TimedOut);
        }
        self.check_token().await?;
        self.send_message(Message::Ping(axum::body::Bytes::new())).await
    }

    /// Ends the connection if the token is no longer valid.
    async fn check_token(&mut self) -> Result<(), CloseReason> {
        if self.owner.is_valid(&self.app).await { Ok(()) } else { Err(CloseReason::TokenInvalid) }
    }

    /// Counts a frame against the limits of a member, like a request.
    fn count_frame(&self, message: &Message) -> Result<(), ApiError> {
        let Some(signed_in) = self.owner.signed_in() else { return Ok(()) };
        let bytes = match message {
            Message::Text(text) => text.len() as u64,
            Message::Binary(bytes) => bytes.len() as u64,
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
        };
        let (usage, now) = (&self.app.server.member_usage, self.app.engine.now());
        usage.count_request(signed_in, now)?;
        if let Some(limit) = signed_in.limits.max_body_bytes.filter(|limit| bytes > *limit) {
            let message = format!("frame is larger than {limit} bytes");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, FailureKind::TooLarge, message));
        }
        usage.count_bytes(signed_in, bytes, now)
    }

    /// Adds a write of a member to the audit.
    fn record_write<T>(&self, frame: &str, result: &Result<T, ApiError>, success: StatusCode) {
        let Some(signed_in) = self.owner.signed_in() else { return };
        let status = result.as_ref().map_or_else(ApiError::status, |_| success);
        self.app.record(signed_in, Access::Write, format!("GET /ws {frame}"), u64::from(result.is_ok()), status);
    }

    async fn handle_frame(&mut self, message: Message) -> Result<(), CloseReason> {
        self.last_received = Instant::now();
        self.check_token().await?;
        if let Err(error) = self.count_frame(&message) {
            return self.send_error(None, None, &error).await;
        }
        match message {
            Message::Text(text) if text.len() > MAX_BODY_BYTES => {
                let message = format!("frame is larger than {} MiB", MAX_BODY_BYTES >> 20);
                self.send_error(
                    None,
                    None,
                    &ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, FailureKind::TooLarge, message),
                )
                .await
            }
            Message::Text(text) => match serde_json::from_str(&text) {
                Ok(frame) => self.handle_request(frame).await,
                Err(error) => {
                    let error = ApiError::new(
                        StatusCode::BAD_REQUEST,
                        FailureKind::BadRequest,
                        format!("invalid frame: {error}"),
                    );
                    self.send_error(None, None, &error.hint("send one JSON object with a `type` per text frame")).await
                }
            },
            Message::Binary(_) => {
                let error =
                    ApiError::new(StatusCode::BAD_REQUEST, FailureKind::BadRequest, "binary frames are not supported");
                self.send_error(None, None, &error).await
            }
            Message::Close(_) => Err(CloseReason::ClientClosed),
            // The library has already answered pings.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        }
    }

    async fn handle_request(&mut self, frame: ClientFrameJson) -> Result<(), CloseReason> {
        match frame {
            ClientFrameJson::SendMessage { session_id, text, tools, memory, client_id } => {
                let tools = tools.into_iter().map(CallerToolJson::into_tool).collect();
                let request = SendRequest { text, tools, can_search_memory: memory, client_id: client_id.clone() };
                let started = self.start_turn(&session_id, request).await;
                self.record_write("send_message", &started, StatusCode::ACCEPTED);
                match started {
                    Ok(frames) => self.send_frames(frames).await,
                    Err(error) => self.send_error(Some(session_id), client_id, &error).await,
                }
            }
            ClientFrameJson::Cancel { session_id, run_id } => {
                let canceled = self.cancel(&session_id, run_id.as_deref()).await;
                self.record_write("cancel", &canceled, StatusCode::OK);
                match canceled {
                    Ok(()) => Ok(()),
                    Err(error) => self.send_error(Some(session_id), None, &error).await,
                }
            }
            ClientFrameJson::Subscribe { session_id } => match self.subscribe(&session_id).await {
                Ok((session, present)) => self.send_status(session, present).await,
                Err(error) => self.send_error(Some(session_id), None, &error).await,
            },
            ClientFrameJson::Unsubscribe { session_id } => match crate::serve::route::parse_session_id(&session_id) {
                Ok(session) => {
                    self.listener.unsubscribe(session);
                    self.send_frames(vec![FrameJson::for_session(session, FrameEventJson::status_text("unsubscribed"))])
                        .await
                }
                Err(error) => self.send_error(Some(session_id), None, &error).await,
            },
        }
    }

    /// Starts a turn and subscribes to its session. Returns the frames for the sender only.
    async fn start_turn(&mut self, id: &str, request: SendRequest) -> Result<Vec<FrameJson>, ApiError> {
        self.owner.check_may_write()?;
        let thread = parse_thread_id(id)?;
        let request =
            SendRequest { text: check_text(request.text)?, client_id: check_client_id(request.client_id)?, ..request };
        let client_id = request.client_id.clone();
        self.check_subscription_limit(thread.session_id())?;
        // Subscribe before starting, so that no event of the run is missed.
        let present = self.listener.subscribe(thread.session_id());
        let accepted = turn_queue::accept(&self.app, thread, request).await;
        if accepted.is_err() && present.is_some() {
            self.listener.unsubscribe(thread.session_id());
        }
        let mut frames: Vec<FrameJson> =
            present.map(|present| self.status_frame(thread.session_id(), present)).into_iter().collect();
        match accepted? {
            AcceptedTurn::New(run, ahead) => {
                frames.push(FrameJson::for_run(thread, &run.id, FrameEventJson::Accepted { ahead, client_id }));
            }
            AcceptedTurn::Earlier(before) => {
                let payload =
                    std::iter::once(FrameEventJson::Accepted { ahead: 0, client_id }).chain(before.replay_frames());
                frames.extend(payload.map(|payload| FrameJson::for_run(thread, &before.run_id, payload)));
            }
        }
        Ok(frames)
    }

    async fn cancel(&mut self, id: &str, run_id: Option<&str>) -> Result<(), ApiError> {
        self.owner.check_may_write()?;
        let thread = parse_thread_id(id)?;
        if turn_queue::cancel(&self.app, thread, run_id) {
            return Ok(());
        }
        existing_session(&self.app, id).await?;
        let message = if run_id.is_some() { "no such run" } else { "no run in progress" };
        Err(ApiError::new(StatusCode::NOT_FOUND, FailureKind::UnknownReference, message))
    }

    async fn subscribe(&mut self, id: &str) -> Result<(SessionId, CurrentRun), ApiError> {
        let session = existing_session(&self.app, id).await?;
        self.check_subscription_limit(session)?;
        // A repeated subscription gets no partial answer: it was delivered before.
        Ok((session, self.listener.subscribe(session).unwrap_or_default()))
    }

    fn check_subscription_limit(&self, session: SessionId) -> Result<(), ApiError> {
        if self.listener.session_count() < MAX_SUBSCRIPTIONS || self.listener.is_subscribed(session) {
            return Ok(());
        }
        let message = format!("a WebSocket can subscribe to at most {MAX_SUBSCRIPTIONS} sessions");
        Err(ApiError::new(StatusCode::BAD_REQUEST, FailureKind::BadRequest, message)
            .hint("unsubscribe from one, or open another WebSocket"))
    }

    fn status_frame(&self, session: SessionId, present: CurrentRun) -> FrameJson {
        let thread = session.to_string().parse().ok();
        let queued = thread.map_or(0, |thread| self.app.turns.waiting_count(thread));
        let partial_text = present.partial_text.filter(|text| !text.is_empty());
        let payload =
            FrameEventJson::Status { status: "subscribed".to_owned(), ahead: None, queued: Some(queued), partial_text };
        FrameJson { run_id: present.run_id, ..FrameJson::for_session(session, payload) }
    }

    async fn send_status(&mut self, session: SessionId, present: CurrentRun) -> Result<(), CloseReason> {
        let frame = self.status_frame(session, present);
        self.send_frames(vec![frame]).await
    }

    async fn send_frames(&mut self, frames: Vec<FrameJson>) -> Result<(), CloseReason> {
        for event in frames.iter().filter_map(LiveEvent::from_frame) {
            self.send_event(event).await?;
        }
        Ok(())
    }

    async fn send_error(
        &mut self,
        session_id: Option<String>,
        client_id: Option<String>,
        error: &ApiError,
    ) -> Result<(), CloseReason> {
        // Invalid ids are not echoed.
        let session = session_id.and_then(|id| id.parse::<SessionId>().ok());
        let payload = FrameEventJson::from_failure(error.failure(), client_id);
        let frame = session.map_or_else(
            || FrameJson::without_session(payload.clone()),
            |id| FrameJson::for_session(id, payload.clone()),
        );
        self.send_frames(vec![frame]).await
    }

    async fn send_event(&mut self, event: LiveEvent) -> Result<(), CloseReason> {
        self.send_message(Message::Text((*event.data).into())).await
    }

    async fn send_message(&mut self, message: Message) -> Result<(), CloseReason> {
        match timeout(WRITE_TIMEOUT, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(CloseReason::ClientClosed),
            Err(_) => Err(CloseReason::TimedOut),
        }
    }
}

impl CloseReason {
    fn from_read_error(error: &axum::Error) -> Self {
        let is_too_long = error.to_string().contains("too long");
        CloseReason::InvalidFrame(if is_too_long { close_code::SIZE } else { close_code::PROTOCOL })
    }

    const fn log_value(self) -> &'static str {
        match self {
            CloseReason::ClientClosed => "gone",
            CloseReason::TimedOut => "silent",
            CloseReason::InvalidFrame(_) => "unreadable",
            CloseReason::TokenInvalid => "locked out",
            CloseReason::ShuttingDown => "ending",
        }
    }
}

/// Sends a close frame with the reason, and waits briefly for the client's.
async fn close(mut socket: WebSocket, over: CloseReason) {
    let (code, reason) = match over {
        CloseReason::ClientClosed => (close_code::NORMAL, ""),
        CloseReason::TimedOut => (close_code::POLICY, "timed out"),
        CloseReason::InvalidFrame(code) => (code, "invalid frame"),
        CloseReason::TokenInvalid => (close_code::POLICY, "the token is no longer valid"),
        CloseReason::ShuttingDown => (close_code::AWAY, "the server is shutting down"),
    };
    let farewell = async {
        if socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    let _ = timeout(CLOSE_TIMEOUT, farewell).await;
}
