//! Peels wrappers off a command: words such as `sudo`, `docker exec web` or `bash -c` that only run another command.
//! Also finds out whether a failure is the wrapper's own.

use super::shell::{SimpleCommand, split_commands};
use super::shell_keywords::strip_keywords;

/// Nested scripts deeper than this are not parsed.
const MAX_DEPTH: usize = 3;

/// What follows the words of a wrapper.
#[derive(Clone, Copy)]
enum Inner {
    /// Flags, this many words of its own, then the command.
    After(usize),
    /// Its own words, then `--` and the command; without `--` as in `After`.
    AfterDashes(usize),
    /// The command follows this flag; without it there is none.
    AfterFlag(&'static [&'static str]),
}

/// Words that run another command.
struct Wrapper {
    words: &'static [&'static str],
    /// Flags that take the next word as their value, separated by spaces.
    flags: &'static str,
    inner: Inner,
    /// What it prints if it fails itself, in lower case; besides `PROGRAM: …`.
    failures: &'static [&'static str],
}

const RTK_FAILURES: &[&str] = &["unrecognized subcommand", "unexpected argument"];
const DOCKER_FLAGS: &str = "-e -w -u -f -p -H -c --env --workdir --user --env-file --file --project-name --profile \
     --project-directory --index --context --detach-keys --host";
const DOCKER_FAILURES: &[&str] = &[
    "no such container",
    "error response from daemon",
    "docker daemon",
    "no such service",
    "service \"",
    "oci runtime",
    "unable to find image",
    "no configuration file provided",
    "executable file not found",
];
const NODE_FLAGS: &str = "-p --package -C --dir --filter -F --prefix -w --workspace --cwd";
const NODE_FAILURES: &[&str] = &[
    "could not determine executable",
    "404 not found - get",
    "is not in this registry",
    "canceled due to missing packages",
    "err_pnpm_recursive_exec",
    "couldn't find the binary",
];
const KUBECTL_FLAGS: &str = "-n -c --namespace --context --container --kubeconfig";
const KUBECTL_FAILURES: &[&str] =
    &["error from server", "unable to upgrade connection", "container not found", "connection to the server"];
const UV_FLAGS: &str = "--with --python -p --extra --group --package --project --directory --env-file \
     --with-requirements --with-editable --no-group --only-group --index --from";
const UV_FAILURES: &[&str] = &["failed to spawn", "no solution found when resolving"];
const POETRY_FAILURES: &[&str] = &["command not found: ", "could not find a pyproject.toml"];
const SECRET_FLAGS: &str = "-e -f -p -c -v --env-file --project --config --env --file --environment --profile";

const fn wrapper(words: &'static [&'static str], flags: &'static str, inner: Inner) -> Wrapper {
    Wrapper { words, flags, inner, failures: &[] }
}

