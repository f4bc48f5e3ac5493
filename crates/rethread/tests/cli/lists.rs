//! Order, time and format of lists, the pager, and the scripts for shells.

use std::process::{Command, Stdio};

use crate::transcripts::{CLAUDE, home_with_agents, new_home, read_home};
use rethread_testing::TestHome;

fn ids(home: &TestHome, arguments: &[&str]) -> Vec<String> {
    let all = [&["sessions", "--all-projects", "--format", "tsv"], arguments].concat();
    let text = home.run_ok(&all);
    let lines = text.lines().skip(1);
    lines.map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn sessions_are_sorted_limited_and_printed_as_values() {
    let home = read_home();
    let csv = home.run_ok(&["sessions", "--all-projects", "--format", "csv"]);
    assert!(csv.starts_with("id,agent,name,project,branch,model,state,started,last_activity,prompts,"), "{csv}");
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.contains('"') || line.split(',').count() == columns), "{csv}");
    let by_errors = ids(&home, &["--sort", "errors"]);
    assert_eq!(by_errors.len(), ids(&home, &[]).len());
    assert_eq!(ids(&home, &["--sort", "errors", "--limit", "1"]), by_errors[..1]);
    assert!(home.run_ok(&["show", &by_errors[0], "--json"]).contains(CLAUDE), "it has most errors");
    assert_eq!(ids(&home, &["--since", "2026-02-20"]).len(), 2);
    assert_eq!(home.run(&["sessions", "--since", "teatime"]).status.code(), Some(2));
    assert_eq!(home.run(&["sessions", "--format", "csv", "--json"]).status.code(), Some(2));
}

#[test]
fn usage_is_sorted_and_printed_as_values() {
    let home = read_home();
    let rows = home.run_ok(&["usage", "--all-projects", "--by", "model", "--sort", "tokens", "--format", "csv"]);
    assert!(rows.starts_with("model,messages,input,output,"), "{rows}");
    let json: serde_json::Value =
        serde_json::from_str(&home.run_ok(&["usage", "--all-projects", "--by", "model", "--json"])).unwrap();
    assert_eq!(rows.lines().count(), 1 + json["groups"].as_array().unwrap().len());
}

#[test]
fn long_results_go_through_the_pager_on_a_terminal_only() {
    let home = read_home();
    let pager = ("RETHREAD_PAGER", "sed 's/^/paged: /'");
    let show = ["show", CLAUDE, "--full", "--profile", "full"];
    let on_screen = |arguments: &[&str], variables: &[(&str, &str)]| {
        let terminal = [("TERM", "xterm"), ("PATH", "/usr/bin:/bin"), ("NO_COLOR", "1")];
        home.run_in_terminal_with(arguments, "", &[&terminal, variables].concat()).1
    };
    let paged = on_screen(&show, &[pager]);
    assert!(paged.lines().all(|line| line.starts_with("paged: ")) && paged.contains("And the tests?"), "{paged}");
    let fits = on_screen(&["show", CLAUDE, "--lines", "1"], &[pager]);
    assert!(!fits.contains("paged: "), "{fits}");
    for (arguments, variables) in [
        ([&show[..], &["--no-pager"]].concat(), vec![pager]),
        (show.to_vec(), vec![("RETHREAD_PAGER", "cat"), ("PAGER", pager.1)]),
        (show.to_vec(), vec![("RETHREAD_PAGER", "")]),
        ([&show[..], &["--json"]].concat(), vec![pager]),
        (show.to_vec(), vec![pager, ("TERM", "dumb")]),
        (show.to_vec(), vec![("RETHREAD_PAGER", "no-such-pager-here")]),
    ] {
        let plain = on_screen(&arguments, &variables);
        assert!(!plain.contains("paged: ") && plain.contains("And the tests?"), "{arguments:?}: {plain}");
    }
    let set = [&show[..], &["-c", "display.pager=sed 's/^/paged: /'"]].concat();
    assert!(on_screen(&set, &[("PAGER", "cat")]).starts_with("paged: "), "the setting comes before PAGER");
    let piped = home.command(&show).envs([pager]).output().unwrap();
    assert!(!String::from_utf8_lossy(&piped.stdout).contains("paged: "));
}

