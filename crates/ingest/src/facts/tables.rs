//! Word tables of the extraction rules.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashSet;

/// A list of words, separated by a comma and a space.
pub(super) struct WordTable {
    list: &'static str,
    words: OnceLock<FxHashSet<&'static str>>,
    automaton: OnceLock<Option<AhoCorasick>>,
}

impl WordTable {
    const fn new(list: &'static str) -> Self {
        Self { list, words: OnceLock::new(), automaton: OnceLock::new() }
    }

    /// Whether the table contains the word.
    pub(super) fn contains(&self, word: &str) -> bool {
        self.words.get_or_init(|| self.list.split(", ").collect()).contains(word)
    }

    /// Whether the text contains one of the words.
    pub(super) fn any_in_text(&self, text: &str) -> bool {
        let automaton = self.automaton.get_or_init(|| AhoCorasick::new(self.list.split(", ")).ok());
        automaton.as_ref().is_some_and(|automaton| automaton.is_match(text))
    }
}

/// Programs that show only a part of their input.
pub(super) static PARTIAL_OUTPUT_PROGRAMS: WordTable =
    WordTable::new("grep, egrep, rg, wc, awk, sed, cut, jq, sort, uniq");

/// Flags of a program that take a value before the subcommand.
pub(super) static FLAGS_WITH_VALUE: WordTable = WordTable::new(
    "-C, -c, --prefix, --manifest-path, --dir, --cwd, --filter, -F, --workspace, -f, --file, --context, \
     --namespace, -n, --project-name, --profile, --python, --package",
);

/// Programs whose first argument is a subcommand.
pub(super) static SUBCOMMAND_PROGRAMS: WordTable = WordTable::new(
    "cargo, git, npm, pnpm, yarn, bun, go, docker, docker-compose, podman, kubectl, helm, gh, glab, uv, pip, \
     pip3, poetry, pipenv, conda, make, gmake, just, task, mise, rake, rails, bundle, gem, mix, dotnet, mvn, \
     gradle, gradlew, mvnw, terraform, tofu, pulumi, aws, gcloud, az, brew, apt, apt-get, dnf, apk, rustup, \
     deno, nx, turbo, lerna, prisma, alembic, django-admin, flutter, dart, swift, xcodebuild, composer, \
     artisan, nix, ng, vercel, fly, flyctl, heroku, supabase, systemctl, service, ansible, cmake, meson, \
     ninja, bazel, buck, sbt, lein, stack, cabal, zig, hatch, tox, nox, ruff, biome, ultracite, wrangler, \
     playwright, cypress, dbt, flask, pre-commit, expo, sqlx, diesel, knex, drizzle-kit, sequelize, sam, serverless, eas, changeset, next, vite, ty",
);

/// Subcommands whose next word belongs to the name.
pub(super) static TWO_WORD_SUBCOMMANDS: WordTable = WordTable::new(
    "npm run, pnpm run, yarn run, bun run, mise run, docker compose, uv pip, go mod, deno task, cargo xtask, \
     git stash, gh pr, gh run, gh issue, gh repo, gh release, docker system, docker builder, docker image, docker volume, \
     docker network, docker container, docker buildx, docker context, podman system, podman image, podman volume, \
     npm cache, npm config, pnpm store, pnpm config, yarn cache, pip cache, uv cache, uv python, kubectl config, \
     kubectl rollout, brew services, helm repo, conda env",
);

/// Programs that run a script file.
pub(super) static INTERPRETERS: WordTable = WordTable::new(
    "python, python2, python3, node, ruby, bash, sh, zsh, tsx, ts-node, perl, php, deno, bun, Rscript, java",
);

/// Words with which a task begins that only looks at something.
pub(super) static RESEARCH_WORDS: WordTable = WordTable::new(
    "explore, review, re-review, analyze, analyse, research, find, investigate, inspect, search, plan, understand, \
     check, audit, summarize, map, trace, study, read, verify, examine, look, locate, list, identify, compare, evaluate, \
     assess, describe, explain, scan, survey",
);

/// Programs that only read.
pub(super) static READ_ONLY_PROGRAMS: WordTable = WordTable::new(
    "command, ls, cat, bat, grep, egrep, fgrep, rg, ag, ack, find, fd, head, tail, less, more, wc, which, whereis, \
     type, test, [, [[, diff, cmp, stat, file, pwd, echo, printf, true, false, sleep, kill, pkill, killall, \
     ps, pgrep, top, df, du, printenv, env, date, whoami, id, uname, tree, sort, uniq, cut, awk, tr, jq, yq, \
     basename, dirname, realpath, readlink, md5sum, sha256sum, shasum, history, man, xxd, hexdump, strings, \
     lsof, netstat, ss, open, xdg-open, clear, popd, alias, wait, seq, column, nl, comm, tput, hostname, \
     ping, dig, nslookup, for, while, if, read, exit, return, trap, exa, eza, sw_vers, ifconfig, ip, nc, \
     tmux, screen, osascript, sqlite3, Get-Content, Get-ChildItem, Select-String, Test-Path, Get-Item, \
     Get-Location, Get-Command, Write-Output, Write-Host, Select-Object",
);

