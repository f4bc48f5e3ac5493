//! Decides whether a shell command such as `git tag v2.0` is an event, or records it in a commit.
//!
//! Only known commands and tasks count: no event is better than a wrong one.

use crate::event_evidence::{commit_shows, has_subject, has_version};
use crate::shell_words::{ShellPart, shell_parts};
use crate::when::{EventAction, EventPhrase};
use crate::word_list::is_listed;

/// Number of arguments in which the task of a program is named.
const TASK_ARGUMENTS: usize = 3;

/// Programs that only run the command that follows.
const WRAPPERS: &str = "bunx command env exec npx sudo time";
/// Programs and their subcommands that only run the command that follows.
const RUN_WRAPPERS: &str = "bundle-exec npm-exec pdm-run pipenv-run pnpm-dlx pnpm-exec poetry-run python--m \
     python3--m rye-run uv-run yarn-dlx yarn-exec";
/// Programs whose first argument is a task.
const TASK_RUNNERS: &str = "gmake gradle gradlew inv invoke just mage make mix mvn mvnw poe rake task";
/// Programs that run a task after `run` or a similar word.
const SCRIPT_RUNNERS: &str = "bun composer deno hatch mise npm pdm pnpm yarn";
const INTERPRETERS: &str = "bash bun deno node php python python3 ruby sh ts-node tsx zsh";
const PUBLISHERS: &str = "bun cargo changeset deno flit hatch lerna npm pdm pnpm poetry uv vsce yarn";
const DEPLOY_PROGRAMS: &str = "ansible-playbook cap cdk dokku eb firebase fly flyctl heroku kamal modal railway render \
     serverless sls sst wrangler";
const MIGRATION_PROGRAMS: &str = "alembic artisan atlas dbmate diesel django-admin drizzle-kit flask flyway goose knex \
     liquibase manage.py mix prisma rails rake sea-orm-cli sequelize sqlx typeorm";

/// Flags that have a value as the next word, in lower case.
const VALUE_FLAGS: &str = "-c -f -n -p -w --cwd --dir --directory --file --filter --package --prefix --workspace";
/// Flags of trials and of questions.
const TRIAL_FLAGS: &str = "--check --draft --dry --dry-run --dryrun --help --just-print --list --no-publish --no-push \
     --plan --preview --recon --simulate --snapshot --version -h";
/// Parts of a task name that is about something else: `release-notes`, `release:dry`, `deploy-preview`.
const OTHER_TASK_PARTS: &str = "branch build changelog check checklist ci clean config doc docs draft dry dryrun \
     flow guide init it job lint list local lock log logs md notes plan please pre prep prepare preview process \
     revert rollback setup simulate spec status test tests tools undo validate verify workflow workflows";
/// Arguments with which a deploy or migration program changes nothing.
const OTHER_ARGUMENTS: &str = "add create delete describe diff generate history info list log logs new plan \
     revision rollback show status validate --create-only";

/// Whether a shell command that succeeded is the event, or records it in a commit.
pub(crate) fn command_shows(event: &EventPhrase, command: &str) -> bool {
    let parts = shell_parts(command);
    // In a new or temporary repository, a tag is a test.
    let is_temporary = parts.iter().any(|part| match &part.words[..] {
        [program, folder, ..] if program == "cd" => folder.starts_with("/tmp/") || folder.contains("mktemp"),
        [program, task, ..] => program == "git" && task == "init",
        _ => false,
    });
    !is_temporary && parts.iter().any(|part| !part.is_uncertain && part_shows(event, part))
}

/// Whether a command that makes a commit records the event in it. `full` is the same command with all of its texts, but
/// without line breaks.
pub(crate) fn commit_command_shows(event: &EventPhrase, command: &str, full: &str) -> bool {
    let is_commit = |part: &ShellPart| part.words.starts_with(&["git".to_owned(), "commit".to_owned()]);
    shell_parts(command).iter().any(is_commit)
        && shell_parts(full).iter().any(|part| {
            let words: Vec<&str> = part.words.iter().map(String::as_str).collect();
            !part.is_uncertain && commit_subject(&words).is_some_and(|subject| commit_shows(event, subject))
        })
}

