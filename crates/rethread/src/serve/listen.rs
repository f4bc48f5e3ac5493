//! Accepts connections until a signal: TCP on loopback, TLS elsewhere, and a Unix socket for the same user.

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
use rethread_engine::{EngineError, WatchEvent, WatchRequest};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_io_timeout::TimeoutStream;
use tower::Service;

use super::guard::SameUser;
use super::node::{ServerNode, router};
use super::state::{MAX_WEBSOCKETS, wait_until_true};
use super::tls::{self, Tls};
use super::{ServerContext, ServerState, maintenance};
use crate::cli::serve::ServeArgs;
use crate::commands::{CommandContext, Exit};
use crate::failure::{Failure, FailureKind};
use crate::json;

/// Time limit for the request line and the headers.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Most open TCP connections; further ones wait.
const MAX_TCP_CONNECTIONS: usize = 512;
/// Most open connections on the Unix socket. They are counted separately, so that network clients cannot block the
/// user.
const MAX_UNIX_CONNECTIONS: usize = 64;
/// Write timeout: a client that reads nothing for this long is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// Blocking threads for engine calls.
const MAX_BLOCKING_THREADS: usize = 32;
/// How long stopped turns may take to write their last records.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// How long clients may take to receive the last events.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// Pause after a failed `accept`.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// How often the stop flag is checked.
const STOP_POLL: Duration = Duration::from_millis(100);
/// How long the transcript watcher waits for a locked database.
const STORE_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

struct ListenConfig {
    address: SocketAddr,
    tls: Option<Tls>,
    hosts: Vec<String>,
}

/// Serves until Ctrl-C.
pub(crate) fn run(context: &CommandContext, request: &ServeArgs) -> Result<Exit, Failure> {
    if request.migrate {
        migrate(context)?;
    }
    let context = &for_serving(context);
    let engine = context.engine()?;
    let config = listen_config(&engine, request)?;
    engine.server().check_store()?;
    let mut lock = engine.server().lock()?;
    raise_file_limit();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signal_hook::consts::TERM_SIGNALS {
        // A second signal exits immediately.
        signal_hook::flag::register_conditional_shutdown(*signal, 128 + *signal, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    engine.location().start_listening();
    let server = ServerContext::new(&engine, context.printer, config.hosts.clone(), config.tls.is_some())?;
    let node = Arc::new(ServerNode::new(Arc::new(server), engine));
    let app = Arc::clone(node.spaces.own());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(MAX_BLOCKING_THREADS).build()?;
    runtime.block_on(async {
        let open = bind(&app, &config).await?;
        let announced = announcement(context, request, &app, &config, &open)?;
        lock.publish_info(&serde_json::json!({"pid": std::process::id(), "url": announced.url}))?;
        announce(context, request, &announced)?;
        let reading = start_background_threads(context, request, &node, &stop);
        serve(&node, open, config.tls, &stop).await;
        for thread in reading {
            drop(thread.join());
        }
        Ok::<(), Failure>(())
    })?;
    // Calls that still wait for a disk or a model are abandoned now.
    runtime.shutdown_timeout(STOP_TIMEOUT);
    node.store_audit();
    let _ = std::fs::remove_file(app.engine.server().socket_path());
    context.printer.note_line("stopped");
    Ok(Exit::Done)
}

/// A node in front of a shared store reads no transcripts of its own machine: they are not the members'.
fn for_serving(context: &CommandContext) -> CommandContext {
    let mut context = context.clone();
    context.environment.reads_only_threads = context.environment.store.is_some();
    context
}

/// Creates or updates the schema of the store. Only on request: nodes of the version before cannot use the new one.
fn migrate(context: &CommandContext) -> Result<(), Failure> {
    let Some(shared) = &context.environment.store else {
        let failure = Failure::new(FailureKind::Usage, "--migrate needs --store: the local store migrates by itself");
        return Err(failure.hint("run `rethread serve --store postgres://USER@HOST/DATABASE --migrate`"));
    };
    if let Some((before, now)) = shared.location.migrate().map_err(rethread_engine::EngineError::from)?
        && before != now
    {
        context.printer.note_line(&format!("migrated the store from schema {before} to {now}"));
    }
    Ok(())
}

/// Raises the limit for open files to the maximum: each connection and each waiting turn holds a file.
fn raise_file_limit() {
    let limits = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits });
}

struct Listeners {
    tcp: TcpListener,
    unix: UnixListener,
}

