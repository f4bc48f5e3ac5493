//! Checks the source tree: crate dependencies, first lines, sizes and forbidden words.
//!
//! Reads the tree as text and builds nothing. Each check is one test; findings are listed as
//! `file:line` with a hint.

mod checks;
mod text;
mod tree;
mod type_names;
mod wording;

use std::fs;

use checks::{
    bad_ids, forbidden_arrows, inherits_lints, machine_paths, mentions, opening, spaceless_sql, sql, too_long,
    undocumented_ids, unportable_sql, words,
};
use rethread_model::Agent;
use tree::{documents, files_below, manifests, over, report, root, rust_files, shown, tracked_files};

/// Which crate may depend on which: the table of ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 9] = [
    ("model", &[]),
    ("ingest", &["model"]),
    ("store", &["model"]),
    ("index", &["model", "store"]),
    ("recall", &["model", "store", "index"]),
    ("llm", &["model"]),
    ("engine", &["model", "ingest", "store", "index", "recall", "llm"]),
    ("rethread", &["model", "engine"]),
    // A dev-dependency of the others, which does not count.
    ("testing", &["model", "store", "engine"]),
];

/// Where the SQLite library is used: as a driver, and to read broken files.
const DRIVER_FOLDERS: [&str; 2] = ["crates/store/src/sql/", "crates/store/src/salvage/"];

#[test]
fn each_crate_uses_only_allowed_crates() {
    let found = over(&manifests(), |name, text| {
        let folder = name.split('/').nth(1).unwrap_or_default();
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == folder) else {
            let known = name.starts_with("benches/");
            return if known { vec![] } else { vec![(1, format!("{folder} is not in ARROWS"))] };
        };
        forbidden_arrows(text, allowed)
    });
    report(&found, "reverse the dependency, or change ARCHITECTURE.md and ARROWS first");
}

#[test]
fn only_the_store_uses_sql_and_only_some_crates_connect() {
    let mut found = over(&rust_files(), |name, text| if may_use_sql(name) { vec![] } else { sql(text) });
    found.extend(over(&rust_files(), |name, text| words(text, &kept_out(name))));
    found.extend(over(&manifests(), |name, text| mentions(text, &kept_out(name))));
    report(&found, "call the store's or the llm crate's functions instead");
}

#[test]
fn sql_of_the_store_is_portable() {
    let found = over(&rust_files(), |name, text| {
        let is_driver = DRIVER_FOLDERS.iter().any(|folder| name.starts_with(folder));
        if name.starts_with("crates/store/src/") && !is_driver { unportable_sql(text) } else { vec![] }
    });
    report(&found, "write SQL that SQLite and PostgreSQL share, or add to crates/store/src/sql/dialect.rs");
}

#[test]
fn statements_of_the_store_name_the_space() {
    let found = over(&rust_files(), |name, text| {
        let is_driver = DRIVER_FOLDERS.iter().any(|folder| name.starts_with(folder));
        let is_product = name.starts_with("crates/store/src/") && !name.ends_with("/tests.rs");
        if is_product && !is_driver { spaceless_sql(text) } else { vec![] }
    });
    report(&found, "restrict every table with `space = ?1`; see crates/testing/src/statements");
}

#[test]
fn each_rust_file_starts_with_a_sentence() {
    let found = over(&rust_files(), |_, text| opening(text));
    report(&found, "write on line 1 what the file does: `//! Splits entries into episodes.`");
}

#[test]
fn no_file_or_function_is_too_long() {
    let found = over(&rust_files(), |_, text| too_long(text));
    report(&found, "split it; a function that must be long says `// tidy: long because …`");
}

#[test]
fn each_agent_has_a_folder_a_fixture_and_a_mention() {
    let ingest = root().join("crates/ingest");
    let readme = fs::read_to_string(root().join("README.md")).unwrap_or_default();
    let mut found = Vec::new();
    for agent in Agent::ALL {
        // The compiler checks the row in FORMATS, and the scenario `counting` the numbers in `expected.json`.
        let folder = agent.as_str().replace('-', "_");
        for file in [format!("src/agents/{folder}/mod.rs"), format!("tests/fixtures/{folder}/expected.json")] {
            if !ingest.join(&file).exists() {
                found.push(format!("crates/ingest/{file}: missing"));
            }
        }
        if !readme.contains(agent.label()) {
            found.push(format!("README.md: does not name {}", agent.label()));
        }
    }
    report(&found, "CONTRIBUTING.md says how to add an agent");
}

