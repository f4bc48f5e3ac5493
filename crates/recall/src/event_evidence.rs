//! Decides whether a command such as `git tag v2.0`, or a sentence, shows that an event happened.

use crate::when::{EventAction, EventPhrase};

/// Maximum number of words of a sentence that reports an event.
const MAX_SENTENCE_WORDS: usize = 40;
/// Number of words at the start of a command that can name what it does.
const COMMAND_WORDS: usize = 5;

/// Programs that run what their arguments name.
const RUNNERS: &str = "bash bun bundle cargo composer deno dotnet gradle gradlew invoke just make mise mix mvn mvnw \
     node nox npm npx php pnpm poetry python python3 rails rake sh sudo task tox uv yarn";
const DEPLOY_PROGRAMS: &str = "amplify ansible-playbook aws az cap cdk eb firebase fly flyctl gcloud heroku kamal modal \
     netlify now railway render serverless sls sst vercel wrangler";
const MIGRATION_PROGRAMS: &str = "alembic artisan atlas dbmate diesel django-admin drizzle-kit flask flyway goose knex \
     liquibase migrate prisma sea-orm-cli sequelize sqlx typeorm";
const PUBLISHERS: &str = "bun cargo changeset deno dart flit hatch lerna npm pnpm poetry pub rush uv vsce yarn";

const OTHER_TASKS: &str = "add bench build check clippy doc exec fmt info install lint remove test tree update view";

/// Words that make a sentence a plan, a question or a memory of the event, and not its report.
const HEDGES: &str = "after aren't before can can't cannot could didn't doesn't don't earlier failed fails haven't if isn't \
     last later must never next no not once plan previously ready should since todo unless until was wasn't were when will \
     won't would yet";
const DONE_WORDS: &str = "complete completed done finished live out succeeded successful";
/// Words that follow a verb of a commit message that is about something else: "Release notes".
const ATTACHED_NOUNS: &str = "branch checklist ci config doc docs guide job lock notes pipeline plan process script scripts test \
     tests workflow workflows";

/// Whether a shell command that succeeded is the event, or records it in a commit.
pub(crate) fn command_shows(event: &EventPhrase, command: &str) -> bool {
    if let Some(message) = commit_subject(command)
        && commit_shows(event, message)
    {
        return true;
    }
    command.split(['\n', ';', '|', '&']).any(|part| part_shows(event, part))
}

fn part_shows(event: &EventPhrase, part: &str) -> bool {
    let lower = part.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().skip_while(|word| word.contains('=') || *word == "sudo").collect();
    let is_trial = |word: &&str| matches!(*word, "--dry-run" | "--dry" | "--help" | "-h" | "--check" | "--list" | "-l");
    if words.iter().any(is_trial) || !has_subject(event, &lower) {
        return false;
    }
    let [program, rest @ ..] = &words[..] else { return false };
    let (program, argument) = (base_name(program), rest.first().copied().unwrap_or_default());
    match event.action {
        EventAction::Release => is_release(program, rest) || runs(program, rest, &["release", "publish"]),
        EventAction::Deploy => is_deploy(program, rest) || runs(program, rest, &["deploy"]),
        EventAction::Migration => {
            let is_known = is_in(program, MIGRATION_PROGRAMS) || is_in(program, RUNNERS);
            (is_known && is_migration(program, rest)) || (program == "manage.py" && argument == "migrate")
        }
        EventAction::Merge => {
            let is_merge = (program == "git" && argument == "merge") || rest.starts_with(&["pr", "merge"]);
            is_merge && !words.contains(&"--abort")
        }
        EventAction::Rollback => {
            (program == "git" && argument == "revert")
                || (is_in(program, DEPLOY_PROGRAMS) && rest.contains(&"rollback"))
        }
        _ => false,
    }
}