#[test]
fn shell_scripts_have_completions_and_the_key() {
    let home = new_home();
    for (shell, alt_r, ctrl_g) in [
        ("bash", r#""\er": __rethread_pick"#, r#""\C-g": __rethread_pick"#),
        ("zsh", "'^[r' __rethread_pick", "'^G' __rethread_pick"),
        ("fish", r"\er __rethread_pick", r"\cg __rethread_pick"),
        ("powershell", "-Chord 'Alt+r'", "-Chord 'Ctrl+g'"),
    ] {
        let script = home.run_ok(&["shell", shell]);
        assert!(script.contains(alt_r) && script.contains("COMPLETE") && !script.contains("@KEY@"), "{script}");
        assert!(home.run_ok(&["shell", shell, "--key", "ctrl-g"]).contains(ctrl_g), "{shell}");
        assert!(!home.run_ok(&["shell", shell, "--key", "none"]).contains("tui --inline"), "{shell}");
    }
    let mut check = Command::new("bash").args(["-n"]).stdin(Stdio::piped()).spawn().unwrap();
    let script = home.run_ok(&["shell", "bash"]);
    std::io::Write::write_all(&mut check.stdin.take().unwrap(), script.as_bytes()).unwrap();
    assert!(check.wait().unwrap().success());
}

#[test]
fn a_setting_is_unset_and_edited() {
    let home = new_home();
    home.write(".rethread/config.toml", "# mine\n[intake]\n# slow disk\nmode = \"batch\"\nenabled = true\n");
    home.run_ok(&["config", "unset", "intake.mode"]);
    assert_eq!(home.read(".rethread/config.toml"), "# mine\n[intake]\n# slow disk\nenabled = true\n");
    assert_eq!(home.run_ok(&["config", "get", "intake.mode"]), "realtime\n");
    assert_eq!(home.run(&["config", "unset", "intake.mode"]).status.code(), Some(1));
    assert_eq!(home.run(&["config", "unset", "intake.nothing"]).status.code(), Some(2));

    let edit = |editor: &str| {
        let path = [("PATH", "/usr/bin:/bin"), ("EDITOR", editor)];
        let output = home.command(&["config", "edit"]).envs(path).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = edit("sed -i 's/enabled = true/enabled = false/'");
    assert_eq!(code, Some(0), "{text}");
    assert!(home.read(".rethread/config.toml").contains("enabled = false"));
    let (code, text) = edit("sed -i 's/enabled = false/enabled = perhaps/'");
    assert_eq!(code, Some(2));
    assert!(text.contains("invalid TOML"), "{text}");
    let (code, text) = edit("sed -i 's/enabled = perhaps/colour = 1/'");
    assert_eq!(code, Some(2));
    assert!(text.contains("unknown setting \"intake.colour\""), "{text}");
    let (code, text) = edit("false");
    assert_eq!(code, Some(3));
    assert!(text.contains("the editor \"false\" failed"), "{text}");
}

#[test]
fn a_purge_restores_agents_deletes_the_memory_and_spares_other_files() {
    let home = home_with_agents();
    home.write(".codex/config.toml", "# mine\n");
    home.run_ok(&["install", "--all", "--mcp"]);
    home.run_ok(&["sync"]);
    home.write(".rethread/notes.txt", "my own");
    let refused = home.run(&["uninstall", "--all", "--purge"]);
    assert_eq!(refused.status.code(), Some(2), "without a terminal it needs --yes");
    assert!(home.path(".rethread/memory.db").exists() && home.path(".codex/hooks.json").exists());
    let (_, screen) = home.run_in_terminal(&["uninstall", "--all", "--purge"], "\n");
    assert!(screen.contains("Delete the memory? [y/N]") && screen.contains("Nothing was changed."), "{screen}");
    assert!(home.path(".rethread/memory.db").exists() && home.path(".codex/hooks.json").exists());

    let output = home.run(&["uninstall", "--all", "--purge", "--yes"]);
    let receipt = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(receipt.contains("memory.db") && receipt.contains("in total."), "{receipt}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("notes.txt: not created by Rethread"));
    assert_eq!(home.read(".codex/config.toml"), "# mine\n");
    assert!(!home.path(".codex/hooks.json").exists());
    assert_eq!(rethread_testing::files_below(&home.path(".rethread")).len(), 1);
    std::fs::remove_file(home.path(".rethread/notes.txt")).unwrap();
    home.run_ok(&["uninstall", "--all", "--purge", "--yes"]);
    assert!(!home.has_rethread_dir());
}

#[test]
fn a_purge_stops_the_server_first() {
    let home = read_home();
    let mut server = home.serve(&[]);
    let output = home.run(&["uninstall", "--all", "--purge", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(server.stop().code().is_some());
    assert!(!home.has_rethread_dir());
}

#[test]
fn a_purge_needs_all_and_its_errors_are_json_too() {
    let home = read_home();
    for arguments in [&["uninstall", "--purge"][..], &["uninstall", "claude-code", "--purge"]] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--purge needs --all"), "{arguments:?}");
    }
    for arguments in [&["uninstall", "--purge", "--json"][..], &["uninstall", "--all", "--purge", "--json"]] {
        let output = home.run(arguments);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    assert!(home.has_rethread_dir());
}

#[test]
fn the_table_shows_what_it_is_sorted_by() {
    let home = read_home();
    for (order, heading) in [("cost", "COST"), ("tokens", "TOKENS"), ("duration", "TIME"), ("errors", "ERRORS")] {
        for columns in ["60", "200"] {
            let mut command = home.command(&["sessions", "--all-projects", "--sort", order]);
            let output = command.env("COLUMNS", columns).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(text.lines().next().unwrap().matches(heading).count(), 1, "{text}");
            let width = columns.parse::<usize>().unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }
}

#[test]
fn a_setting_of_another_file_is_not_unset_and_an_unknown_one_is() {
    let home = new_home();
    home.write(".rethread/config.toml", "[intake]\nfoo = 1\n");
    std::fs::write(home.work_dir().join(".rethread.toml"), "[intake]\nmode = \"batch\"\n").unwrap();
    let output = home.run(&["config", "unset", "intake.mode"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it is set in"));
    home.run_ok(&["config", "unset", "intake.foo"]);
    assert!(!home.read(".rethread/config.toml").contains("foo"));
}

#[test]
fn a_limit_of_zero_claims_nothing_about_the_project() {
    let home = read_home();
    let output = home.run(&["sessions", "--all-projects", "--limit", "0"]);
    assert!(output.status.code() == Some(1) && output.stderr.is_empty());
}
