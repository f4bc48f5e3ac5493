//! Listening: on loopback, by TLS elsewhere, and on a socket for the same user; until somebody ends it.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rethread_engine::{EngineError, WatchNews, WatchRequest};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_io_timeout::TimeoutStream;
use tower::Service;

use super::app::{MOST_SOCKETS, becomes_so};
use super::guard::SameUser;
use super::keys::Keys;
use super::live::{Events, TakingIn, Turns};
use super::room::Room;
use super::tls::{self, Tls};
use super::{App, Shared, listen_for_changes, router};
use crate::cli::serve::Serve;
use crate::commands::{Context, Exit};
use crate::failure::{Failure, Kind};
use crate::json;

/// How long the first line and the headers of a request may take.
const HEADERS_ARRIVE: Duration = Duration::from_secs(10);
/// Connections at a time; more wait.
const MOST_CONNECTIONS: usize = 512;
/// Connections at a time through the socket of the same user, who is never crowded out by others.
const MOST_FROM_HERE: usize = 64;
/// How long somebody may take nothing of an answer.
const ANSWER_TAKEN: Duration = Duration::from_secs(20);
/// Threads for calls to the engine.
const MOST_CALLS: usize = 32;
/// How long turns that were stopped may take to write down what was said.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How long the other sides may take to hear that it is over.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long to wait when no connection can be taken.
const TAKE_AGAIN: Duration = Duration::from_millis(100);
/// How often is looked whether somebody ended it.
const STOP_CHECK: Duration = Duration::from_millis(100);
/// How long a database in use is waited for by whoever reads transcripts.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where to listen, and how.
struct Place {
    address: SocketAddr,
    tls: Option<Tls>,
    hosts: Vec<String>,
}

