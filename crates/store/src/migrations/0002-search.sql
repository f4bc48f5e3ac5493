-- What the search index needs to follow the store.

-- The change at which everything derived from a session was last thrown away and told again.
ALTER TABLE session ADD COLUMN retold INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_by_retold ON session (space, retold);

-- Where sessions work, without reading their rows.
CREATE INDEX session_by_project ON session (space, project, cwd, agent, num);

-- Exchanges in the order they happened.
CREATE INDEX episode_by_time ON episode (space, started_at);
CREATE INDEX episode_by_id ON episode (space, id);

-- A database that was deleted and made again must not be taken for the one that was indexed.
CREATE TABLE identity (
    value INTEGER NOT NULL
) STRICT;
INSERT INTO identity (value) VALUES (random());

-- Meanings of entries as numbers, made by a model that the user chose; whole numbers from -127 to 127.
CREATE TABLE vector (
    space   TEXT NOT NULL,
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    model   TEXT NOT NULL,
    text    INTEGER NOT NULL,
    numbers BLOB NOT NULL,
    PRIMARY KEY (space, session, seq)
) STRICT, WITHOUT ROWID;