impl Wrapper {
    const fn failing(self, failures: &'static [&'static str]) -> Self {
        Self { failures, ..self }
    }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(&["rtk", "proxy"], "", Inner::After(0)).failing(RTK_FAILURES),
    wrapper(&["rtk", "err"], "", Inner::After(0)).failing(RTK_FAILURES),
    wrapper(&["rtk", "test"], "", Inner::After(0)).failing(RTK_FAILURES),
    wrapper(&["rtk", "summary"], "", Inner::After(0)).failing(RTK_FAILURES),
    wrapper(&["rtk"], "", Inner::After(0)).failing(RTK_FAILURES),
    wrapper(&["docker", "compose", "exec"], DOCKER_FLAGS, Inner::After(1)).failing(DOCKER_FAILURES),
    wrapper(&["docker-compose", "exec"], DOCKER_FLAGS, Inner::After(1)).failing(DOCKER_FAILURES),
    wrapper(&["docker", "exec"], DOCKER_FLAGS, Inner::After(1)).failing(DOCKER_FAILURES),
    wrapper(&["podman", "exec"], DOCKER_FLAGS, Inner::After(1)).failing(DOCKER_FAILURES),
    wrapper(&["kubectl", "exec"], KUBECTL_FLAGS, Inner::AfterDashes(1)).failing(KUBECTL_FAILURES),
    wrapper(&["npm", "exec"], NODE_FLAGS, Inner::AfterDashes(0)).failing(NODE_FAILURES),
    wrapper(&["npx"], NODE_FLAGS, Inner::AfterDashes(0)).failing(NODE_FAILURES),
    wrapper(&["bunx"], NODE_FLAGS, Inner::After(0)).failing(NODE_FAILURES),
    wrapper(&["bun", "x"], NODE_FLAGS, Inner::After(0)).failing(NODE_FAILURES),
    wrapper(&["pnpm", "exec"], NODE_FLAGS, Inner::After(0)).failing(NODE_FAILURES),
    wrapper(&["pnpm", "dlx"], NODE_FLAGS, Inner::After(0)).failing(NODE_FAILURES),
    wrapper(&["yarn", "dlx"], NODE_FLAGS, Inner::After(0)).failing(NODE_FAILURES),
    wrapper(&["yarn", "exec"], NODE_FLAGS, Inner::After(0)).failing(NODE_FAILURES),
    wrapper(&["uv", "run"], UV_FLAGS, Inner::After(0)).failing(UV_FAILURES),
    wrapper(&["uv", "tool", "run"], UV_FLAGS, Inner::After(0)).failing(UV_FAILURES),
    wrapper(&["uvx"], UV_FLAGS, Inner::After(0)).failing(UV_FAILURES),
    wrapper(&["pipx", "run"], "--spec --python", Inner::After(0)),
    wrapper(&["poetry", "run"], "-C -P --directory --project", Inner::After(0)).failing(POETRY_FAILURES),
    wrapper(&["pipenv", "run"], "", Inner::After(0)),
    wrapper(&["hatch", "run"], "-e --env", Inner::After(0)),
    wrapper(&["rye", "run"], "", Inner::After(0)),
    wrapper(&["conda", "run"], "-n --name -p --prefix --cwd", Inner::After(0))
        .failing(&["environmentlocationnotfound"]),
    wrapper(&["bundle", "exec"], "", Inner::After(0)).failing(&["could not locate gemfile", "bundler: "]),
    wrapper(&["nix", "develop"], "", Inner::AfterFlag(&["-c", "--command"]))
        .failing(&["error: flake", "error: getting"]),
    wrapper(&["nix", "shell"], "", Inner::AfterFlag(&["-c", "--command"])).failing(&["error: flake", "error: getting"]),
    wrapper(&["nix-shell"], "", Inner::AfterFlag(&["--run", "--command"])),
    wrapper(&["mise", "exec"], "-C", Inner::AfterDashes(0)).failing(&["mise error"]),
    wrapper(&["mise", "x"], "-C", Inner::AfterDashes(0)).failing(&["mise error"]),
    wrapper(&["dotenv", "run"], SECRET_FLAGS, Inner::AfterDashes(0)),
    wrapper(&["dotenv"], SECRET_FLAGS, Inner::AfterDashes(0)),
    wrapper(&["dotenvx", "run"], SECRET_FLAGS, Inner::AfterDashes(0)),
    wrapper(&["doppler", "run"], SECRET_FLAGS, Inner::AfterDashes(0)).failing(&["doppler error"]),
    wrapper(&["infisical", "run"], SECRET_FLAGS, Inner::AfterDashes(0)),
    wrapper(&["op", "run"], SECRET_FLAGS, Inner::AfterDashes(0)).failing(&["[error] 20", "not currently signed in"]),
    wrapper(&["aws-vault", "exec"], "", Inner::AfterDashes(1)),
    wrapper(&["direnv", "exec"], "", Inner::After(1)),
    wrapper(&["rustup", "run"], "", Inner::After(1)),
    wrapper(&["corepack"], "", Inner::After(0)).failing(&["internal error", "usageerror"]),
    wrapper(&["cross-env"], "", Inner::After(0)),
    wrapper(&["sudo"], "-u -g -p -C -h --user --group", Inner::After(0)).failing(&["is not in the sudoers"]),
    wrapper(&["timeout"], "-k -s --signal --kill-after", Inner::After(1)),
    wrapper(&["gtimeout"], "-k -s --signal --kill-after", Inner::After(1)),
    wrapper(&["xvfb-run"], "-s -e -n -f --server-args --server-num", Inner::After(0)),
    wrapper(&["time"], "-o -f", Inner::After(0)),
    wrapper(&["nice"], "-n", Inner::After(0)),
    wrapper(&["ionice"], "-c -n", Inner::After(0)),
    wrapper(&["stdbuf"], "-o -e -i", Inner::After(0)),
    wrapper(&["caffeinate"], "-t -w", Inner::After(0)),
    wrapper(&["unbuffer"], "", Inner::After(0)),
    wrapper(&["setsid"], "", Inner::After(0)),
    wrapper(&["nohup"], "", Inner::After(0)),
    wrapper(&["flock"], "-w -E", Inner::After(1)),
    wrapper(&["env"], "-u -C", Inner::After(0)),
    wrapper(&["command"], "", Inner::After(0)),
    wrapper(&["exec"], "-a", Inner::After(0)),
];

