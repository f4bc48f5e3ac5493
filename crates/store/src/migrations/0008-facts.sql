-- What was learned from sessions: things, and what is said of them. All of it is derived.

CREATE TABLE entity (
    space TEXT NOT NULL,
    num   INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    name  TEXT NOT NULL,
    PRIMARY KEY (space, num)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entity_by_name ON entity (space, kind, name);

-- A stretch of a session that facts were drawn from, and what must be remembered to go on after it.
CREATE TABLE fact_unit (
    space     TEXT NOT NULL,
    session   INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    carry     TEXT NOT NULL,
    PRIMARY KEY (space, session, first_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
    space      TEXT NOT NULL,
    session    INTEGER NOT NULL,
    unit       INTEGER NOT NULL,
    num        INTEGER NOT NULL,
    episode    INTEGER NOT NULL,
    predicate  TEXT NOT NULL,
    subject    INTEGER NOT NULL,
    object     INTEGER,
    detail     TEXT NOT NULL,
    reason     TEXT,
    quote      TEXT,
    state      TEXT NOT NULL,
    succeeded  INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    trust      TEXT NOT NULL,
    line       INTEGER NOT NULL,
    evidence   TEXT NOT NULL,
    at         INTEGER,
    learned_at INTEGER NOT NULL,
    model      TEXT,
    PRIMARY KEY (space, session, unit, num)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_by_subject ON fact (space, subject, predicate);
CREATE INDEX fact_by_object ON fact (space, object, predicate) WHERE object IS NOT NULL;
CREATE INDEX fact_by_predicate ON fact (space, predicate, at);

-- A command with its line breaks, where its target does not hold all of it.
ALTER TABLE entry ADD COLUMN script TEXT;

-- Sessions that were read before facts were drawn are drawn from when they are next looked at.
ALTER TABLE session ADD COLUMN facts INTEGER NOT NULL DEFAULT 0;
