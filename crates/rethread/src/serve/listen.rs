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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::Service;

use super::guard::SameUser;
use super::keys::Keys;
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
/// Threads for calls to the engine.
const MOST_CALLS: usize = 32;
/// How long whatever was begun may take after somebody ended the server.
const GRACE: Duration = Duration::from_secs(30);
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
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signal_hook::consts::TERM_SIGNALS {
        // Whoever asks twice does not want to wait.
        signal_hook::flag::register_conditional_shutdown(*signal, 128 + *signal, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    let app = Arc::new(App {
        keys: Keys::new(&engine)?,
        engine,
        hosts: place.hosts.clone(),
        is_secure: place.tls.is_some(),
        events: super::app::Events::default(),
        ending: watch::Sender::new(false),
        is_talkative: context.printer.verbosity() > 0,
        told: context.printer,
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(MOST_CALLS).build()?;
    runtime.block_on(async {
        let open = open(&app, &place).await?;
        let announced = announced(context, request, &app, &place, &open)?;
        lock.say(&serde_json::json!({"pid": std::process::id(), "url": announced.url}))?;
        tell(context, request, &announced)?;
        let reading = read_along(context, request, &app, &stop);
        serve(&app, open, place.tls, &stop).await;
        reading.into_iter().for_each(|thread| drop(thread.join()));
        Ok::<(), Failure>(())
    })?;
    let _ = std::fs::remove_file(app.engine.socket_path());
    context.printer.note_line("stopped");
    Ok(Exit::Done)
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
    let unix =
        UnixListener::bind(&path).map_err(|error| failed(format!("cannot listen on {}", path.display()), error))?;
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
    let link = if request.json.json || context.printer.is_read() { Some(app.keys.new_link()?) } else { None };
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

async fn serve(app: &Shared, open: Open, tls: Option<Tls>, stop: &AtomicBool) {
    let router = router(app);
    let ours = router.clone().layer(axum::Extension(SameUser));
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while !stop.load(Ordering::Relaxed) {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let ending = app.ending.subscribe();
        tokio::select! {
            Ok((stream, _)) = open.tcp.accept() => {
                let _ = stream.set_nodelay(true);
                tokio::spawn(greet(stream, tls.clone(), router.clone(), ending, place));
            }
            Ok((stream, _)) = open.unix.accept() => {
                let own = rustix::process::geteuid().as_raw();
                if stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0) {
                    tokio::spawn(answer(stream, ours.clone(), ending, place));
                }
            }
            () = tokio::time::sleep(STOP_CHECK) => {}
        }
    }
    drop(open);
    app.ending.send_replace(true);
    // All places are free again when the last connection is done.
    let _ = tokio::time::timeout(GRACE, places.acquire_many(MOST_CONNECTIONS as u32)).await;
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
    let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        () = ended(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(place);
}

/// Waits until the server is to end.
async fn ended(ending: &mut watch::Receiver<bool>) {
    let _ = ending.wait_for(|is_ending| *is_ending).await;
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