fn part_shows(event: &EventPhrase, part: &ShellPart) -> bool {
    let words: Vec<&str> = part.words.iter().map(String::as_str).collect();
    let [path, rest @ ..] = unwrapped(&words) else { return false };
    if let Some(subject) = commit_subject(unwrapped(&words)) {
        return commit_shows(event, subject);
    }
    let (path, rest) = (path.to_lowercase(), rest.iter().map(|word| word.to_lowercase()).collect::<Vec<_>>());
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let base = base_name(&path);
    let run = RunCommand {
        path: &path,
        // `release-it@latest`.
        program: base.split_once('@').map_or(base, |(name, _)| name),
        arguments: arguments(&rest),
        words: &rest,
    };
    !run.is_trial() && has_subject(event, &part.words.join(" ").to_lowercase()) && run.is_event(event.action)
}

/// A command without what only runs it, in lower case.
struct RunCommand<'a> {
    /// The program as written.
    path: &'a str,
    program: &'a str,
    /// All words after the program.
    words: &'a [&'a str],
    /// The words that are neither flags, nor values of flags, nor variables.
    arguments: Vec<&'a str>,
}

impl RunCommand<'_> {
    fn is_trial(&self) -> bool {
        // `-n` is a namespace for kubectl.
        let is_short_trial = |word: &str| match self.program {
            "git" => matches!(word, "-n" | "-l" | "-d"),
            "gh" => word == "-d",
            "gradle" | "gradlew" => word == "-m",
            "make" | "gmake" => matches!(word, "-n" | "-p" | "-q"),
            program => is_listed(program, TASK_RUNNERS) && matches!(word, "-n" | "-l"),
        };
        self.words.iter().any(|word| {
            let name = word.split_once('=').map_or(*word, |(name, _)| name);
            is_listed(name, TRIAL_FLAGS)
                || is_short_trial(word)
                || word.contains("testpypi")
                || word.contains("test.pypi")
        })
    }

    fn argument(&self, index: usize) -> &str {
        self.arguments.get(index).copied().unwrap_or_default()
    }

    fn first_arguments(&self) -> &[&str] {
        &self.arguments[..self.arguments.len().min(TASK_ARGUMENTS)]
    }

    fn has_flag(&self, flags: &[&str]) -> bool {
        self.words.iter().any(|word| flags.contains(word))
    }

    fn is_event(&self, action: EventAction) -> bool {
        match action {
            EventAction::Release => self.is_release() || self.runs_task(&["release", "publish"]),
            EventAction::Deploy => self.is_deploy() || self.runs_task(&["deploy"]),
            EventAction::Migration => self.is_migration(),
            EventAction::Merge => {
                let is_merge = match self.program {
                    "git" => self.argument(0) == "merge",
                    "gh" => self.arguments.starts_with(&["pr", "merge"]),
                    "glab" => self.arguments.starts_with(&["mr", "merge"]),
                    _ => false,
                };
                is_merge && !self.has_flag(&["--abort", "--no-commit", "--quit"])
            }
            EventAction::Rollback => match self.program {
                "git" => self.argument(0) == "revert" && !self.has_flag(&["--abort", "--quit"]),
                "kubectl" => self.arguments.starts_with(&["rollout", "undo"]),
                "helm" | "vercel" => self.argument(0) == "rollback",
                program => is_listed(program, DEPLOY_PROGRAMS) && self.first_arguments().contains(&"rollback"),
            },
            _ => false,
        }
    }

    fn is_release(&self) -> bool {
        match self.program {
            "git" if self.argument(0) == "tag" => self.makes_version_tag(),
            "git" => self.argument(0) == "push" && self.has_flag(&["--tags", "--follow-tags"]),
            "gh" | "glab" => self.arguments.starts_with(&["release", "create"]),
            "twine" => self.argument(0) == "upload",
            "gem" | "nuget" => self.argument(0) == "push",
            "dotnet" => self.arguments.starts_with(&["nuget", "push"]),
            "dart" | "flutter" => self.arguments.starts_with(&["pub", "publish"]),
            "goreleaser" => matches!(self.argument(0), "" | "release"),
            "semantic-release" | "release-it" | "np" => true,
            // An image for tests has other tags.
            "docker" | "podman" => {
                let is_version = |image: &&str| {
                    image.rsplit_once(':').is_some_and(|(_, tag)| tag == "latest" || is_version_name(tag))
                };
                self.argument(0) == "push" && self.arguments.iter().any(is_version)
            }
            // Without a flag, it only says what it would do.
            "cargo" if self.argument(0) == "release" => self.has_flag(&["--execute", "-x"]),
            "yarn" if self.arguments.starts_with(&["npm", "publish"]) => true,
            "mvn" | "mvnw" => self.arguments.contains(&"release:perform"),
            program => is_listed(program, PUBLISHERS) && self.argument(0) == "publish",
        }
    }

    /// `git tag v1.2.0`, `git tag -a v1.2.0 -m x`, but not `git tag backup` or a list of tags.
    fn makes_version_tag(&self) -> bool {
        const MAKING: &str = "-a -f -m -s -u -am -sm --annotate --force --message --sign";
        let mut after = self.words.iter().skip_while(|word| **word != "tag").skip(1);
        let mut flags = after.clone().filter(|word| word.starts_with('-'));
        flags.all(|flag| is_listed(flag.split_once('=').map_or(*flag, |(name, _)| name), MAKING))
            && after.any(|word| is_version_name(word))
    }

    fn is_deploy(&self) -> bool {
        let first = self.first_arguments();
        let is_other = self.words.iter().any(|word| is_listed(word, OTHER_ARGUMENTS));
        match self.program {
            "kubectl" => self.arguments.contains(&"apply"),
            "terraform" | "tofu" => self.argument(0) == "apply",
            "pulumi" => self.argument(0) == "up",
            "helm" => first.iter().any(|word| matches!(*word, "upgrade" | "install")),
            "git" => {
                self.argument(0) == "push"
                    && first.iter().any(|word| matches!(*word, "heroku" | "dokku" | "production"))
            }
            // Others are previews.
            "vercel" | "netlify" | "now" => self.has_flag(&["--prod", "--production"]) && !is_other,
            "aws" => {
                self.arguments.starts_with(&["cloudformation", "deploy"])
                    || self.arguments.starts_with(&["deploy", "create-deployment"])
            }
            "gcloud" | "az" | "docker" => first.iter().skip(1).any(|word| *word == "deploy") && !is_other,
            "ansible-playbook" => self.arguments.iter().any(|word| is_task_name(base_name(word), "deploy")),
            program => is_listed(program, DEPLOY_PROGRAMS) && first.contains(&"deploy") && !is_other,
        }
    }

    fn is_migration(&self) -> bool {
        let is_other = |word: &str| word.split([':', '.', '_']).any(|part| is_listed(part, OTHER_ARGUMENTS));
        if self.words.iter().any(|word| is_other(word)) {
            return false;
        }
        let inner = match (self.program, self.argument(0)) {
            ("python" | "python3" | "php" | "cargo", script) => base_name(script),
            (program, _) => program,
        };
        let first = self.first_arguments();
        match inner {
            "alembic" | "dbmate" | "goose" => first.iter().any(|word| matches!(*word, "upgrade" | "up" | "migrate")),
            "flask" => self.arguments.starts_with(&["db", "upgrade"]),
            "dotnet" => self.arguments.starts_with(&["ef", "database", "update"]),
            inner if is_listed(inner, MIGRATION_PROGRAMS) => {
                first.iter().any(|word| has_part(word, "migrate") || has_part(word, "migration"))
            }
            _ => self.tasks().iter().any(|task| has_part(base_name(task), "migrate")),
        }
    }

    /// Whether a script or task with that name is run: `make release`, `./scripts/deploy.sh`.
    fn runs_task(&self, names: &[&str]) -> bool {
        self.tasks().iter().any(|task| names.iter().any(|name| is_task_name(base_name(task), name)))
    }

    /// The tasks or scripts that the command runs by name.
    fn tasks(&self) -> Vec<&str> {
        let program = self.program;
        if self.path.contains('/') && !is_listed(program, INTERPRETERS) && !is_listed(program, TASK_RUNNERS) {
            return vec![self.path];
        }
        let first = self.argument(0);
        if matches!(program, "make" | "gmake") {
            return self.arguments.clone();
        }
        if is_listed(program, TASK_RUNNERS) || (program == "cargo" && matches!(first, "xtask" | "make")) {
            return vec![self.argument(usize::from(program == "cargo"))];
        }
        if is_listed(program, SCRIPT_RUNNERS) && matches!(first, "run" | "run-script" | "task") {
            return vec![self.argument(1)];
        }
        if matches!(program, "yarn" | "pnpm" | "bun") && !first.contains('/') {
            return vec![first];
        }
        // `python3 -c '…' release` and `node --test release.test.js` run something else.
        let is_script = match program {
            "bash" | "sh" | "zsh" => !self.words.iter().any(|word| word.starts_with('-') && word.contains('c')),
            program => {
                is_listed(program, INTERPRETERS) && self.words.first().is_some_and(|word| !word.starts_with('-'))
            }
        };
        if is_script && first.contains(['.', '/']) { vec![first] } else { Vec::new() }
    }
}

