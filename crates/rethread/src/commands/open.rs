//! `open`: gets a one-time link from the running server, over its user-only socket, and opens it in a browser.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rethread_engine::Engine;
use serde_json::Value;

use super::{CommandContext, Exit};
use crate::cli::serve::OpenArgs;
use crate::failure::{Failure, FailureKind};
use crate::json;

/// The server is on this machine, so a longer wait would not help.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// A server starts in less than a second, unless the machine is very busy.
const START_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The system's program that opens a URL or file in the default browser.
const BROWSER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
const LINK_REQUEST: &[u8] = b"POST /api/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
    Content-Length: 2\r\nConnection: close\r\n\r\n{}";

pub(crate) fn run(context: &CommandContext, args: &OpenArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let url = match running_url(&engine) {
        Some(url) => url,
        None => start_server(context, &engine)?,
    };
    // On a server of a team, members sign in with their tokens.
    let is_shared = context.environment.store.is_some();
    let link = if is_shared { format!("{url}/login") } else { format!("{url}/login?code={}", new_code(&engine)?) };
    if args.json.json {
        context.printer.json(&json::LoginLinkJson::new(&link))?;
    } else if args.print || !start_browser(&engine, &link) {
        context.printer.raw(format!("{link}\n").as_bytes())?;
        if !is_shared {
            context.printer.note_line("The link works once, within ten minutes.");
        }
    } else {
        context.printer.note_line(&format!("opened {url}"));
    }
    Ok(Exit::Done)
}

fn running_url(engine: &Engine) -> Option<String> {
    engine.server().running_info()?.get("url")?.as_str().map(str::to_owned)
}

/// Starts the server and waits until it answers.
fn start_server(context: &CommandContext, engine: &Engine) -> Result<String, Failure> {
    let hint = "start one with `rethread serve`, which says what is wrong";
    if context.environment.store.is_some() {
        return Err(Failure::new(FailureKind::Serve, "no server is running").hint(hint));
    }
    let Some(mut server) = engine.server().start_in_background() else {
        return Err(Failure::new(FailureKind::Serve, "the server cannot be started").hint(hint));
    };
    let deadline = Instant::now() + START_TIMEOUT;
    while Instant::now() < deadline && matches!(server.try_wait(), Ok(None)) {
        std::thread::sleep(POLL_INTERVAL);
        if let Some(url) = running_url(engine).filter(|_| UnixStream::connect(engine.server().socket_path()).is_ok()) {
            context
                .printer
                .note_line("Started the server in the background. To start it at each login: rethread install service");
            return Ok(url);
        }
    }
    Err(Failure::new(FailureKind::Serve, "the server did not start").hint(hint))
}

fn new_code(engine: &Engine) -> Result<String, Failure> {
    let failed = |reason: String| {
        let failure = Failure::new(FailureKind::Serve, format!("the server does not respond: {reason}"));
        failure.hint("check its output, or restart it")
    };
    let send = || -> std::io::Result<String> {
        let mut server = UnixStream::connect(engine.server().socket_path())?;
        server.set_read_timeout(Some(READ_TIMEOUT))?;
        server.write_all(LINK_REQUEST)?;
        let mut answer = String::new();
        server.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = send().map_err(|error| failed(error.to_string()))?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let reply: Value = serde_json::from_str(body).map_err(|error| failed(error.to_string()))?;
    let code = reply.get("code").and_then(Value::as_str).map(str::to_owned);
    code.ok_or_else(|| failed(answer.lines().next().unwrap_or_default().to_owned()))
}

/// Returns whether a browser was started. Other users can see the arguments of a process, so the link is passed in a file
/// that only its owner can read.
fn start_browser(engine: &Engine, link: &str) -> bool {
    let Ok(path) = engine.server().write_login_page(link) else { return false };
    let mut command = Command::new(BROWSER);
    command.arg::<&PathBuf>(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