/// Serves until Ctrl-C.
pub(crate) fn run(context: &Context, request: &Serve) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let place = place(&engine, request)?;
    let mut lock = engine.only_server()?;
    allow_many_files();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signal_hook::consts::TERM_SIGNALS {
        // Whoever asks twice does not want to wait.
        signal_hook::flag::register_conditional_shutdown(*signal, 128 + *signal, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    let app = Arc::new(App {
        keys: Keys::new(&engine)?,
        hosts: place.hosts.clone(),
        is_secure: place.tls.is_some(),
        events: Events::default(),
        turns: Turns::new(engine.config()),
        taking_in: TakingIn::default(),
        room: Room::default(),
        sockets: Arc::new(Semaphore::new(MOST_SOCKETS)),
        ending: watch::Sender::new(false),
        is_talkative: context.printer.verbosity() > 0,
        told: context.printer,
        engine,
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(MOST_CALLS).build()?;
    runtime.block_on(async {
        let open = open(&app, &place).await?;
        let announced = announced(context, request, &app, &place, &open)?;
        lock.say(&serde_json::json!({"pid": std::process::id(), "url": announced.url}))?;
        tell(context, request, &announced)?;
        let reading = read_along(context, request, &app, &stop);
        serve(&app, open, place.tls, &stop).await;
        for thread in reading {
            drop(thread.join());
        }
        Ok::<(), Failure>(())
    })?;
    // Whatever still waits for a disk or a model had its time.
    runtime.shutdown_timeout(LAST_WORDS);
    let _ = std::fs::remove_file(app.engine.socket_path());
    context.printer.note_line("stopped");
    Ok(Exit::Done)
}

/// Connections, turns and those who wait for one are files. As many as the system allows may be open.
fn allow_many_files() {
    let limits = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits });
}

/// What is listened on.
struct Open {
    tcp: TcpListener,
    unix: UnixListener,
}

fn place(engine: &rethread_engine::Engine, request: &Serve) -> Result<Place, Failure> {
    let config = engine.config();
    let listen = request.listen.as_deref().unwrap_or_else(|| config.text("serve.listen"));
    let address: SocketAddr = listen.parse().map_err(|_| {
        let failure = Failure::new(Kind::Usage, format!("{listen:?} is no address to listen on"));
        failure.hint("give a number and a port: 127.0.0.1:7717 or [::1]:7717")
    })?;
    let tls = tls::wanted(config, request)?;
    if !address.ip().is_loopback() && tls.is_none() {
        let message = format!("{address} can be reached from elsewhere, and without TLS anybody there could listen in");
        let failure = Failure::new(Kind::Usage, message);
        return Err(failure.hint("listen on 127.0.0.1, or give --tls-cert and --tls-key"));
    }
    let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
    if !address.ip().is_unspecified() {
        hosts.push(host_text(address.ip()));
    }
    hosts.extend(config.list("serve.hosts"));
    Ok(Place { address, tls, hosts })
}

fn host_text(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

async fn open(app: &App, place: &Place) -> Result<Open, Failure> {
    let failed = |what: String, error: std::io::Error| {
        Failure::new(Kind::Serve, format!("{what}: {error}")).hint("name another address with --listen")
    };
    let tcp = TcpListener::bind(place.address).await;
    let tcp = tcp.map_err(|error| failed(format!("cannot listen on {}", place.address), error))?;
    let path = app.engine.socket_path();
    // Whoever left it there is gone, or we would not have the lock.
    let _ = std::fs::remove_file(&path);
    let unix = UnixListener::bind(&path).map_err(|error| {
        let failure = Failure::new(Kind::Serve, format!("cannot listen on {}: {error}", path.display()));
        failure.hint("a socket's path has about 100 characters at most: use a home with a shorter one")
    })?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(Open { tcp, unix })
}

fn announced(
    context: &Context,
    request: &Serve,
    app: &App,
    place: &Place,
    open: &Open,
) -> Result<json::Serving, Failure> {
    let address = open.tcp.local_addr()?;
    let scheme = if place.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}:{}", host_text(address.ip()), address.port());
    // A service writes to a log that others may read.
    let link =
        if request.json.json || context.printer.is_read() { Some(app.keys.new_link(&app.engine)?) } else { None };
    let link = link.map(|code| format!("{url}/login?code={code}"));
    Ok(json::Serving::new(url, link, app.engine.socket_path().display().to_string(), std::process::id()))
}

fn tell(context: &Context, request: &Serve, announced: &json::Serving) -> Result<(), Failure> {
    if request.json.json {
        context.printer.json(announced)?;
        return Ok(());
    }
    let mut page = context.printer.page();
    crate::render::serving(&mut page, announced);
    context.printer.answer(&page)?;
    context.printer.note_line("Ctrl-C ends it; whatever was begun is finished first");
    Ok(())
}

/// Reads transcripts as they grow, and hears what others store.
fn read_along(
    context: &Context,
    request: &Serve,
    app: &Shared,
    stop: &Arc<AtomicBool>,
) -> Vec<std::thread::JoinHandle<()>> {
    let (listening, ended) = (Arc::clone(app), Arc::clone(stop));
    let mut threads = vec![std::thread::spawn(move || listen_for_changes(&listening, &ended))];
    if !request.no_watch {
        let (context, ended) = (context.clone(), Arc::clone(stop));
        threads.push(std::thread::spawn(move || keep_reading(&context, &ended)));
    }
    threads
}

fn keep_reading(context: &Context, stop: &AtomicBool) {
    let engine = match rethread_engine::Engine::open(context.environment.clone()) {
        Ok(engine) => engine.waiting_at_most(PATIENCE),
        Err(error) => return context.printer.warn(&format!("transcripts are not read: {error}")),
    };
    let done = engine.watch(WatchRequest::default(), stop, &mut |news| match news {
        WatchNews::Read(_) => {}
        WatchNews::Failed(error, wait) => {
            context.printer.warn(&format!("reading failed: {error}; tried again in {} s", wait.as_secs()));
        }
        WatchNews::Polling(folder, why) => {
            context.printer.warn(&format!("{} is looked through every few seconds: {why}", folder.display()));
        }
    });
    match done {
        Ok(()) => {}
        Err(EngineError::AlreadyWatched(_)) => context.printer.note_line("another rethread reads transcripts already"),
        Err(error) => context.printer.warn(&format!("transcripts are not read: {error}")),
    }
}

/// Takes connections until somebody ends the server, then finishes what was begun.
async fn serve(app: &Shared, open: Open, tls: Option<Tls>, stop: &Arc<AtomicBool>) {
    let places = Places::default();
    tokio::spawn(end_when_told(Arc::clone(app), Arc::clone(stop)));
    take_connections(app, &open, tls.as_ref(), &places).await;
    drop(open);
    app.turns.close();
    let grace = Duration::from_secs(app.engine.config().number("serve.grace_seconds"));
    let until = Instant::now() + grace;
    if timeout_at(until, app.turns.finished()).await.is_err() {
        app.turns.stop_all();
        let _ = timeout(LAST_WORDS, app.turns.finished()).await;
    }
    app.turns.tell_done();
    // All places are free again when the last connection is done.
    let until = until.max(Instant::now() + FAREWELL);
    let _ = timeout_at(until, places.network.acquire_many(MOST_CONNECTIONS as u32)).await;
    let _ = timeout_at(until, places.here.acquire_many(MOST_FROM_HERE as u32)).await;
    let _ = timeout(FAREWELL, app.sockets.acquire_many(MOST_SOCKETS as u32)).await;
}

/// A signal sets a flag; whoever waits wants to be woken.
async fn end_when_told(app: Shared, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        sleep(STOP_CHECK).await;
    }
    app.ending.send_replace(true);
}