fn is_release(program: &str, rest: &[&str]) -> bool {
    let argument = rest.first().copied().unwrap_or_default();
    match program {
        "git" if argument == "tag" => rest.get(1).is_some_and(|word| {
            !word.starts_with('-') || matches!(*word, "-a" | "-s" | "-m" | "-f" | "-am" | "--annotate" | "--sign")
        }),
        "git" if argument == "push" => rest.contains(&"--tags") || rest.contains(&"--follow-tags"),
        "gh" | "glab" => rest.starts_with(&["release", "create"]),
        "twine" => argument == "upload",
        "gem" => argument == "push",
        "goreleaser" => matches!(argument, "" | "release"),
        "semantic-release" | "release-it" | "np" => true,
        _ => is_in(program, PUBLISHERS) && matches!(argument, "publish" | "release"),
    }
}

fn is_deploy(program: &str, rest: &[&str]) -> bool {
    let argument = rest.first().copied().unwrap_or_default();
    match program {
        "kubectl" | "terraform" | "tofu" => argument == "apply",
        "helm" => matches!(argument, "upgrade" | "install"),
        "git" => argument == "push" && rest.iter().any(|word| matches!(*word, "heroku" | "dokku" | "production")),
        "vercel" | "netlify" => rest.iter().any(|word| matches!(*word, "--prod" | "deploy")),
        _ => is_in(program, DEPLOY_PROGRAMS) && rest.iter().take(COMMAND_WORDS).any(|word| name_parts(word, "deploy")),
    }
}

fn is_migration(program: &str, rest: &[&str]) -> bool {
    const OTHER_TASKS: [&str; 9] =
        ["status", "new", "add", "create", "generate", "info", "revision", "--create-only", "rollback"];
    let is_other = rest.iter().any(|word| OTHER_TASKS.contains(word));
    let is_named =
        rest.iter().take(COMMAND_WORDS).any(|word| name_parts(word, "migrate") || name_parts(word, "migration"));
    !is_other && (is_named || (program == "alembic" && rest.first() == Some(&"upgrade")))
}

/// Whether a script or task with that name is run: `make release`, `./scripts/deploy.sh`.
fn runs(program: &str, rest: &[&str], names: &[&str]) -> bool {
    // A flag such as `cargo build --release` is not a task, nor is the filter of `cargo test release`.
    let is_other = rest.first().is_some_and(|word| is_in(word, OTHER_TASKS));
    let mut tasks = rest.iter().take(COMMAND_WORDS).filter(|word| !word.starts_with('-'));
    let is_task = |word: &str| names.iter().any(|name| is_task_name(base_name(word), name));
    is_task(program) || (is_in(program, RUNNERS) && !is_other && tasks.any(|word| is_task(word)))
}

/// `deploy`, `deploy.sh`, `deploy:prod`, but not `release-notes`.
fn is_task_name(word: &str, name: &str) -> bool {
    let Some(rest) = word.strip_prefix(name) else { return false };
    let is_about =
        rest.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == "md" || is_in(part, ATTACHED_NOUNS));
    rest.is_empty() || (rest.starts_with(['.', ':', '-', '_']) && !is_about)
}