const DOCKER_RUN: &str = "docker run";
const SHELLS: [&str; 6] = ["bash", "sh", "zsh", "dash", "ash", "fish"];
/// Subcommands of the wrappers themselves.
const OWN_SUBCOMMANDS: [&str; 14] = [
    "gain", "init", "discover", "config", "session", "verify", "learn", "read", "enable", "disable", "prepare", "use",
    "up", "hydrate",
];
/// Programs that also run scripts of the project by name.
const SCRIPT_RUNNERS: [&str; 6] = ["hatch", "rye", "poetry", "pipenv", "pnpm", "yarn"];
/// Names of such scripts that could be mistaken for programs.
const SCRIPT_NAMES: [&str; 8] = ["test", "lint", "build", "dev", "start", "format", "check", "docs"];
/// Flags of `docker run` without a value.
const DOCKER_RUN_SWITCHES: [&str; 8] = ["--rm", "-i", "-t", "-it", "-ti", "--init", "--privileged", "--interactive"];
const DOCKER_RUN_FLAGS: &str = "-v -e -w -p -u -m --volume --env --workdir --publish --user --name --network --net \
     --mount --env-file --platform --cpus --memory --gpus --add-host --pull --label -l --shm-size";

/// The simple commands of a line without their wrappers; scripts of `bash -c` and `eval` are part of the line.
pub(super) fn split_peeled(line: &str) -> Vec<SimpleCommand> {
    let mut commands = Vec::new();
    for simple in strip_keywords(split_commands(line)) {
        peel(simple, 0, &mut commands);
    }
    commands
}

fn peel(mut simple: SimpleCommand, depth: usize, commands: &mut Vec<SimpleCommand>) {
    loop {
        match peel_once(&simple.words) {
            Some(Peeled::Words(at)) => simple.wrappers.extend(simple.words.drain(..at)),
            Some(Peeled::Script(at)) if depth < MAX_DEPTH => {
                let script = std::mem::take(&mut simple.words[at]);
                simple.wrappers.extend(simple.words.drain(..at));
                return peel_script(&simple, &script, depth, commands);
            }
            _ => break,
        }
    }
    commands.push(simple);
}