#[test]
fn each_hook_host_has_a_fixture() {
    let engine = root().join("crates/engine");
    let mut found = Vec::new();
    for file in files_below(&engine.join("src/hook/hosts"), &["rs"]) {
        let host = file.file_stem().unwrap_or_default().to_string_lossy().replace('_', "-");
        let fixtures = engine.join("tests/fixtures/hosts").join(&host);
        if !["mod", "tests"].contains(&&*host) && files_below(&fixtures, &["json"]).is_empty() {
            found.push(format!("{}:1: no file in tests/fixtures/hosts/{host}/", shown(&file)));
        }
    }
    report(&found, "add a file per event with payloads, their meaning and the answer");
}

#[test]
fn only_the_printer_prints() {
    let found = over(&rust_files(), |name, text| {
        let may =
            name == "crates/rethread/src/printer.rs" || name.starts_with("benches/") || name.ends_with("/build.rs");
        if may { vec![] } else { words(text, &["println!", "print!", "eprintln!", "eprint!"]) }
    });
    report(&found, "give the text to the printer, or log it with tracing");
}

#[test]
fn no_unfinished_or_silenced_code() {
    let needles = ["todo!", "unimplemented!", "dbg!", "#[allow(", "#![allow("];
    let found = over(&rust_files(), |_, text| words(text, &needles));
    report(&found, "finish it; for a lint write `#[expect(lint, reason = \"…\")]`");
}

#[test]
fn no_path_of_this_machine_in_the_tree() {
    let found = over(&tracked_files(), |_, text| machine_paths(text));
    report(&found, "use an invented path such as /home/dev/app");
}

#[test]
fn behavior_ids_are_well_formed() {
    let found = over(&rust_files(), |name, text| bad_ids(text, name.split('/').nth(2) == Some("tests")));
    report(
        &found,
        "write an id as S000-13 (S, E or L, 000 to 004, two digits), in the first comment of the test, not in its name",
    );
}

#[test]
fn each_package_inherits_the_workspace_lints() {
    let found =
        over(
            &manifests(),
            |_, text| {
                if inherits_lints(text) { vec![] } else { vec![(1, "no [lints] workspace = true".into())] }
            },
        );
    report(&found, "add `[lints]` and `workspace = true` to the manifest");
}

#[test]
fn wording_is_plain() {
    let mut found = over(&rust_files(), wording::in_rust);
    found.extend(over(&documents(), wording::in_prose));
    report(&found, "use the words of docs/glossary.md; an exception needs a reason in EXCEPTIONS of wording.rs");
}

#[test]
fn type_names_are_unique() {
    report(
        &type_names::repeated(&rust_files()),
        "rename one, or list the name in SHARED of type_names.rs with a reason",
    );
}

#[test]
fn modules_with_children_are_folders_with_mod_rs() {
    let files = rust_files();
    let has_folder = |name: &str| {
        let folder = name.strip_suffix(".rs").unwrap_or(name);
        files.iter().any(|(other, _)| other.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    let found: Vec<_> =
        files.iter().filter(|(name, _)| has_folder(name)).map(|(name, _)| format!("{name}:1")).collect();
    report(&found, "move `name.rs` to `name/mod.rs` (in tests: `name/main.rs`)");
}

#[test]
fn behavior_ids_are_documented() {
    let documented = fs::read_to_string(root().join("docs/behaviors.md")).unwrap_or_default();
    let found = over(&rust_files(), |_, text| undocumented_ids(text, &documented));
    report(&found, "add the id and what it means to docs/behaviors.md");
}

/// Whether a file may contain SQL: the store, the readers of agents' databases, and tests that write such databases.
fn may_use_sql(name: &str) -> bool {
    let folders = [
        "crates/store/",
        "crates/ingest/src/agents/",
        "crates/ingest/src/source/database.rs",
        "crates/engine/tests/scenarios/agent_databases.rs",
        "crates/testing/src/postgres.rs",
        "crates/testing/src/statements/",
        "crates/engine/tests/scenarios/stores_changed_in_place.rs",
    ];
    folders.iter().any(|folder| name.starts_with(folder))
}

/// Database and network crates that the file `name` must not use.
fn kept_out(name: &str) -> Vec<&'static str> {
    let within = |folders: &[&str]| folders.iter().any(|folder| name.starts_with(folder));
    // The agents' own databases; ours stays in the store.
    let database: &[&str] = if within(&["crates/store/", "crates/ingest/"]) { &[] } else { &["rusqlite"] };
    let outward = within(&["crates/llm/", "crates/rethread/", "crates/testing/"]);
    let network: &[&str] = if outward { &[] } else { &["ureq", "reqwest", "TcpStream"] };
    [database, network].concat()
}