/// Subcommands that only read.
pub(super) static READ_ONLY_SUBCOMMANDS: WordTable = WordTable::new(
    "git status, git log, git diff, git show, git branch, git remote, git blame, git ls-files, \
     git ls-tree, git rev-parse, git grep, git config, git describe, git tag, git reflog, git shortlog, git merge-base, \
     git cat-file, git ls-remote, git rev-list, git check-ignore, git worktree, git stash list, \
     git stash show, git for-each-ref, gh pr view, gh pr list, gh pr checks, gh pr diff, gh pr status, \
     gh run view, gh run list, gh run watch, gh issue view, gh issue list, gh api, gh repo view, gh search, \
     gh auth, docker ps, docker logs, docker images, docker inspect, docker compose ps, docker compose logs, \
     docker compose images, docker compose top, docker info, docker version, docker stats, \
     docker top, docker port, docker history, docker diff, docker events, docker search, docker system df, \
     docker system info, docker system events, docker image ls, docker image inspect, docker image history, \
     docker volume ls, docker volume inspect, docker network ls, docker network inspect, docker container ls, \
     docker container inspect, docker container logs, docker container top, docker container stats, docker buildx ls, \
     docker buildx du, docker buildx inspect, docker context ls, docker context show, podman ps, podman logs, \
     podman images, podman inspect, podman system df, podman image ls, podman volume ls, kubectl get, kubectl describe, \
     kubectl logs, kubectl top, kubectl explain, kubectl version, kubectl api-resources, kubectl cluster-info, \
     kubectl config view, kubectl config get-contexts, kubectl config current-context, kubectl rollout status, \
     kubectl rollout history, helm list, helm ls, helm status, helm get, helm history, helm show, helm repo list, \
     npm config get, npm config list, npm cache verify, npm cache ls, npm root, npm prefix, npm bin, npm whoami, npm ping, \
     npm explain, npm why, pnpm ls, pnpm outdated, pnpm root, pnpm config get, pnpm config list, \
     pnpm store path, pnpm store status, yarn list, yarn info, yarn outdated, yarn cache list, yarn cache dir, bun pm, \
     pip cache list, pip cache dir, pip cache info, pip3 list, pip3 show, pip3 freeze, uv tree, uv cache dir, \
     uv python list, uv python find, poetry show, poetry env, brew config, brew doctor, brew outdated, brew search, \
     brew deps, brew services list, brew services info, apt list, apt show, apt search, dnf list, \
     dnf info, apk info, apk list, systemctl is-active, systemctl list-units, systemctl show, systemctl is-enabled, \
     systemctl cat, systemctl list-unit-files, terraform providers, terraform version, rustup which, \
     conda info, conda env list, go version, go help, npm ls, npm list, npm view, npm outdated, npm search, \
     npm info, pnpm list, pnpm view, pnpm why, yarn why, pip show, pip list, pip freeze, uv pip, brew list, brew info, \
     go env, go list, go doc, cargo tree, cargo metadata, cargo search, cargo info, systemctl status, \
     terraform show, terraform output, rustup show, mise ls, conda list",
);

/// Programs that change something.
pub(super) static MUTATING_PROGRAMS: WordTable = WordTable::new(
    "mv, cp, rm, mkdir, rmdir, touch, chmod, chown, ln, patch, tee, unzip, tar, apt, apt-get, dnf, apk, \
     brew, systemctl, service, createdb, dropdb, rsync, truncate, install, corepack, nvm, fnm, asdf",
);

