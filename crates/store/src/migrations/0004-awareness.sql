-- What only we know of sessions' lives. Keyed by the agent's own id: hooks come before the transcript is read.

CREATE TABLE life (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    period      INTEGER NOT NULL,
    period_at   INTEGER NOT NULL,
    touched_at  INTEGER NOT NULL,
    closed      TEXT,
    closed_at   INTEGER,
    task        TEXT,
    name        TEXT,
    events      INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- The last events of a session; `life.events` counts all of them.
CREATE TABLE life_event (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    num         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    detail      TEXT NOT NULL,
    PRIMARY KEY (space, agent, external_id, num)
) STRICT, WITHOUT ROWID;

-- What a session did that matters now.
CREATE TABLE hot (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    num         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    text        TEXT NOT NULL,
    PRIMARY KEY (space, agent, external_id, num)
) STRICT, WITHOUT ROWID;

-- How far a reader has seen another session.
CREATE TABLE seen (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    session     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id, session)
) STRICT, WITHOUT ROWID;

-- What was said to a session already, by a hash of it.
CREATE TABLE told (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    hash        INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id, hash)
) STRICT, WITHOUT ROWID;

-- Every text that was given to an agent.
CREATE TABLE injection (
    space       TEXT NOT NULL,
    num         INTEGER NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    at          INTEGER NOT NULL,
    event       TEXT NOT NULL,
    text        TEXT NOT NULL,
    parts       TEXT NOT NULL,
    hash        INTEGER NOT NULL,
    micros      INTEGER NOT NULL,
    PRIMARY KEY (space, num)
) STRICT, WITHOUT ROWID;
CREATE INDEX injection_by_session ON injection (space, agent, external_id, num);

-- Who is at work in a project.
CREATE INDEX session_by_life ON session (space, project, last_at);
