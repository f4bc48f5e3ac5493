//! Statements that the check must accept, and ones that reach another space.

use super::{names_one_space, operator_statement};

#[test]
fn statements_of_one_space_are_accepted() {
    for sql in [
        "SELECT 1 FROM entry WHERE space = ?1 AND (seq > ?2 OR seq = 0)",
        "SELECT 1 FROM entry e JOIN session s ON s.space = e.space AND s.number = e.session WHERE e.space = ?1",
        "SELECT 1 FROM entry JOIN session USING (space) WHERE entry.space = ?1",
        "SELECT 1 FROM session s LEFT JOIN card c ON c.space = s.space WHERE ?1 = s.space",
        "SELECT 1 FROM session s WHERE s.space = ?1 AND EXISTS (SELECT 1 FROM entry e WHERE e.space = s.space)",
        "WITH x AS (SELECT seq FROM entry WHERE space = ?1) SELECT seq FROM x UNION SELECT seq FROM x",
        "SELECT a.seq FROM (SELECT seq FROM entry INDEXED BY entry_by_x WHERE space = ?1) a",
        "INSERT INTO entry (\"space\", seq) VALUES (?1, ?2) ON CONFLICT (space, seq) DO UPDATE SET seq = excluded.seq",
        "INSERT INTO entry (space, seq) SELECT space, seq FROM set_aside_entry WHERE space = ?1 ON CONFLICT DO NOTHING",
        "UPDATE entry SET seq = (SELECT max(seq) FROM session WHERE space = ?1) WHERE space = ?1",
        "DELETE FROM entry WHERE space = ?1 AND session IN (SELECT number FROM session WHERE space = ?1)",
        "SELECT value FROM store_identity",
    ] {
        assert_eq!(names_one_space(sql), Ok(()), "{sql}");
    }
}

#[test]
fn statements_that_reach_another_space_are_found() {
    for sql in [
        "SELECT 1 FROM entry",
        "SELECT 1 FROM entry WHERE space = ?2",
        "SELECT 1 FROM entry WHERE space <> ?1",
        "SELECT 1 FROM entry WHERE space = ?1 OR seq = 0",
        "SELECT 1 FROM entry e JOIN session s ON s.number = e.session WHERE e.space = ?1",
        "SELECT 1 FROM entry e JOIN session s USING (number) WHERE e.space = ?1",
        "SELECT 1 FROM entry, session WHERE space = ?1",
        "SELECT 1 FROM session s LEFT JOIN card c ON s.space = ?1 AND c.space = ?1",
        "SELECT 1 FROM session s LEFT JOIN card c ON TRUE WHERE s.space = ?1",
        "SELECT 1 FROM session s RIGHT JOIN card c ON c.space = s.space WHERE s.space = ?1",
        "SELECT 1 FROM session WHERE space = ?1 AND number IN (SELECT session FROM entry)",
        "SELECT (SELECT max(seq) FROM entry) FROM session WHERE space = ?1",
        "WITH x AS (SELECT seq FROM entry) SELECT seq FROM x",
        "SELECT 1 FROM entry WHERE space = ?1 UNION SELECT 1 FROM entry",
        "SELECT 1 FROM (SELECT seq FROM entry) a",
        "INSERT INTO entry (seq) VALUES (?1)",
        "INSERT INTO entry (space, seq) VALUES (?1, ?2), (?2, ?2)",
        "INSERT INTO entry SELECT * FROM set_aside_entry WHERE space = ?1",
        "INSERT INTO entry (seq, space) SELECT space, seq FROM set_aside_entry WHERE space = ?1",
        "INSERT INTO entry (space, seq) SELECT ?1, seq FROM set_aside_entry",
        "INSERT INTO entry (space, seq) VALUES (?1, ?2) ON CONFLICT (seq) DO UPDATE SET seq = 1",
        "UPDATE entry SET seq = 1",
        "UPDATE entry SET seq = (SELECT max(seq) FROM session) WHERE space = ?1",
        "DELETE FROM entry WHERE seq = 1",
        "DELETE FROM entry WHERE space = ?1; DELETE FROM entry",
        "DROP TABLE entry",
        "UPDATE entry SET at = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) WHERE space = ?1",
        "/* operator: unknown */ SELECT 1 FROM entry",
    ] {
        assert!(names_one_space(sql).is_err(), "{sql}");
    }
    assert_eq!(operator_statement("/* operator: all_spaces */ SELECT 1 FROM space"), Some("all_spaces"));
}