/// Subcommands that change something.
pub(super) static MUTATING_SUBCOMMANDS: WordTable = WordTable::new(
    "git checkout, git switch, git restore, git reset, git revert, git stash pop, git stash apply, \
     git stash push, git stash, git pull, git merge, git rebase, git cherry-pick, git apply, git am, \
     git clean, git rm, git mv, git init, git clone, git submodule, npm install, npm i, npm ci, \
     npm uninstall, npm update, npm rebuild, npm link, npm dedupe, pnpm install, pnpm i, pnpm add, \
     pnpm remove, pnpm update, pnpm approve-builds, yarn install, yarn add, yarn remove, bun install, \
     bun add, bun remove, pip install, pip3 install, pip uninstall, uv add, uv sync, uv remove, uv lock, \
     uv pip install, uv venv, poetry add, poetry install, poetry remove, poetry lock, poetry update, \
     pipenv install, conda install, cargo add, cargo remove, cargo update, cargo clean, cargo fmt, \
     cargo fix, cargo install, cargo generate-lockfile, go get, go mod tidy, go mod vendor, go mod download, \
     go mod init, go install, go generate, gem install, bundle install, bundle update, bundle add, \
     composer install, composer require, composer update, docker compose up, docker compose down, \
     docker compose restart, docker compose build, docker compose start, docker compose stop, docker start, \
     docker stop, docker rm, docker pull, docker restart, docker volume, docker system, docker network, docker kill, \
     docker rmi, docker login, docker load, docker tag, docker system prune, docker builder prune, docker image prune, \
     docker image rm, docker image pull, docker volume prune, docker volume rm, docker volume create, \
     docker network prune, docker network rm, docker network create, docker container prune, docker container rm, \
     docker container stop, docker container start, docker container restart, docker buildx prune, docker buildx create, \
     docker buildx use, docker context use, podman rm, podman rmi, podman stop, podman start, podman system prune, \
     podman image prune, podman volume rm, npm cache clean, npm config set, npm config delete, npm prune, pnpm store prune, \
     pnpm config set, pnpm prune, yarn cache clean, pip cache purge, uv cache clean, uv cache prune, uv python install, \
     kubectl config set-context, kubectl config use-context, kubectl rollout restart, kubectl rollout undo, \
     helm repo add, helm repo update, conda env create, conda env update, \
     prisma generate, prisma migrate, prisma db, alembic upgrade, alembic stamp, rails db:migrate, \
     rake db:migrate, terraform init, terraform import, terraform state, rustup target, rustup component, \
     rustup update, rustup default, rustup override, mise install, mise use, mise trust, mix deps.get, \
     dotnet add, dotnet restore, flutter pub, dart pub, ruff format, nx reset, gcloud config, gcloud auth, \
     aws configure, kubectl apply, kubectl delete, helm install, helm upgrade, helm rollback, \
     helm uninstall, kubectl rollout, kubectl create, kubectl patch, kubectl scale, helm repo, \
     helm dependency",
);

/// Flags that change the output, not the effect.
pub(super) static FORMATTING_FLAGS: WordTable = WordTable::new(
    "-v, -vv, -vvv, -q, --quiet, --verbose, --color, --no-color, -x, -s, --nocapture, --no-fail-fast, \
     --silent, --tb=short, --tb=long, --tb=no, --tb=line, --no-header, --message-format=short, \
     --reporter=verbose, --reporter=dot, --stacktrace, --info, --offline, --locked, --, --all, \
     --no-progress, --progress=plain",
);

/// Commands that add the packages they name.
pub(super) static INSTALL_COMMANDS: WordTable = WordTable::new(
    "cargo add, npm install, npm i, npm add, pnpm add, pnpm install, pnpm i, yarn add, bun add, bun install, \
     pip install, pip3 install, uv add, uv pip install, poetry add, pipenv install, conda install, go get, \
     gem install, bundle add, composer require, apt install, apt-get install, apk add, brew install, \
     dnf install, dotnet add, mix deps.add, cargo install, go install",
);

/// Commands that remove the packages they name.
pub(super) static UNINSTALL_COMMANDS: WordTable = WordTable::new(
    "cargo remove, cargo rm, npm uninstall, npm remove, npm rm, pnpm remove, pnpm rm, yarn remove, \
     bun remove, pip uninstall, pip3 uninstall, uv remove, poetry remove, pipenv uninstall, gem uninstall, \
     composer remove, apt remove, apt-get remove, brew uninstall",
);

/// Flags of package managers that take a value.
pub(super) static INSTALLER_FLAGS_WITH_VALUE: WordTable = WordTable::new(
    "-r, --requirement, -c, --constraint, --features, -F, --group, --prefix, --filter, -C, --dir, -i, \
     --index-url, --extra, -p, --package, --version, -v, --tag, --rename, --optional-group, -E, -e, \
     --registry, -w, --workspace, --git, --branch, --path, -n, --target, -t",
);

/// Flags that skip something.
pub(super) static NARROWING_FLAGS: WordTable = WordTable::new(
    "-k, -t, -m, -p, -run, --run, --test, --lib, --bin, --grep, --filter, --package, --ignore, --skip, \
     --exclude, --deselect, --only, --testNamePattern, --testPathPattern, --changed, --bail, \
     --passWithNoTests, --help, --version, --dry-run, --list, --collect-only, --no-verify",
);

/// Words in the name of a command whose success verifies that something works.
pub(super) static VERIFYING_WORDS: WordTable = WordTable::new(
    "test, build, check, lint, typecheck, tsc, pytest, vitest, jest, mypy, pyright, clippy, compile, vet, \
     rspec, ruff, eslint, verify, nextest, tox, nox, playwright, cypress, phpunit, ctest, docker, bench, \
     doc, make, gcc, g++, clang, clang++, ninja, cmake, rustc, javac",
);

