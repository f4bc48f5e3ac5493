//! Threads with the real binary: killed writers, full and read-only disks, invalid ids.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use rethread_testing::TestHome;
use serde_json::Value;

const KILLS: u64 = 200;
const AT_ONCE: usize = 4;
/// Exit code of our scripts when this machine does not allow what they need.
const NOT_ALLOWED: i32 = 77;
/// Exit code of `unshare` when it may not create a namespace.
const NO_NAME_SPACE: i32 = 1;

/// A home with a store of its own and one thread in it.
struct ThreadHome {
    home: TestHome,
    thread: String,
}

impl ThreadHome {
    fn new() -> Self {
        let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
        let mut home = Self { home, thread: String::new() };
        let made = home.command(&["thread", "new"]).output().unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        text(&made.stdout).trim_end().clone_into(&mut home.thread);
        home
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.home.binary());
        command.args(arguments);
        self.isolate(&mut command);
        command
    }

    /// A shell with the binary in `$RETHREAD`, the thread in `$THREAD` and our folder in `$RETHREAD_HOME`.
    fn shell(&self, wrapper: &[&str], script: &str) -> Command {
        let arguments: Vec<&str> = wrapper.iter().copied().chain(["sh", "-c", script]).collect();
        let mut command = Command::new(arguments[0]);
        command.args(&arguments[1..]);
        self.isolate(&mut command);
        command.env("RETHREAD", self.home.binary()).env("THREAD", &self.thread);
        command
    }

    /// Runs such a shell to its end; none if this machine does not allow it.
    fn try_shell(&self, wrapper: &[&str], script: &str) -> Option<Output> {
        let done = self.shell(wrapper, script).output().ok()?;
        (!matches!(done.status.code(), Some(NOT_ALLOWED | NO_NAME_SPACE))).then_some(done)
    }

    fn isolate(&self, command: &mut Command) {
        self.home.isolate(command);
        command.env("RETHREAD_HOME", self.store());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
    }

    fn store(&self) -> PathBuf {
        self.home.path("store")
    }

    fn log_path(&self) -> PathBuf {
        self.store().join("threads").join(&self.thread).join("session.jsonl")
    }

    fn log(&self) -> Vec<u8> {
        fs::read(self.log_path()).unwrap()
    }

    /// Appends messages with one undisturbed process; their numbers.
    fn append(&self, texts: &[&str]) -> Vec<u64> {
        let command = self.command(&["thread", "append", &self.thread, "--jsonl"]);
        let done = feed(command, &texts.iter().map(|message| line(message)).collect::<String>());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        numbers(&done)
    }
}

/// A process that appends. It is killed when dropped, so that the thread that feeds it ends too.
struct Appending(Child);

impl Appending {
    fn start(home: &ThreadHome) -> (Self, ChildStdin, BufReader<ChildStdout>) {
        let mut command = home.command(&["thread", "append", &home.thread, "--jsonl"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (Self(child), input, BufReader::new(output))
    }

    fn kill(&mut self) {
        // An error means that it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Appending {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn two_hundred_kills_lose_no_acknowledged_record() {
    let home = ThreadHome::new();
    let (kills, acknowledged, copies) = (AtomicU64::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = kills.fetch_add(1, Ordering::SeqCst);
                    if number >= KILLS {
                        return;
                    }
                    let acks = append_until_killed(&home, number);
                    acknowledged.lock().unwrap().extend(acks);
                    if number % 8 == 7 {
                        copies.lock().unwrap().push(home.log());
                    }
                }
            });
        }
    });
    let (acknowledged, copies) = (acknowledged.into_inner().unwrap(), copies.into_inner().unwrap());
    assert!(acknowledged.len() as u64 > KILLS, "only {} were acknowledged", acknowledged.len());

    // Half a line, as after a power cut. A kill never leaves one.
    let whole = home.log();
    let mut file = fs::OpenOptions::new().append(true).open(home.log_path()).unwrap();
    file.write_all(br#"{"recordType":"message","schemaVer"#).unwrap();
    let before = gapless(&whole).len() as u64;
    assert_eq!(home.append(&["one more"]), [before + 1]);

    let log = home.log();
    let records = gapless(&log);
    assert_eq!(records[&(before + 1)], "one more");
    for (seq, message) in &acknowledged {
        assert_eq!(records.get(seq), Some(message), "{seq} was acknowledged");
    }
    let texts: HashSet<&String> = records.values().collect();
    assert_eq!(texts.len(), records.len(), "something is in the log twice");
    for (at, copy) in copies.iter().chain([&whole]).enumerate() {
        assert!(log.starts_with(copy), "copy {at} is not how the log begins");
    }
}