/// Adds the commands of a script that another command runs.
fn peel_script(outer: &SimpleCommand, script: &str, depth: usize, commands: &mut Vec<SimpleCommand>) {
    let mut inner = strip_keywords(split_commands(script));
    if let Some(first) = inner.first_mut() {
        first.operator = outer.operator;
    }
    if let Some(last) = inner.last_mut() {
        last.output = last.output.take().or_else(|| outer.output.clone());
        last.hides_stderr |= outer.hides_stderr;
    }
    for mut simple in inner {
        simple.wrappers.clone_from(&outer.wrappers);
        simple.is_background |= outer.is_background;
        simple.is_conditional |= outer.is_conditional;
        peel(simple, depth + 1, commands);
    }
}

/// Where the wrapped command begins, or which word is its script.
enum Peeled {
    Words(usize),
    Script(usize),
}

fn peel_once(words: &[String]) -> Option<Peeled> {
    let program = program_name(words.first()?);
    if SHELLS.contains(&program) || program == "script" {
        return script_argument(words).map(Peeled::Script);
    }
    if program == "eval" && words.len() == 2 {
        return Some(Peeled::Script(1));
    }
    if program.starts_with("python") && words.len() > 2 && words[1] == "-m" {
        return Some(Peeled::Words(2));
    }
    let at = match program {
        "docker" | "podman" if words.get(1).is_some_and(|word| word == "run") => after_image(words)?,
        // `command -v x` only looks for it.
        "command" if words.get(1).is_some_and(|word| word.starts_with('-')) => return None,
        _ => {
            let mut known = WRAPPERS.iter().filter(|wrapper| wrapper.words.first() == Some(&program));
            known.find_map(|wrapper| inner_command(wrapper, words))?
        }
    };
    let inner = words.get(at)?;
    let is_own = matches!(program, "rtk" | "corepack") && OWN_SUBCOMMANDS.contains(&inner.as_str());
    if is_own || (SCRIPT_RUNNERS.contains(&program) && SCRIPT_NAMES.contains(&inner.as_str())) {
        return None;
    }
    // `nix-shell --run 'make test'`, `npx -c 'vite build'`: one word is a whole script.
    let is_script = at + 1 == words.len() && inner.contains(' ');
    Some(if is_script { Peeled::Script(at) } else { Peeled::Words(at) })
}

/// Where the command of this wrapper begins; `None` if the words are not this wrapper.
fn inner_command(wrapper: &Wrapper, words: &[String]) -> Option<usize> {
    let mut at = 0;
    for (index, known) in wrapper.words.iter().enumerate() {
        if index > 0 {
            at = skip_flags(words, at, wrapper.flags);
        }
        let word = words.get(at)?;
        let is_known = if index == 0 { program_name(word) == *known } else { word == known };
        if !is_known {
            return None;
        }
        at += 1;
    }
    let dashes = || words[at..].iter().position(|word| word == "--").map(|dashes| at + dashes + 1);
    let own = match wrapper.inner {
        Inner::AfterFlag(flags) => {
            return words[at..].iter().position(|word| flags.contains(&word.as_str())).map(|flag| at + flag + 1);
        }
        Inner::AfterDashes(own) => match dashes() {
            Some(after) => return Some(after),
            None => own,
        },
        Inner::After(own) => own,
    };
    at = skip_flags(words, at, wrapper.flags) + own;
    while words.get(at).is_some_and(|word| word.contains('=') && !word.starts_with('-')) {
        at += 1;
    }
    (at < words.len()).then_some(at)
}

/// The position after the flags that begin at `at`.
fn skip_flags(words: &[String], mut at: usize, with_value: &str) -> usize {
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') && word.len() > 1) {
        at += 1;
        if word == "--" {
            break;
        }
        at += usize::from(with_value.split_whitespace().any(|flag| flag == word));
    }
    at
}

/// The script that a shell runs: the word after `-c`, `-lc` or similar.
fn script_argument(words: &[String]) -> Option<usize> {
    let mut at = 1;
    while let Some(flag) = words.get(at).filter(|word| word.starts_with('-') && !word.starts_with("--")) {
        if flag.ends_with('c') {
            return (at + 1 < words.len()).then_some(at + 1);
        }
        at += 1 + usize::from(flag == "-o");
    }
    None
}

