//! `/ws`: a conversation with whoever is on the other side. It can go at any time without stopping anything.

use std::time::{Duration, Instant};

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use rethread_engine::SendRequest;
use rethread_model::SessionId;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::events::{Filter, known_session};
use super::hub::{Event, Listener, Present};
use super::messages::{client_id, text_of, thread_id};
use super::turns::{self, Accepted};
use crate::failure::Kind;
use crate::json::{Asked, Frame, OfferedTool, Told};
use crate::serve::app::becomes_so;
use crate::serve::guard::LARGEST_BODY;
use crate::serve::route::in_query;
use crate::serve::{Refusal, Shared};

/// What is longer than this is not even read to its end.
const LONGEST_MESSAGE: usize = 4 * LARGEST_BODY;
/// How often the other side is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);
/// How long it may be silent.
const LONGEST_SILENCE: Duration = Duration::from_secs(90);
/// How long it may take to take what is sent to it.
const LONGEST_SEND: Duration = Duration::from_secs(20);
/// How long its farewell is waited for.
const FAREWELL: Duration = Duration::from_secs(2);
/// Sessions that one client may listen to.
const MOST_SESSIONS: usize = 256;

/// Why a conversation ends.
#[derive(Clone, Copy, Debug)]
enum Over {
    /// The other side has gone.
    Gone,
    /// It was silent for too long, or did not take what was sent.
    Silent,
    /// It sent what cannot be read.
    Unreadable(u16),
    /// The token it came in with is worth nothing any more.
    LockedOut,
    /// The server ends.
    Ending,
}

/// One conversation.
struct Talk {
    app: Shared,
    socket: WebSocket,
    listener: Listener,
    heard: Instant,
    seal: Option<[u8; 32]>,
}

/// Opens a conversation.
pub(super) async fn open(
    State(app): State<Shared>,
    RawQuery(query): RawQuery,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    let filter: Filter = in_query(query.as_deref())?;
    let upgrade = upgrade.map_err(|error| {
        Refusal::new(StatusCode::UPGRADE_REQUIRED, Kind::BadRequest, error.body_text()).hint("this is a WebSocket")
    })?;
    let session = match filter.session {
        Some(id) => Some(known_session(&app, &id).await?),
        None => None,
    };
    let place = app.sockets.clone().try_acquire_owned().map_err(|_| {
        let message = "as many sockets as may be open are open already";
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Serve, message).hint("close one of them")
    })?;
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE).max_frame_size(LONGEST_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| converse(app, socket, session, place)))
}

async fn converse(app: Shared, socket: WebSocket, session: Option<SessionId>, place: OwnedSemaphorePermit) {
    let began = Instant::now();
    app.engine.note_socket("ws_connect", &[]);
    let (listener, seal) = (app.events.listen_to_none(), app.keys.seal(&app.engine));
    let mut talk = Talk { app, socket, listener, heard: began, seal };
    let over = match talk.begin(session).await {
        Ok(()) => talk.go_on().await,
        Err(over) => over,
    };
    let Talk { app, socket, listener, .. } = talk;
    let fields = [
        ("milliseconds", (began.elapsed().as_millis() as u64).into()),
        ("sessions", listener.sessions().into()),
        ("why", over.word().into()),
    ];
    // What happens from now on waits for nobody.
    drop(listener);
    take_leave(socket, over).await;
    app.engine.note_socket("ws_disconnect", &fields);
    drop(place);
}

impl Talk {
    async fn begin(&mut self, session: Option<SessionId>) -> Result<(), Over> {
        let Some(session) = session else { return Ok(()) };
        if let Some(present) = self.listener.add(session) {
            self.tell_present(session, present).await?;
        }
        Ok(())
    }