/// Words in the name of a command that runs tests.
pub(super) static TEST_WORDS: WordTable = WordTable::new(
    "test, tests, testing, pytest, vitest, jest, rspec, nextest, tox, nox, playwright, cypress, phpunit, ctest, \
     spec, e2e, mocha, ava, unittest, minitest",
);

/// Words in the name of a command that checks code without running it.
pub(super) static LINT_WORDS: WordTable = WordTable::new(
    "lint, linter, eslint, oxlint, clippy, ruff, mypy, pyright, basedpyright, ty, tsc, tsgo, typecheck, types, check, \
     vet, shellcheck, biome, flake8, pylint, stylelint, golangci, rubocop, knip, verify, detekt, ktlint, credo",
);

/// Words in the name of a command that formats code.
pub(super) static FORMAT_WORDS: WordTable =
    WordTable::new("fmt, format, prettier, black, gofmt, rustfmt, isort, dprint, clangformat");

/// Words in the name of a command that builds.
pub(super) static BUILD_WORDS: WordTable = WordTable::new(
    "build, compile, make, cmake, ninja, meson, gcc, g++, clang, clang++, cc, rustc, javac, webpack, rollup, esbuild, \
     tsup, xcodebuild, bazel, assemble, package, assembleDebug",
);

/// Commands that install dependencies without naming them.
pub(super) static INSTALLING_SUBCOMMANDS: WordTable = WordTable::new(
    "npm ci, yarn, yarn install, uv sync, bundle install, poetry install, composer install, go mod tidy, \
     go mod download, mix deps.get, dotnet restore, flutter pub, pip3, cargo fetch",
);

/// Commands that run until they are stopped.
pub(super) static SERVER_NAMES: WordTable = WordTable::new(
    "vite, vite dev, vite preview, next dev, next start, nuxt dev, astro dev, remix dev, rails s, rails server, \
     uvicorn, gunicorn, hypercorn, daphne, flask run, watch, nodemon, entr, watchexec, fswatch, cargo watch, \
     http.server, wrangler dev, expo start, ng serve, jupyter, streamlit, ngrok, kubectl port-forward, redis-server, \
     postgres, mongod, caddy, nginx, npm start, yarn start, pnpm start, bun start, php artisan, storybook, top, htop",
);

/// Words in the name of a script that runs until it is stopped.
pub(super) static SERVER_WORDS: WordTable = WordTable::new("dev, serve, server, watch, start, preview, runserver");

/// Commands that run a program of the project.
pub(super) static PROGRAM_RUNNERS: WordTable =
    WordTable::new("node, bun, deno, java, cargo run, go run, dotnet run, swift run, deno run, electron");

/// Commands that only move files or text around.
pub(super) static FILE_UTILITIES: WordTable = WordTable::new(
    "mkdir, rmdir, cp, mv, rm, touch, chmod, chown, ln, sed, awk, perl, tee, tar, zip, unzip, gzip, gunzip, truncate, \
     rsync, git add, git mv, git rm, xargs, export, unset, ulimit, umask, shopt, local, declare, nohup, sudo, time, \
     defaults, pbcopy, base64, openssl, hash, let, shift, eval, timeout",
);

/// Read-only programs that search.
pub(super) static SEARCH_PROGRAMS: WordTable = WordTable::new("grep, egrep, fgrep, rg, ag, ack, find, fd, git grep");

/// Phrases with which a human reports that something works.
pub(super) static WORKS_PHRASES: WordTable = WordTable::new(
    "works now, it works, that works, that worked, this works, that fixed, fixed it, it's fixed, its fixed, \
     works!, works again, working now, is fixed now, all green, passes now, pass now, no more error, \
     problem solved, that did it, that did the trick",
);

/// Phrases that negate such a report.
pub(super) static NOT_WORKING_PHRASES: WordTable = WordTable::new(
    "?, doesn't, does not, didn't, not work, don't, if it, make sure, until, still, once it, when it, so that",
);

/// Phrases with which a model reports a fix.
pub(super) static FIXED_PHRASES: WordTable =
    WordTable::new("i fixed the, i've fixed the, i have fixed the, is fixed now, is now fixed, has been fixed");

/// Phrases that explain a failure.
pub(super) static EXPLAINING_PHRASES: WordTable = WordTable::new(
    "because, root cause, the issue is, the problem is, the issue was, the problem was, turns out, due to, caused by, \
     is missing, are missing, was missing, which is why, no longer, doesn't exist, does not exist, isn't installed, \
     is not installed, expects ",
);

/// Phrases of a plan, which is not an explanation.
pub(super) static PLANNING_PHRASES: WordTable = WordTable::new(
    "let me, let's, i need to, we need to, i'll , i will , i should, now i, next, instead i, i won't, want me",
);