/// Where the command of `docker run` begins, if it clearly has one: the word after the image.
fn after_image(words: &[String]) -> Option<usize> {
    let mut at = 2;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let takes_value = DOCKER_RUN_FLAGS.split_whitespace().any(|flag| flag == word);
        if !takes_value && !word.contains('=') && !DOCKER_RUN_SWITCHES.contains(&word.as_str()) {
            return None;
        }
        at += 1 + usize::from(takes_value);
    }
    (at + 1 < words.len() && !words[at + 1].starts_with('-')).then_some(at + 1)
}

/// The name of a program without its folder.
fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// Whether words before a command run it in a container or on another machine.
pub(super) fn is_in_container(wrappers: &[String]) -> bool {
    wrappers
        .first()
        .is_some_and(|word| matches!(program_name(word), "docker" | "docker-compose" | "podman" | "kubectl"))
}

/// The names of the wrappers among the words before a command.
pub(super) fn wrapper_names(prefix_words: &[String]) -> impl Iterator<Item = String> + '_ {
    let runs_image = prefix_words.windows(2).any(|pair| program_name(&pair[0]) == "docker" && pair[1] == "run");
    let image = runs_image.then(|| DOCKER_RUN.to_owned());
    wrappers_in(prefix_words).map(|wrapper| wrapper.words.join(" ")).chain(image)
}

fn wrappers_in(prefix_words: &[String]) -> impl Iterator<Item = &'static Wrapper> + '_ {
    WRAPPERS.iter().filter(|wrapper| {
        let mut words = prefix_words.iter();
        wrapper.words.iter().all(|known| words.any(|word| program_name(word) == *known))
    })
}

/// The wrapper that failed itself, so that the wrapped command never ran; `None` if the command failed.
pub(super) fn failed_wrapper(prefix_words: &[String], message: &str) -> Option<String> {
    let message = message.to_lowercase();
    if let Some(wrapper) = wrappers_in(prefix_words).find(|wrapper| is_failure_of(wrapper, &message)) {
        return Some(wrapper.words.join(" "));
    }
    let is_of_docker = message.starts_with("docker: ") || DOCKER_FAILURES.iter().any(|text| message.contains(text));
    wrapper_names(prefix_words).find(|name| name == DOCKER_RUN && is_of_docker)
}