fn listen_config(engine: &rethread_engine::Engine, request: &ServeArgs) -> Result<ListenConfig, Failure> {
    let settings = &engine.settings().serve;
    let listen = request.listen.as_ref().unwrap_or(&settings.listen);
    let address: SocketAddr = listen.parse().map_err(|_| {
        let failure = Failure::new(FailureKind::Usage, format!("invalid listen address {listen:?}"));
        failure.hint("use an IP address and a port, such as 127.0.0.1:7717 or [::1]:7717")
    })?;
    let tls = tls::from_settings(settings, request)?;
    if !address.ip().is_loopback() && tls.is_none() {
        let message = format!("{address} is reachable from other machines and needs TLS");
        let failure = Failure::new(FailureKind::Usage, message);
        return Err(failure.hint("listen on 127.0.0.1, or pass --tls-cert and --tls-key"));
    }
    let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
    if !address.ip().is_unspecified() {
        hosts.push(host_name(address.ip()));
    }
    Ok(ListenConfig { address, tls, hosts })
}

fn host_name(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

async fn bind(app: &ServerState, config: &ListenConfig) -> Result<Listeners, Failure> {
    let failed = |what: String, error: std::io::Error| {
        Failure::new(FailureKind::Serve, format!("{what}: {error}")).hint("choose another address with --listen")
    };
    let tcp = TcpListener::bind(config.address).await;
    let tcp = tcp.map_err(|error| failed(format!("cannot listen on {}", config.address), error))?;
    let path = app.engine.server().socket_path();
    // We hold the server lock, so the process that left this socket is gone.
    let _ = std::fs::remove_file(&path);
    let unix = UnixListener::bind(&path).map_err(|error| {
        let failure = Failure::new(FailureKind::Serve, format!("cannot listen on {}: {error}", path.display()));
        failure.hint("a socket path may have about 100 characters: use a home directory with a shorter path")
    })?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(Listeners { tcp, unix })
}

fn announcement(
    context: &CommandContext,
    request: &ServeArgs,
    app: &ServerState,
    config: &ListenConfig,
    open: &Listeners,
) -> Result<json::ServerAddressJson, Failure> {
    let address = open.tcp.local_addr()?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}:{}", host_name(address.ip()), address.port());
    // Output that is not a terminal may be a log that others can read: no link there.
    let link = if request.json.json || context.printer.is_read() {
        Some(app.server.credentials.new_link(&app.engine)?)
    } else {
        None
    };
    let link = link.map(|code| format!("{url}/login?code={code}"));
    Ok(json::ServerAddressJson::new(
        url,
        link,
        app.engine.server().socket_path().display().to_string(),
        std::process::id(),
    ))
}

fn announce(context: &CommandContext, request: &ServeArgs, announced: &json::ServerAddressJson) -> Result<(), Failure> {
    if request.json.json {
        context.printer.json(announced)?;
        return Ok(());
    }
    let mut page = context.printer.page();
    crate::render::server_address(&mut page, announced);
    context.printer.answer(&page)?;
    context.printer.note_line("press Ctrl-C to stop; running work is finished first");
    Ok(())
}

/// Starts the threads that watch transcripts and do the work beside requests.
fn start_background_threads(
    context: &CommandContext,
    request: &ServeArgs,
    node: &Arc<ServerNode>,
    stop: &Arc<AtomicBool>,
) -> Vec<std::thread::JoinHandle<()>> {
    let (working, ended) = (Arc::clone(node), Arc::clone(stop));
    let mut threads = vec![std::thread::spawn(move || maintenance::run(&working, &ended))];
    if !request.no_watch && !node.context.is_shared {
        let (context, ended) = (context.clone(), Arc::clone(stop));
        threads.push(std::thread::spawn(move || watch_transcripts(&context, &ended)));
    }
    threads
}

fn watch_transcripts(context: &CommandContext, stop: &AtomicBool) {
    let engine = match rethread_engine::Engine::open(context.environment.clone()) {
        Ok(engine) => engine.with_store_timeout(STORE_LOCK_TIMEOUT),
        Err(error) => return context.printer.warn(&format!("cannot sync transcripts: {error}")),
    };
    let done = engine.sync().watch(WatchRequest::default(), stop, &mut |event| match event {
        // The server itself reports invalid settings.
        WatchEvent::Synced(_) | WatchEvent::InvalidSettings(_) => {}
        WatchEvent::Failed(error, wait) => {
            context.printer.warn(&format!("sync failed: {error}; retrying in {} s", wait.as_secs()));
        }
        WatchEvent::Polling(folder, why) => {
            context.printer.warn(&format!("polling {} every few seconds: {why}", folder.display()));
        }
    });
    match done {
        Ok(()) => {}
        Err(EngineError::WatchAlreadyRunning(_)) => {
            context.printer.note_line("another rethread process syncs transcripts");
        }
        Err(error) => context.printer.warn(&format!("cannot sync transcripts: {error}")),
    }
}