/// The words without variables and programs that only run the rest: `sudo`, `npx`, `bundle exec`.
fn unwrapped<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let mut rest = words;
    loop {
        let [first, more @ ..] = rest else { return rest };
        let is_run = more.first().is_some_and(|second| is_listed(&format!("{first}-{second}"), RUN_WRAPPERS));
        if is_run {
            rest = &more[1..];
        } else if is_listed(first, WRAPPERS) || is_assignment(first) {
            rest = more;
        } else {
            return rest;
        }
        while let [flag, more @ ..] = rest
            && flag.starts_with('-')
        {
            rest = more;
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The words that are neither flags nor their values nor variables, up to `--`.
fn arguments<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut is_value = false;
    for word in words {
        if *word == "--" {
            break;
        }
        if !std::mem::take(&mut is_value) && !word.starts_with('-') && !is_assignment(word) {
            found.push(*word);
        }
        is_value = is_listed(word, VALUE_FLAGS);
    }
    found
}

/// `deploy`, `deploy.sh`, `deploy:prod`, but not `release-notes` or `release:dry`.
fn is_task_name(word: &str, name: &str) -> bool {
    let Some(rest) = word.strip_prefix(name) else { return false };
    let mut parts = rest.split(|letter: char| !letter.is_alphanumeric());
    (rest.is_empty() || rest.starts_with(['.', ':', '-', '_'])) && !parts.any(|part| is_listed(part, OTHER_TASK_PARTS))
}

fn has_part(word: &str, name: &str) -> bool {
    word.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == name)
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// `v2`, `1.2.0`, `app-v1.2`, `v$version`.
fn is_version_name(word: &str) -> bool {
    let is_version = |part: &str| {
        let number = part.strip_prefix('v').filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
        number.is_some() || has_version(part)
    };
    !word.starts_with('-') && (word.starts_with("v$") || word.split(['-', '@', '/', '_']).any(is_version))
}

/// The first line of the message of a `git commit`.
fn commit_subject<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [program, rest @ ..] = words else { return None };
    let is_commit = rest.iter().take(TASK_ARGUMENTS).any(|word| *word == "commit") && !rest.contains(&"--dry-run");
    if *program != "git" || !is_commit {
        return None;
    }
    let is_flag = |word: &&&str| matches!(**word, "-m" | "-am" | "--message");
    let message = match rest.iter().position(|word| is_flag(&word)) {
        Some(at) => *rest.get(at + 1)?,
        None => rest.iter().find_map(|word| word.strip_prefix("--message="))?,
    };
    // `-m "$(cat <<'EOF'` has the message on the next line, or after the mark if the lines were joined.
    let message = match message.split_once("<<") {
        Some((before, rest)) if before.starts_with("$(cat") => rest.split_once(char::is_whitespace)?.1,
        _ => message,
    };
    message.lines().find(|line| !line.trim().is_empty()).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> EventPhrase {
        let now = "2026-03-18T15:30:00[UTC]".parse().unwrap();
        EventPhrase::find(&format!("what changed since {text}"), &now).unwrap()
    }

    fn check(name: &str, expect: bool, commands: &[&str]) {
        for command in commands {
            assert_eq!(command_shows(&event(name), command), expect, "{name}: {command}");
        }
    }

    #[test]
    fn publishing_commands_are_releases() {
        check(
            "the release",
            true,
            &[
                "git tag v1.2.0",
                "git tag v2",
                "git tag \"v$VERSION\"",
                "git -C app tag app-v1.2.0",
                "cd app && git tag -a v1.2.0 -m 'Version 1.2'",
                "git push origin main --follow-tags",
                "npm publish --access public",
                "pnpm -r publish",
                "pnpm --filter core publish",
                "npm publish; true",
                "npm publish 2>&1 | tail -5",
                "NPM_TOKEN=x npm publish",
                "cargo publish -p core",
                "cargo release 1.2.0 --execute",
                "python -m twine upload dist/*",
                "gh release create v1.2.0 -n x",
                "docker push ghcr.io/a/app:1.2.0",
                "npx -y release-it@latest --ci",
                "npx semantic-release",
                "make release",
                "make -C app VERSION=1.2 release",
                "just release 1.2.0",
                "npm run release",
                "yarn release",
                "bun run release:npm",
                "cargo xtask release",
                "./gradlew publish",
                "./scripts/release.sh 1.2.0",
                "bash -ex scripts/release.sh",
                "python scripts/release.py 1.2",
                "git commit -m \"Release 1.2.0\"",
                "git commit -m 'Release core 1.2.0'",
                "git commit -am 'chore(release): 1.2.0'",
                "git commit -m \"$(cat <<'EOF'\nRelease 1.2.0\n\nNotes\nEOF\n)\"",
                "git commit -m \"$(cat <<'EOF' Release 1.2.0 Notes EOF )\"",
            ],
        );
        check("the 2.0 release", true, &["git tag v2.0.0"]);
        check("the 2.0 release", false, &["git tag v1.2.0"]);
    }

    #[test]
    fn installs_trials_and_quoted_text_are_not_releases() {
        check(
            "the release",
            false,
            &[
                "git tag",
                "git tag | tail -3",
                "git tag -l 'v*'",
                "git tag -d v1.2.0",
                "git tag --contains v1.2.0",
                "git tag before-rebase",
                "cd /tmp/t && git init && git tag v0.0.1",
                "cargo publish --dry-run",
                "cargo release 1.2.0",
                "cargo build --release",
                "cargo run --release -- x",
                "cargo run --bin tool -- release",
                "cargo test release",
                "npm i -D release-it",
                "npm uninstall release-please",
                "npm release",
                "uv pip install release-tools",
                "pnpm i release-it",
                "composer require release-x",
                "yarn why release-it",
                "poetry run pytest tests/release_flow.py",
                "npm run test -- release",
                "grep -rnE 'deploy|make release|foo' .",
                "git commit -m \"Document the process\n\nSteps:\nnpm publish\n\"",
                "printf 'x\nnpm publish\n' > a.sh",
                "python3 - <<'E'\nopen('x').write('''\nnpm publish\n''')\nE",
                "python3 - <<E#8028a10e 'open(x).write(\nnpm publish\n)'",
                "cat > RELEASING.md <<'EOF'\n# Releasing\nnpm publish\ngit tag v9.9.9\nEOF",
                "ls # then; npm publish",
                "echo npm publish",
                "ssh ci 'make release'",
                "make -n release",
                "make release-notes",
                "npm run release:dry",
                "gh release create v1.2 --draft",
                "gh release list",
                "goreleaser release --snapshot",
                "twine upload -r testpypi dist/*",
                "docker push app:dev",
                "npm publish || echo failed",
                "git tag v1.0 2>/dev/null || true",
                "python3 -c 'print(1)' release",
                "bash -c release.sh",
                "sh ci/release_notes.sh",
                "node --test release.test.js",
                "node release/index.js",
                "cmake --build release",
                "sudo vim release.sh",
                "chmod +x scripts/release.sh",
                "cat docs/release.md",
                "grep -rn release .",
                "rethread search 'the week before the release'",
                "git commit -m 'Release the lock early'",
                "git commit -m 'Fix typo in release notes'",
                "git commit -m 'Release notes for 1.2'",
                "git commit -m 'Publish docs to 1.2 site'",
                "git commit -m 'fix(release): handle missing tags'",
                "git commit --dry-run -m 'Release 1.2.0'",
            ],
        );
    }

    #[test]
    fn deploys_and_migrations_are_known() {
        check(
            "the deploy",
            true,
            &[
                "fly deploy --remote-only",
                "npm run deploy:prod",
                "kubectl apply -f k8s/",
                "kubectl -n prod apply -f k8s/",
                "terraform apply -auto-approve",
                "git push heroku main",
                "vercel --prod",
                "gcloud run deploy app",
                "bin/deploy production",
                "ansible-playbook -i hosts deploy.yml",
            ],
        );
        check(
            "the deploy",
            false,
            &[
                "kubectl get deployments",
                "kubectl apply -f k8s/ --dry-run=client",
                "terraform plan",
                "aws deploy list-deployments",
                "vercel",
                "npm run deploy:preview",
                "npm run test -- deploy",
                "ls deploy",
            ],
        );
        check(
            "the migration",
            true,
            &[
                "bundle exec rake db:migrate",
                "python manage.py migrate",
                "./manage.py migrate",
                "php artisan migrate",
                "alembic upgrade head",
                "poetry run alembic upgrade head",
                "npx prisma migrate deploy",
                "cargo sqlx migrate run",
                "npm run db:migrate",
                "make migrate",
                "git commit -m 'Migrate database'",
            ],
        );
        check(
            "the migration",
            false,
            &[
                "npx prisma migrate status",
                "rails db:migrate:status",
                "alembic revision -m 'add users'",
                "python manage.py makemigrations",
                "git commit -m 'Migrate the loader tests'",
            ],
        );
    }

    #[test]
    fn commits_show_changes() {
        for (name, command, expect) in [
            ("the migration to postgres", "git commit -m 'Move from MySQL to Postgres'", true),
            ("we switched to pnpm", "git commit -m 'build: switch to pnpm'", true),
            ("we switched to pnpm", "git add . && git commit -qm x -m 'Switch to pnpm'", true),
            ("we switched to pnpm", "git commit -m 'Use pnpm in CI'", true),
            ("we switched to pnpm", "git commit -m 'Fix pnpm lockfile'", false),
            ("we switched to pnpm", "pnpm install", false),
            ("we added vite", "git commit -m 'Add vite config'", true),
            ("we added vite", "git commit -m 'Add item list'", false),
            ("the rollback", "git revert HEAD", true),
            ("the rollback", "git revert --abort", false),
            ("the rollback", "kubectl rollout undo deployment/app", true),
        ] {
            assert_eq!(command_shows(&event(name), command), expect, "{name}: {command}");
        }
        let folded = "git add . && git commit -m \"$(cat <<EOF#12ab)\"";
        let full = "git add . && git commit -m \"$(cat <<'EOF' Switch to pnpm Faster installs EOF )\"";
        assert!(commit_command_shows(&event("we switched to pnpm"), folded, full));
        assert!(!commit_command_shows(&event("we switched to pnpm"), "cat > a.sh <<EOF#12ab", full));
    }
}