/// Feeds a process endlessly and kills it at a time derived from the number; returns what it acknowledged.
fn append_until_killed(home: &ThreadHome, number: u64) -> Vec<(u64, String)> {
    let chance = scrambled(number);
    // Some are killed before the first acknowledgement, some in the middle of a write.
    let (enough, pause) = (chance % 12, Duration::from_micros(chance / 12 % 2500));
    let (process, mut input, mut output) = Appending::start(home);
    let message = |count: u64| format!("p{number}-{count}");
    let mut acks = Vec::new();
    scope(|scope| {
        let mut process = Some(process);
        scope.spawn(move || {
            let mut count = 1;
            while input.write_all(line(&message(count)).as_bytes()).is_ok() {
                count += 1;
            }
        });
        let mut answer = String::new();
        loop {
            if acks.len() as u64 >= enough
                && let Some(mut process) = process.take()
            {
                sleep(pause);
                process.kill();
            }
            answer.clear();
            // After the kill the pipe still contains earlier acknowledgements.
            if output.read_line(&mut answer).unwrap() == 0 {
                break;
            }
            if let Some(seq) = answer.strip_suffix('\n') {
                acks.push((seq.parse().unwrap(), message(acks.len() as u64 + 1)));
            }
        }
        assert!(process.is_none(), "process {number} ended by itself");
    });
    acks
}

#[test]
fn file_size_limit_stops_acknowledgements_until_it_is_lifted() {
    let home = ThreadHome::new();
    assert_eq!(home.append(&["first", "second"]), [1, 2]);

    let limited = r#"trap "" XFSZ; ulimit -f 8; exec "$RETHREAD" thread append "$THREAD" "$@""#;
    let mut one = home.shell(&[], limited);
    one.args(["sh", "--role", "user"]);
    refused(&feed(one, &"long ".repeat(5000)));
    assert_eq!(home.append(&["third"]), [3], "what was refused has no number");

    let home = ThreadHome::new();
    let mut many = home.shell(&[], limited);
    many.args(["sh", "--jsonl"]);
    let done = feed(many, &(1..=200).map(|count| line(&format!("m{count}"))).collect::<String>());
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    let acks = numbers(&done);
    assert!(!acks.is_empty() && acks.len() < 200, "{acks:?}");
    let next = home.append(&["after all"])[0];
    let records = gapless(&home.log());
    assert!(acks.iter().all(|seq| records[seq] == format!("m{seq}")), "{acks:?} {records:?}");
    // The torn record may lack only its newline; then it has a number without an acknowledgement.
    assert!(next - acks.len() as u64 <= 2 && records[&next] == "after all", "{acks:?} {records:?}");
}

#[test]
fn full_disk_stops_acknowledgements_until_there_is_space() {
    let home = ThreadHome::new();
    // In its own namespace, so that the mount affects nothing else.
    let script = r#"
        threads="$RETHREAD_HOME/threads"
        mount -t tmpfs -o size=64k tmpfs "$threads" || exit 77
        id=$("$RETHREAD" thread new) || exit 3
        say() { "$RETHREAD" thread append "$id" --role user 2>>"$HOME/stderr"; echo "exit $?"; }
        echo before | say
        head -c 200000 /dev/zero >"$threads/filler" 2>/dev/null
        head -c 9000 /dev/zero | tr '\0' x | say
        head -c 9000 /dev/zero | tr '\0' y | say
        rm "$threads/filler"
        echo after | say
        cp "$threads/$id/session.jsonl" "$HOME/log" || exit 3
    "#;
    let Some(done) = home.try_shell(&["unshare", "-rm"], script) else {
        skipped_because("nothing can be mounted here");
        return;
    };
    assert!(done.status.success(), "{}", text(&done.stderr));
    let stderr = fs::read_to_string(home.home.path("stderr")).unwrap();
    assert_eq!(text(&done.stdout), "1\nexit 0\nexit 3\nexit 3\n2\nexit 0\n", "{stderr}");
    assert_eq!(stderr.matches("session.jsonl cannot be written").count(), 2, "{stderr}");
    let records = gapless(&fs::read(home.home.path("log")).unwrap());
    assert_eq!(records, BTreeMap::from([(1, "before".to_owned()), (2, "after".to_owned())]));
}

