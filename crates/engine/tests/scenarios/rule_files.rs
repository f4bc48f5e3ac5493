//! Rules in files for agents are read from disk when decisions are asked for.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{AskRequest, DecisionRequest, SessionScope};
use rethread_model::Predicate;
use rethread_testing::{TestHome, TranscriptBuilder};

use crate::session_helpers::{ANNA, at, transcript};

/// A home with a project that has a session and rule files.
fn home() -> (TestHome, String) {
    let home = TestHome::new();
    home.write("app/.git/HEAD", "ref: refs/heads/main\n");
    let project = home.path("app").canonicalize().unwrap().to_string_lossy().into_owned();
    let session = TranscriptBuilder::new(ANNA).cwd(&project).times(at(0), 0).user("write the docs");
    home.write(&transcript(ANNA), session.build());
    home.sync();
    (home, project)
}

/// Each rule as `sign subject (origin)`.
fn rules(home: &TestHome, request: &DecisionRequest) -> Vec<String> {
    let found = home.engine().facts().file_rules(request).unwrap();
    let shown = |one: &rethread_engine::FileRule| {
        let sign = if one.rule.predicate == Predicate::Forbids { "-" } else { "+" };
        format!("{sign}{} ({})", one.rule.subject, one.origin())
    };
    found.iter().map(shown).collect()
}

fn within(project: &str) -> DecisionRequest {
    DecisionRequest { scope: SessionScope::Project(project.to_owned()), ..DecisionRequest::default() }
}

#[test]
fn rules_of_all_agents_are_listed_with_file_and_line() {
    // D37
    let (home, project) = home();
    home.write("app/CLAUDE.md", "# App\n\nThe server is in src.\n\n- Never commit to main\n- Use pnpm\n");
    home.write("app/.cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nAvoid default exports.\n");
    home.write("app/.github/copilot-instructions.md", "Do not use axios, use ky.\n");
    home.write(".claude/CLAUDE.md", "- Answer in English\n");
    assert_eq!(
        rules(&home, &within(&project)),
        [
            "-commit to main (CLAUDE.md:5)",
            "+pnpm (CLAUDE.md:6)",
            "-axios (.github/copilot-instructions.md:1)",
            "-default exports (.cursor/rules/style.mdc:4)",
            "+answer in english (~/.claude/CLAUDE.md:1)",
        ]
    );
    let axios = DecisionRequest { query: "axios".to_owned(), ..within(&project) };
    assert_eq!(rules(&home, &axios), ["-axios (.github/copilot-instructions.md:1)"]);
    home.write("app/CLAUDE.md", "- Use bun\n");
    assert!(rules(&home, &within(&project)).contains(&"+bun (CLAUDE.md:1)".to_owned()), "read again");
}

#[test]
fn rules_are_not_part_of_answers_about_the_past_or_of_other_projects() {
    let (home, project) = home();
    home.write("app/AGENTS.md", "- Use pnpm\n");
    home.write("other/AGENTS.md", "- Use yarn\n");
    let past = DecisionRequest { as_of: Some("2026-03-02".to_owned()), ..within(&project) };
    assert_eq!(rules(&home, &past), Vec::<String>::new());
    assert_eq!(rules(&home, &DecisionRequest::default()), Vec::<String>::new(), "only rules of the user");
    let unknown = home.path("other").to_string_lossy().into_owned();
    assert_eq!(rules(&home, &within(&unknown)), Vec::<String>::new(), "a directory without sessions is not read");
}

#[test]
fn links_out_of_the_project_and_secrets_do_not_get_through() {
    let (home, project) = home();
    home.write("secret.md", "- Use the private mirror\n");
    std::os::unix::fs::symlink(home.path("secret.md"), home.path("app/AGENTS.md")).unwrap();
    let key = format!("ghp_{}", "q7Zx".repeat(9));
    home.write("app/CLAUDE.md", format!("- Use the token {key} for pushes\n"));
    std::os::unix::fs::symlink(home.path("app/CLAUDE.md"), home.path("app/GEMINI.md")).unwrap();
    let found = home.engine().facts().file_rules(&within(&project)).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!format!("{found:?}").contains("q7Zx"), "{found:?}");
}

#[cfg(unix)]
#[test]
fn file_names_are_shown_without_unsafe_characters() {
    let (home, project) = home();
    home.write("app/.cursor/rules/a\u{1b}[31m\u{202e}\u{7}.mdc", "Avoid default exports.\n");
    assert_eq!(rules(&home, &within(&project)), ["-default exports (.cursor/rules/a[31m.mdc:1)"]);
}

#[test]
fn huge_files_are_read_in_part() {
    let (home, project) = home();
    home.write("app/CLAUDE.md", "- Use the tool\n".repeat(200_000));
    let rules: Vec<String> = (0..1000).map(|number| format!("- Use tool{number}")).collect();
    home.write("app/AGENTS.md", rules.join("\n"));
    assert_eq!(home.engine().facts().file_rules(&within(&project)).unwrap().len(), 200);
}

#[test]
fn rules_in_files_answer_questions_about_preferences() {
    // D37, S003-22
    let (home, project) = home();
    home.write("app/AGENTS.md", "# App\n\n- Never push to main\n- Use tabs for indentation\n");
    home.write(".claude/CLAUDE.md", "- Use pnpm instead of npm\n");
    for (question, words, citation) in [
        ("may I push to main?", "Never push to main", "AGENTS.md:3"),
        ("do we use tabs?", "tabs for indentation", "AGENTS.md:4"),
        ("npm or pnpm?", "pnpm instead of npm", "~/.claude/CLAUDE.md:1"),
    ] {
        let request = AskRequest { question: question.to_owned(), ..AskRequest::default() };
        let scope = SessionScope::Project(project.clone());
        let answer = home.engine().questions().ask_project(&request, &scope).unwrap().answer;
        let first = answer.items.first().map_or_else(String::new, rethread_engine::AnswerItem::to_line);
        assert!(first.contains(words) && first.contains(&format!("[{citation}]")), "{question}: {first}");
    }
}