/// Room for connections.
struct Places {
    network: Arc<Semaphore>,
    here: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let room = |most| Arc::new(Semaphore::new(most));
        Self { network: room(MOST_CONNECTIONS), here: room(MOST_FROM_HERE) }
    }
}

async fn take_connections(app: &Shared, open: &Open, tls: Option<&Tls>, places: &Places) {
    let router = router(app);
    let ours = router.clone().layer(axum::Extension(SameUser));
    let own = rustix::process::geteuid().as_raw();
    let greet_stranger = |stream: TcpStream, place| {
        let _ = stream.set_nodelay(true);
        tokio::spawn(greet(stream, tls.cloned(), router.clone(), app.ending.subscribe(), place));
    };
    let greet_user = |stream: UnixStream, place| {
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0) {
            tokio::spawn(answer(stream, ours.clone(), app.ending.subscribe(), place));
        }
    };
    tokio::join!(
        take(app, &places.network, async || open.tcp.accept().await.map(|(stream, _)| stream), greet_stranger),
        take(app, &places.here, async || open.unix.accept().await.map(|(stream, _)| stream), greet_user),
    );
}

/// Takes one connection after another, as long as there is room, until the server is to end.
async fn take<S>(
    app: &App,
    places: &Arc<Semaphore>,
    accept: impl AsyncFn() -> std::io::Result<S>,
    greet: impl Fn(S, OwnedSemaphorePermit),
) {
    let mut ending = app.ending.subscribe();
    loop {
        // Also when all places are taken the server can be ended.
        let place = tokio::select! {
            Ok(place) = Arc::clone(places).acquire_owned() => place,
            () = becomes_so(&mut ending) => return,
        };
        let came = tokio::select! {
            came = accept() => came,
            () = becomes_so(&mut ending) => return,
        };
        match came {
            Ok(stream) => greet(stream, place),
            // Too many files are open, perhaps: those who are here leave first.
            Err(_) => sleep(TAKE_AGAIN).await,
        }
    }
}

/// Answers a connection from the network, by TLS if that is wanted.
async fn greet(
    stream: TcpStream,
    tls: Option<Tls>,
    router: Router,
    ending: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) {
    let Some(tls) = tls else { return answer(stream, router, ending, place).await };
    // A handshake may take no longer than the headers after it.
    if let Ok(Ok(stream)) = tokio::time::timeout(HEADERS_ARRIVE, tls.accept(stream)).await {
        answer(stream, router, ending, place).await;
    }
}

/// Answers request after request, until the other side has none or the server ends. The one that was begun is finished.
async fn answer<S>(stream: S, router: Router, mut ending: watch::Receiver<bool>, place: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_ARRIVE);
    let service = TowerToHyperService::new(Answers(router));
    // Who never reads what is said must not keep a place for ever.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(ANSWER_TAKEN));
    let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        () = becomes_so(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(place);
}

/// The router, for bodies as they come from the network.
#[derive(Clone)]
struct Answers(Router);

impl Service<Request<Incoming>> for Answers {
    type Response = axum::response::Response;
    type Error = Infallible;
    type Future = axum::routing::future::RouteFuture<Infallible>;

    fn poll_ready(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        <Router as Service<Request<Body>>>::poll_ready(&mut self.0, context)
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        self.0.call(request.map(Body::new))
    }
}
