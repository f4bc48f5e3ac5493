//! `open`: a link into the page of the server that runs, asked for through the socket only its user can use.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rethread_engine::Engine;
use serde_json::Value;

use super::{Context, Exit};
use crate::cli::serve::Open;
use crate::failure::{Failure, Kind};
use crate::json;

/// The server is on this machine: if it has not answered by then it never will.
const PATIENCE: Duration = Duration::from_secs(5);
/// What opens a page, by its name on the system.
const BROWSER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// The request for a link.
const ASK: &[u8] = b"POST /api/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
    Content-Length: 2\r\nConnection: close\r\n\r\n{}";

/// Opens the page, or prints a link to it.
pub(crate) fn run(context: &Context, request: &Open) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let says = engine.server_says();
    let url = says.as_ref().and_then(|says| says.get("url")?.as_str());
    let url = url.ok_or_else(|| Failure::new(Kind::Serve, "no server is running").hint("start one: rethread serve"))?;
    let link = format!("{url}/login?code={}", new_code(&engine)?);
    if request.json.json {
        context.printer.json(&json::Link::new(&link))?;
    } else if request.print || !start_browser(&engine, &link) {
        context.printer.raw(format!("{link}\n").as_bytes())?;
        context.printer.note_line("It works once, for ten minutes.");
    } else {
        context.printer.note_line(&format!("opened {url}"));
    }
    Ok(Exit::Done)
}

fn new_code(engine: &Engine) -> Result<String, Failure> {
    let failed = |why: String| {
        let failure = Failure::new(Kind::Serve, format!("the server does not answer: {why}"));
        failure.hint("look at where it was started, or start it again")
    };
    let ask = || -> std::io::Result<String> {
        let mut server = UnixStream::connect(engine.socket_path())?;
        server.set_read_timeout(Some(PATIENCE))?;
        server.write_all(ASK)?;
        let mut answer = String::new();
        server.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| failed(error.to_string()))?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let told: Value = serde_json::from_str(body).map_err(|error| failed(error.to_string()))?;
    let code = told.get("code").and_then(Value::as_str).map(str::to_owned);
    code.ok_or_else(|| failed(answer.lines().next().unwrap_or_default().to_owned()))
}

/// Has a browser follow the link; whether that could be begun. Other users see what a program is started with, so it gets
/// a file that only its owner can read.
fn start_browser(engine: &Engine, link: &str) -> bool {
    let Ok(path) = engine.keep_link(link) else { return false };
    let mut command = Command::new(BROWSER);
    command.arg::<&PathBuf>(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