/// Accepts connections until shutdown, then waits for running work.
async fn serve(node: &Arc<ServerNode>, open: Listeners, tls: Option<Tls>, stop: &Arc<AtomicBool>) {
    let places = ConnectionLimits::default();
    tokio::spawn(forward_stop_flag(Arc::clone(&node.context), Arc::clone(stop)));
    accept_connections(node, &open, tls.as_ref(), &places).await;
    drop(open);
    let spaces = node.spaces.all();
    for space in &spaces {
        space.app.turns.close();
    }
    let grace = Duration::from_secs(node.spaces.own().engine.settings().serve.grace_seconds);
    let until = Instant::now() + grace;
    for space in &spaces {
        if timeout_at(until, space.app.turns.wait_until_idle()).await.is_err() {
            space.app.turns.stop_all();
        }
    }
    let stopped = Instant::now() + STOP_TIMEOUT;
    for space in &spaces {
        let _ = timeout_at(stopped, space.app.turns.wait_until_idle()).await;
        space.app.turns.signal_done();
    }
    // All permits are free again once the last connection is closed.
    let until = until.max(Instant::now() + CLOSE_TIMEOUT);
    let _ = timeout_at(until, places.tcp.acquire_many(MAX_TCP_CONNECTIONS as u32)).await;
    let _ = timeout_at(until, places.unix.acquire_many(MAX_UNIX_CONNECTIONS as u32)).await;
    let _ = timeout(CLOSE_TIMEOUT, node.context.socket_permits.acquire_many(MAX_WEBSOCKETS as u32)).await;
}

/// Signal handlers can only set a flag. This task forwards it to everything that awaits shutdown.
async fn forward_stop_flag(server: Arc<ServerContext>, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        sleep(STOP_POLL).await;
    }
    server.shutdown.send_replace(true);
}

/// One permit for each connection, network and Unix socket counted separately.
struct ConnectionLimits {
    tcp: Arc<Semaphore>,
    unix: Arc<Semaphore>,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let permits = |limit| Arc::new(Semaphore::new(limit));
        Self { tcp: permits(MAX_TCP_CONNECTIONS), unix: permits(MAX_UNIX_CONNECTIONS) }
    }
}

async fn accept_connections(node: &Arc<ServerNode>, open: &Listeners, tls: Option<&Tls>, places: &ConnectionLimits) {
    let router = router(node);
    let ours = router.clone().layer(axum::Extension(SameUser));
    let own = rustix::process::geteuid().as_raw();
    let server = &node.context;
    let serve_remote = |stream: TcpStream, permit| {
        let _ = stream.set_nodelay(true);
        tokio::spawn(serve_tcp(stream, tls.cloned(), router.clone(), server.shutdown.subscribe(), permit));
    };
    let serve_local = |stream: UnixStream, permit| {
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0) {
            tokio::spawn(serve_connection(stream, ours.clone(), server.shutdown.subscribe(), permit));
        }
    };
    tokio::join!(
        accept_loop(server, &places.tcp, async || open.tcp.accept().await.map(|(stream, _)| stream), serve_remote),
        accept_loop(server, &places.unix, async || open.unix.accept().await.map(|(stream, _)| stream), serve_local),
    );
}

/// Accepts connections, at most as many as there are permits, until shutdown.
async fn accept_loop<S>(
    server: &ServerContext,
    permits: &Arc<Semaphore>,
    accept: impl AsyncFn() -> std::io::Result<S>,
    handle: impl Fn(S, OwnedSemaphorePermit),
) {
    let mut ending = server.shutdown.subscribe();
    loop {
        // Shutdown must also work while all permits are taken.
        let permit = tokio::select! {
            Ok(permit) = Arc::clone(permits).acquire_owned() => permit,
            () = wait_until_true(&mut ending) => return,
        };
        let accepted = tokio::select! {
            accepted = accept() => accepted,
            () = wait_until_true(&mut ending) => return,
        };
        match accepted {
            Ok(stream) => handle(stream, permit),
            // Probably too many open files: wait for other connections to close.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

/// Serves a TCP connection, with TLS if configured.
async fn serve_tcp(
    stream: TcpStream,
    tls: Option<Tls>,
    router: Router,
    ending: watch::Receiver<bool>,
    permit: OwnedSemaphorePermit,
) {
    let Some(tls) = tls else { return serve_connection(stream, router, ending, permit).await };
    // The handshake has the same time limit as the headers.
    if let Ok(Ok(stream)) = tokio::time::timeout(HEADER_TIMEOUT, tls.accept(stream)).await {
        serve_connection(stream, router, ending, permit).await;
    }
}

/// Serves requests until the client closes or the server shuts down. A started request is finished.
async fn serve_connection<S>(stream: S, router: Router, mut ending: watch::Receiver<bool>, permit: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let service = TowerToHyperService::new(RouterService(router));
    // A client that never reads must not hold a permit forever.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        () = wait_until_true(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(permit);
}

/// Adapts the router to hyper's body type.
#[derive(Clone)]
struct RouterService(Router);

impl Service<Request<Incoming>> for RouterService {
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