fn is_failure_of(wrapper: &Wrapper, message: &str) -> bool {
    let program = wrapper.words[0];
    let begins = |text: &str| message.strip_prefix(program).is_some_and(|rest| rest.starts_with(text));
    begins(": ")
        || message.contains(&format!(" {program}: command not found"))
        || message.contains(&format!(" {program}: not found"))
        || message.ends_with(&format!("command not found: {program}"))
        || wrapper.failures.iter().any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use super::super::shell::ShellOperator::{And, First, Pipe, Then};
    use super::*;

    fn peeled(line: &str) -> Vec<String> {
        split_peeled(line).iter().map(|simple| simple.words.join(" ")).collect()
    }

    #[test]
    fn wrappers_are_peeled_off() {
        // D39
        for (line, expected) in [
            ("rtk bun run test", vec!["bun run test"]),
            ("rtk proxy cargo test", vec!["cargo test"]),
            ("rtk gain --history", vec!["rtk gain --history"]),
            ("npx -y vitest run", vec!["vitest run"]),
            ("npx --package typescript tsc -p .", vec!["tsc -p ."]),
            ("pnpm --filter web exec vitest", vec!["vitest"]),
            ("docker exec -it -e A=1 web npm test", vec!["npm test"]),
            ("docker compose -f a.yml exec -T api pytest -q", vec!["pytest -q"]),
            ("docker run --rm -v .:/app node:20 npm test", vec!["npm test"]),
            ("docker run -d redis:7", vec!["docker run -d redis:7"]),
            ("docker run --rm postgres:16", vec!["docker run --rm postgres:16"]),
            ("kubectl -n dev exec pod/a -c api -- rails db:migrate", vec!["rails db:migrate"]),
            ("uv run --with httpx python -m pytest -q", vec!["pytest -q"]),
            ("poetry run mypy .", vec!["mypy ."]),
            ("poetry run test", vec!["poetry run test"]),
            ("timeout -k 5 60 cargo test", vec!["cargo test"]),
            ("env -u X A=1 make check", vec!["make check"]),
            ("cross-env NODE_ENV=test jest", vec!["jest"]),
            ("nix develop .#ci -c cargo build", vec!["cargo build"]),
            ("nix-shell -p jq --run 'make a && make b'", vec!["make a", "make b"]),
            ("mise exec node@20 -- npm ci", vec!["npm ci"]),
            ("dotenv -e .env.test -- vitest", vec!["vitest"]),
            ("doppler run --config dev -- npm start", vec!["npm start"]),
            ("op run --env-file=.env -- npm test", vec!["npm test"]),
            ("corepack pnpm install", vec!["pnpm install"]),
            ("corepack enable", vec!["corepack enable"]),
            ("time sudo -u app xvfb-run -a npm test", vec!["npm test"]),
            ("bash -c 'cd web && npm test'", vec!["cd web", "npm test"]),
            ("bash -lc \"timeout 60 sh -c 'go test ./...'\"", vec!["go test ./..."]),
            ("docker exec web sh -c \"npm ci && npm test\"", vec!["npm ci", "npm test"]),
            ("bash scripts/run.sh -c", vec!["bash scripts/run.sh -c"]),
            ("command -v node", vec!["command -v node"]),
            ("env", vec!["env"]),
        ] {
            assert_eq!(peeled(line), expected, "{line}");
        }
    }

    #[test]
    fn operators_around_a_script_are_kept() {
        let all = split_peeled("make && bash -c 'a; b' | tail -3");
        let rendered: Vec<_> = all.iter().map(|simple| (simple.words[0].as_str(), simple.operator)).collect();
        assert_eq!(rendered, [("make", First), ("a", And), ("b", Then), ("tail", Pipe)]);
    }

    #[test]
    fn failure_of_a_wrapper_is_its_own() {
        // D39
        let failed = |line: &str, message: &str| {
            let simple = split_peeled(line).pop().unwrap();
            failed_wrapper(&simple.wrappers, message)
        };
        for (line, message, expected) in [
            ("rtk bun run test", "error: unrecognized subcommand 'bun'", Some("rtk")),
            ("rtk bun run test", "bash: line 1: rtk: command not found", Some("rtk")),
            ("rtk bun run test", "error: expect(received).toBe(expected)", None),
            ("docker exec web npm test", "Error: No such container: web", Some("docker exec")),
            ("docker compose exec web npm test", "service \"web\" is not running", Some("docker compose exec")),
            ("docker exec web npm test", "Error: connect ECONNREFUSED 127.0.0.1:5432", None),
            (
                "docker run --rm x npm test",
                "docker: Error response from daemon: pull access denied",
                Some("docker run"),
            ),
            ("npx vitset", "npm error could not determine executable to run", Some("npx")),
            ("uv run pytset", "error: Failed to spawn: `pytset`", Some("uv run")),
            ("sudo make install", "sudo: a password is required", Some("sudo")),
            ("uv run pytest", "ModuleNotFoundError: No module named 'a'", None),
            ("bash -c 'vitest'", "bash: line 1: vitest: command not found", None),
        ] {
            assert_eq!(failed(line, message).as_deref(), expected, "{line}: {message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_can_be_peeled(line in "((bash|docker|exec|run|npx|--|-c|timeout|env|'a b'|x|;|\"|&&) ){0,12}") {
            split_peeled(&line);
        }
    }
}
