//! Counts the lines of all `*.jsonl` files in a folder. The baseline for measuring a sync.
//!
//! Two threads, plain reads into a buffer, `memchr`; no parsing.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const THREADS: usize = 2;
const BUFFER: usize = 1 << 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        let _ = writeln!(io::stderr(), "error: expected one folder\nhint: usage: line-scan DIR");
        return ExitCode::from(2);
    };
    match scan(Path::new(&folder)).and_then(|report| writeln!(io::stdout(), "{report}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let folder = Path::new(&folder).display();
            let _ = writeln!(io::stderr(), "error: cannot read all of {folder}\ncause: {error}");
            ExitCode::from(3)
        }
    }
}

fn scan(folder: &Path) -> io::Result<serde_json::Value> {
    let start = Instant::now();
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let (bytes, lines) = count_all(&files)?;
    Ok(serde_json::json!({
        "files": files.len(),
        "bytes": bytes,
        "lines": lines,
        "seconds": start.elapsed().as_secs_f64(),
    }))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else if entry.path().extension().is_some_and(|ending| ending == "jsonl") {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Total bytes and lines of all files.
fn count_all(files: &[PathBuf]) -> io::Result<(usize, usize)> {
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<(usize, usize)> {
        let mut buffer = vec![0; BUFFER];
        let mut total = (0, 0);
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (bytes, lines) = count(file, &mut buffer)?;
            total = (total.0 + bytes, total.1 + lines);
        }
        Ok(total)
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let mut total = (0, 0);
        for thread in running {
            let (bytes, lines) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            total = (total.0 + bytes, total.1 + lines);
        }
        Ok(total)
    })
}

/// Bytes and newlines of one file.
fn count(path: &Path, buffer: &mut [u8]) -> io::Result<(usize, usize)> {
    let mut file = File::open(path)?;
    let (mut bytes, mut lines) = (0, 0);
    loop {
        let read = file.read(buffer)?;
        if read == 0 {
            return Ok((bytes, lines));
        }
        bytes += read;
        lines += memchr::memchr_iter(b'\n', &buffer[..read]).count();
    }
}