fn name_parts(word: &str, name: &str) -> bool {
    base_name(word).split(|letter: char| !letter.is_alphanumeric()).any(|part| part == name)
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The first line of the message of a `git commit`.
fn commit_subject(command: &str) -> Option<&str> {
    let commit = &command[command.find("git commit")?..];
    let message = [" -m ", " -am ", " --message ", " --message="].iter().find_map(|flag| commit.split_once(*flag))?.1;
    // `-m "$(cat <<'EOF'` has the message on the next line.
    let message = match message.split_once("<<") {
        Some((before, rest)) if before.trim_start_matches(['"', '\'']).starts_with("$(cat") => rest.split_once('\n')?.1,
        _ => message.trim_start_matches(['"', '\'']),
    };
    message.split(['\n', '"', '\'']).find(|line| !line.trim().is_empty()).map(str::trim)
}

fn commit_shows(event: &EventPhrase, subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let (prefix, rest) = match lower.split_once(": ") {
        Some((prefix, rest)) if !prefix.contains(' ') => (prefix, rest),
        _ => ("", lower.as_str()),
    };
    let mut words = rest.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_release_scope =
        event.action == EventAction::Release && prefix.split(['(', ')']).any(|part| part == "release");
    let is_moved = event.action == EventAction::Migration && EventAction::Switch.words().is_commit_verb(first);
    let is_named = event.action.words().is_commit_verb(first) && !is_in(second, ATTACHED_NOUNS);
    if !event.subject.is_empty() {
        return (is_named || is_moved || is_release_scope) && has_subject(event, &lower);
    }
    // "Release the lock" is about something else.
    match event.action {
        EventAction::Release => is_release_scope || (is_named && (second.is_empty() || has_version(&lower))),
        _ => is_named,
    }
}

/// Whether a text of a prompt or reply reports the event.
pub(crate) fn statement_shows(event: &EventPhrase, text: &str) -> bool {
    let mut from = 0;
    let mut sentences = Vec::new();
    for (at, letter) in text.char_indices() {
        let next = text[at + letter.len_utf8()..].chars().next();
        let ends = letter == '\n' || (matches!(letter, '.' | '!' | '?') && next.is_none_or(char::is_whitespace));
        if ends {
            sentences.push(&text[from..at + letter.len_utf8()]);
            from = at + letter.len_utf8();
        }
    }
    sentences.push(&text[from..]);
    sentences.into_iter().any(|sentence| sentence_shows(event, sentence))
}

fn sentence_shows(event: &EventPhrase, sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() > MAX_SENTENCE_WORDS
        || sentence.trim_end().ends_with('?')
        || words.iter().any(|word| is_in(word, HEDGES))
        || !has_subject(event, &lower)
    {
        return false;
    }
    let named = event.action.words();
    let has_verb = words.iter().any(|word| named.is_past_verb(word));
    let is_done = words.iter().any(|word| named.is_noun(word)) && words.iter().any(|word| is_in(word, DONE_WORDS));
    if !event.subject.is_empty() {
        return has_verb || is_done;
    }
    // A lock is released too: without a subject, something must say what was.
    match event.action {
        EventAction::Release => (has_verb || is_done) && has_version(&lower),
        EventAction::Deploy => {
            (has_verb || is_done) && words.iter().any(|word| matches!(*word, "production" | "prod" | "live"))
        }
        _ => is_done,
    }
}

/// `1.2`, `v2.0.1`.
fn has_version(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let number = word.strip_prefix('v').unwrap_or(word);
        number.contains('.') && number.split('.').take(2).all(|part| part.parse::<u32>().is_ok())
    })
}

/// Whether all words of the event's name occur in a lower-case text.
fn has_subject(event: &EventPhrase, lower: &str) -> bool {
    let is_inner = |letter: char| letter.is_alphanumeric() || letter == '.';
    event.subject.iter().all(|name| {
        let is_version = |rest: &&str| rest.starts_with(|letter: char| letter.is_ascii_digit());
        let name = name.strip_prefix('v').filter(is_version).unwrap_or(name);
        lower.split(|letter: char| !is_inner(letter)).any(|word| {
            let word = word.trim_matches('.');
            let number = word.strip_prefix('v').unwrap_or(word);
            [word, number].iter().any(|word| {
                // "2.0" also names 2.0.1; "database" also names databases.
                *word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') || rest == "s")
            })
        })
    })
}

fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> EventPhrase {
        let now = "2026-03-18T15:30:00[UTC]".parse().unwrap();
        EventPhrase::find(&format!("what changed since {text}"), &now).unwrap()
    }

    #[test]
    fn commands_show_events() {
        for (name, command, expect) in [
            ("the release", "git tag v1.2.0", true),
            ("the release", "cd app && git tag -a v1.2.0 -m 'Version 1.2'", true),
            ("the release", "npm publish --access public", true),
            ("the release", "cargo publish -p core", true),
            ("the release", "gh release create v1.2.0 --notes x", true),
            ("the release", "make release", true),
            ("the release", "./scripts/release.sh 1.2.0", true),
            ("the release", "git commit -m \"Release 1.2.0\"", true),
            ("the release", "git commit -am 'chore(release): 1.2.0'", true),
            ("the release", "git commit -m \"$(cat <<'EOF'\nRelease 1.2.0\n\nNotes\nEOF\n)\"", true),
            ("the 2.0 release", "git tag v2.0.0", true),
            ("the 2.0 release", "git tag v1.2.0", false),
            ("the release", "git tag", false),
            ("the release", "git tag | tail -3", false),
            ("the release", "git tag -l 'v*'", false),
            ("the release", "git tag -d v1.2.0", false),
            ("the release", "cargo publish --dry-run", false),
            ("the release", "cargo build --release", false),
            ("the release", "cargo run --release -- x", false),
            ("the release", "python scripts/release.py 1.2", true),
            ("the release", "cargo xtask release", true),
            ("the release", "cargo test release", false),
            ("the release", "make release-notes", false),
            ("the release", "sh ci/release_notes.sh", false),
            ("the release", "node --test release.test.js", false),
            ("the release", "cat docs/release.md", false),
            ("the release", "grep -rn release .", false),
            ("the release", "rethread search 'the week before the release'", false),
            ("the release", "git commit -m 'Release the lock early'", false),
            ("the release", "git commit -m 'Fix typo in release notes'", false),
            ("the release", "git commit -m 'Release notes for 1.2'", false),
            ("the deploy", "fly deploy --remote-only", true),
            ("the deploy", "npm run deploy:prod", true),
            ("the deploy", "kubectl apply -f k8s/", true),
            ("the deploy", "kubectl get deployments", false),
            ("the deploy", "git push heroku main", true),
            ("the deploy", "ls deploy", false),
            ("the migration", "bundle exec rake db:migrate", true),
            ("the migration", "python manage.py migrate", true),
            ("the migration", "alembic upgrade head", true),
            ("the migration", "npx prisma migrate deploy", true),
            ("the migration", "npx prisma migrate status", false),
            ("the migration", "alembic revision -m 'add users'", false),
            ("the migration to postgres", "git commit -m 'Move from MySQL to Postgres'", true),
            ("we switched to pnpm", "git commit -m 'build: switch to pnpm'", true),
            ("we switched to pnpm", "git commit -m 'Use pnpm in CI'", true),
            ("we switched to pnpm", "git commit -m 'Fix pnpm lockfile'", false),
            ("we switched to pnpm", "pnpm install", false),
            ("we added vite", "git commit -m 'Add vite config'", true),
            ("we added vite", "git commit -m 'Add item list'", false),
            ("the rollback", "git revert HEAD", true),
        ] {
            assert_eq!(command_shows(&event(name), command), expect, "{name}: {command}");
        }
    }

    #[test]
    fn sentences_report_events() {
        for (name, text, expect) in [
            ("the release", "All green. Released v1.2.0 to npm.", true),
            ("the release", "The release 1.2 is out!", true),
            ("the release", "The lock is released.", false),
            ("the release", "Should I tag it, or is 1.2 released?", false),
            ("the release", "We will have released 1.2 by then.", false),
            ("the release", "Since 1.2 was released, the parser fails.", false),
            ("the deploy", "Deployed to production.", true),
            ("the deploy", "It is not deployed to production.", false),
            ("the migration", "The migration is complete.", true),
            ("the migration", "The migration is complete once the index exists.", false),
            ("we switched to pnpm", "I switched the repository to pnpm and removed package-lock.json.", true),
            ("we switched to pnpm", "If we switched to pnpm, installs would be faster.", false),
            ("we switched to pnpm", "I switched the repository to bun.", false),
        ] {
            assert_eq!(statement_shows(&event(name), text), expect, "{name}: {text}");
        }
    }
}