    /// Listens to both sides until there is nothing more to say.
    async fn go_on(&mut self) -> Over {
        let mut done = self.app.turns.done();
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let step = tokio::select! {
                event = self.listener.next() => self.send(event).await,
                received = self.socket.recv() => match received {
                    Some(Ok(message)) => self.take(message).await,
                    Some(Err(error)) => Err(Over::unreadable(&error)),
                    None => Err(Over::Gone),
                },
                _ = ping.tick() => self.ping().await,
                () = becomes_so(&mut done) => self.tell_the_rest().await,
            };
            if let Err(over) = step {
                return over;
            }
        }
    }

    /// What was told before the server ended.
    async fn tell_the_rest(&mut self) -> Result<(), Over> {
        while let Some(event) = self.listener.waiting() {
            self.send(event).await?;
        }
        Err(Over::Ending)
    }

    async fn ping(&mut self) -> Result<(), Over> {
        if self.heard.elapsed() > LONGEST_SILENCE {
            return Err(Over::Silent);
        }
        self.must_be_let_in()?;
        self.put(Message::Ping(axum::body::Bytes::new())).await
    }

    /// Who came in with a token that has been rotated may ask for nothing more.
    fn must_be_let_in(&self) -> Result<(), Over> {
        if self.app.keys.seal(&self.app.engine) == self.seal { Ok(()) } else { Err(Over::LockedOut) }
    }

    async fn take(&mut self, message: Message) -> Result<(), Over> {
        self.heard = Instant::now();
        self.must_be_let_in()?;
        match message {
            Message::Text(text) if text.len() > LARGEST_BODY => {
                let message = format!("the frame is longer than {} MiB", LARGEST_BODY >> 20);
                self.refuse(None, None, &Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Kind::TooLarge, message)).await
            }
            Message::Text(text) => match serde_json::from_str(&text) {
                Ok(asked) => self.answer(asked).await,
                Err(error) => {
                    let refusal = Refusal::new(
                        StatusCode::BAD_REQUEST,
                        Kind::BadRequest,
                        format!("the frame is not what is taken here: {error}"),
                    );
                    self.refuse(None, None, &refusal.hint("send one JSON object with a type in each text frame")).await
                }
            },
            Message::Binary(_) => {
                let refusal =
                    Refusal::new(StatusCode::BAD_REQUEST, Kind::BadRequest, "only text frames are understood");
                self.refuse(None, None, &refusal).await
            }
            Message::Close(_) => Err(Over::Gone),
            // A ping was answered when it was read.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        }
    }

    async fn answer(&mut self, asked: Asked) -> Result<(), Over> {
        match asked {
            Asked::SendMessage { session_id, text, tools, memory, client_id } => {
                let tools = tools.into_iter().map(OfferedTool::into_tool).collect();
                let request = SendRequest { text, tools, memory, client_id: client_id.clone() };
                match self.run(&session_id, request).await {
                    Ok(frames) => self.tell_all(frames).await,
                    Err(refusal) => self.refuse(Some(session_id), client_id, &refusal).await,
                }
            }
            Asked::Cancel { session_id, run_id } => match self.cancel(&session_id, run_id.as_deref()).await {
                Ok(()) => Ok(()),
                Err(refusal) => self.refuse(Some(session_id), None, &refusal).await,
            },
            Asked::Subscribe { session_id } => match self.listen(&session_id).await {
                Ok((session, present)) => self.tell_present(session, present).await,
                Err(refusal) => self.refuse(Some(session_id), None, &refusal).await,
            },
            Asked::Unsubscribe { session_id } => match crate::serve::route::session_id(&session_id) {
                Ok(session) => {
                    self.listener.remove(session);
                    self.tell_all(vec![Frame::of_session(session, Told::status("unsubscribed"))]).await
                }
                Err(refusal) => self.refuse(Some(session_id), None, &refusal).await,
            },
        }
    }

    /// Has a message run, and listens to its session. What is told to its sender alone.
    async fn run(&mut self, id: &str, request: SendRequest) -> Result<Vec<Frame>, Refusal> {
        let thread = thread_id(id)?;
        let request = SendRequest { text: text_of(request.text)?, client_id: client_id(request.client_id)?, ..request };
        let client_id = request.client_id.clone();
        self.must_have_room(thread.session())?;
        // First the ears, then the mouth: nothing of the run is missed.
        let present = self.listener.add(thread.session());
        let accepted = turns::accept(&self.app, thread, request).await;
        if accepted.is_err() && present.is_some() {
            self.listener.remove(thread.session());
        }
        let mut frames: Vec<Frame> =
            present.map(|present| self.present(thread.session(), present)).into_iter().collect();
        match accepted? {
            Accepted::Run(run, ahead) => {
                frames.push(Frame::of_run(thread, &run.id, Told::Accepted { ahead, client_id }));
            }
            Accepted::Before(before) => {
                let told = std::iter::once(Told::Accepted { ahead: 0, client_id }).chain(before.told());
                frames.extend(told.map(|told| Frame::of_run(thread, &before.run_id, told)));
            }
        }
        Ok(frames)
    }

    async fn cancel(&mut self, id: &str, run_id: Option<&str>) -> Result<(), Refusal> {
        let thread = thread_id(id)?;
        if turns::cancel(&self.app, thread, run_id) {
            return Ok(());
        }
        known_session(&self.app, id).await?;
        let message = if run_id.is_some() { "no such run is running or waiting" } else { "nothing is running" };
        Err(Refusal::new(StatusCode::NOT_FOUND, Kind::UnknownReference, message))
    }

    async fn listen(&mut self, id: &str) -> Result<(SessionId, Present), Refusal> {
        let session = known_session(&self.app, id).await?;
        self.must_have_room(session)?;
        // Whoever asks again has been told already what was said.
        Ok((session, self.listener.add(session).unwrap_or_default()))
    }

    fn must_have_room(&self, session: SessionId) -> Result<(), Refusal> {
        if self.listener.sessions() < MOST_SESSIONS || self.listener.listens_to(session) {
            return Ok(());
        }
        let message = format!("one socket listens to at most {MOST_SESSIONS} sessions");
        Err(Refusal::new(StatusCode::BAD_REQUEST, Kind::BadRequest, message).hint("unsubscribe, or open another one"))
    }

    fn present(&self, session: SessionId, present: Present) -> Frame {
        let thread = session.to_string().parse().ok();
        let queued = thread.map_or(0, |thread| self.app.turns.waiting(thread));
        let said = present.said.filter(|said| !said.is_empty());
        let told = Told::Status { status: "subscribed".to_owned(), ahead: None, queued: Some(queued), said };
        Frame { run_id: present.run_id, ..Frame::of_session(session, told) }
    }

    async fn tell_present(&mut self, session: SessionId, present: Present) -> Result<(), Over> {
        let frame = self.present(session, present);
        self.tell_all(vec![frame]).await
    }

    async fn tell_all(&mut self, frames: Vec<Frame>) -> Result<(), Over> {
        for event in frames.iter().filter_map(Event::of) {
            self.send(event).await?;
        }
        Ok(())
    }

    async fn refuse(
        &mut self,
        session_id: Option<String>,
        client_id: Option<String>,
        refusal: &Refusal,
    ) -> Result<(), Over> {
        // What is no id is not repeated.
        let session = session_id.and_then(|id| id.parse::<SessionId>().ok());
        let told = Told::failed(refusal.failure(), client_id);
        let frame = session.map_or_else(|| Frame::of_nobody(told.clone()), |id| Frame::of_session(id, told.clone()));
        self.tell_all(vec![frame]).await
    }

    async fn send(&mut self, event: Event) -> Result<(), Over> {
        self.put(Message::Text((*event.data).into())).await
    }

    async fn put(&mut self, message: Message) -> Result<(), Over> {
        match timeout(LONGEST_SEND, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Over::Gone),
            Err(_) => Err(Over::Silent),
        }
    }
}

impl Over {
    fn unreadable(error: &axum::Error) -> Self {
        let is_too_long = error.to_string().contains("too long");
        Over::Unreadable(if is_too_long { close_code::SIZE } else { close_code::PROTOCOL })
    }

    const fn word(self) -> &'static str {
        match self {
            Over::Gone => "gone",
            Over::Silent => "silent",
            Over::Unreadable(_) => "unreadable",
            Over::LockedOut => "locked out",
            Over::Ending => "ending",
        }
    }
}

/// Says why it is over, and waits a moment for the other side to say that it understood.
async fn take_leave(mut socket: WebSocket, over: Over) {
    let (code, reason) = match over {
        Over::Gone => (close_code::NORMAL, ""),
        Over::Silent => (close_code::POLICY, "nothing was heard from you"),
        Over::Unreadable(code) => (code, "that cannot be read"),
        Over::LockedOut => (close_code::POLICY, "the token has changed"),
        Over::Ending => (close_code::AWAY, "the server ends"),
    };
    let farewell = async {
        if socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    let _ = timeout(FAREWELL, farewell).await;
}