#[test]
fn read_only_directory_refuses_until_it_is_writable() {
    let home = ThreadHome::new();
    assert_eq!(home.append(&["before"]), [1]);
    let before = files(&home.store().join("threads"));
    let mounted = r#"
        mount --bind "$RETHREAD_HOME" "$RETHREAD_HOME" && mount -o remount,ro,bind "$RETHREAD_HOME" || exit 77
    "#;
    // Root ignores permissions; then the script exits with 77.
    let forbidden = r#"
        threads="$RETHREAD_HOME/threads"
        trap 'chmod 700 "$threads" "$threads/$THREAD"; chmod 600 "$threads/$THREAD/"*' EXIT
        chmod 400 "$threads/$THREAD/"* && chmod 500 "$threads/$THREAD" "$threads"
        if touch "$threads/probe" 2>/dev/null; then rm "$threads/probe"; exit 77; fi
    "#;
    let mut skipped = 0;
    for (begin, prepared) in [(&["unshare", "-rm"][..], mounted), (&[][..], forbidden)] {
        let tried = r#"
            echo hello | "$RETHREAD" thread append "$THREAD" --role user; echo "exit $?"
            "$RETHREAD" thread new; echo "exit $?"
        "#;
        let Some(done) = home.try_shell(begin, &format!("{prepared}{tried}")) else {
            skipped += 1;
            continue;
        };
        assert_eq!(text(&done.stdout), "exit 3\nexit 3\n", "{}", text(&done.stderr));
        assert_eq!(text(&done.stderr).matches("error: ").count(), 2, "{}", text(&done.stderr));
        assert!(files(&home.store().join("threads")) == before, "something was written");
    }
    if skipped == 2 {
        skipped_because("nothing can be mounted here, and nothing is forbidden to us");
    }
    assert_eq!(home.append(&["after"]), [2]);
    assert_eq!(gapless(&home.log()).len(), 2);
}

#[test]
fn invalid_id_never_becomes_a_path() {
    let home = ThreadHome::new();
    home.append(&["something"]);
    // Directories that would be taken for threads if a reference became a path.
    let decoys = [home.store().join("x"), home.store().join("threads/y"), home.home.path("z")];
    for decoy in &decoys {
        fs::create_dir_all(decoy).unwrap();
        for file in fs::read_dir(home.log_path().parent().unwrap()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), decoy.join(file.file_name())).unwrap();
        }
    }
    let (start, absolute) = (&home.thread[..25], decoys[2].display().to_string());
    let bad = [
        "../x",
        "../threads/y",
        "y",
        "./y",
        "../../z",
        &absolute,
        "..",
        ".",
        "deleted",
        "",
        // Lower case, one character short, one too many, and too large for a ULID.
        "01arz3ndektsv4rrffq69g5fav",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "01ARZ3NDEKTSV4RRFFQ69G5FAVX",
        "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        // Our id with a confusable last character: Cyrillic A, a full-width zero, a zero-width space.
        &format!("{start}\u{410}"),
        &format!("{start}\u{ff10}"),
        &format!("{}\u{200b}", home.thread),
        &format!("{}/../../x", home.thread),
    ];
    let before = (files(&home.store().join("threads")), files(&home.store().join("x")), files(&decoys[2]));
    let names = names_in(home.home.root());
    for reference in bad {
        for verb in [&["append", "--role", "user"][..], &["append", "--jsonl"], &["context"], &["compact"], &["delete"]]
        {
            let words: Vec<&str> =
                ["thread"].into_iter().chain(verb.iter().copied()).chain(["--", reference]).collect();
            let done = feed(home.command(&words), &line("hi"));
            assert_eq!(done.status.code(), Some(2), "{words:?}: {}", text(&done.stderr));
            assert!(done.stdout.is_empty() && !done.stderr.is_empty(), "{words:?}");
        }
    }
    let after = (files(&home.store().join("threads")), files(&home.store().join("x")), files(&decoys[2]));
    assert!(before == after, "a file was made or changed");
    assert_eq!(names_in(home.home.root()), names);
}

/// One line for `--jsonl`.
fn line(message: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{message}\"}}\n")
}

/// Runs a command with this on standard input.
fn feed(mut command: Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    scope(|scope| {
        scope.spawn(move || pipe.write_all(input.as_bytes()));
        child.wait_with_output().unwrap()
    })
}

/// Asserts exit code 3, an error about the file, and no acknowledgement.
fn refused(done: &Output) {
    let stderr = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{stderr}");
    assert_eq!(text(&done.stdout), "");
    assert!(stderr.contains("error: ") && stderr.contains("session.jsonl cannot be written"), "{stderr}");
}

/// The acknowledged numbers.
fn numbers(done: &Output) -> Vec<u64> {
    text(&done.stdout).lines().map(|seq| seq.parse().unwrap()).collect()
}

/// Number and text of each record. Asserts that the numbers count from one without gaps.
fn gapless(log: &[u8]) -> BTreeMap<u64, String> {
    let lines = log.split(|byte| *byte == b'\n');
    let records = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let records: Vec<(u64, String)> = records
        .map(|record| (record["seq"].as_u64().unwrap(), record["content"][0]["text"].as_str().unwrap().to_owned()))
        .collect();
    let counted: Vec<u64> = records.iter().map(|(seq, _)| *seq).collect();
    let wanted: Vec<u64> = (1..=records.len() as u64).collect();
    assert_eq!(counted, wanted, "numbers are missing, doubled or out of order");
    records.into_iter().collect()
}

/// Path and content of all files below a directory.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(path, Vec::new());
        } else {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, bytes);
        }
    }
    found
}

fn names_in(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

/// Prints that a test was skipped.
fn skipped_because(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A number that looks random and is the same on every run (splitmix64).
fn scrambled(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
