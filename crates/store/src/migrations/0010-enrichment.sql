-- Which sessions a model is to add facts to, how far it was shown them, and what came in between. What it adds is
-- among the facts, with its name.

CREATE TABLE enrichment (
    space     TEXT NOT NULL,
    session   INTEGER NOT NULL,
    -- The last entry it was shown.
    upto_seq  INTEGER,
    tries     INTEGER NOT NULL,
    -- Set while it waits.
    next_at   INTEGER,
    -- Set when it is not tried any more.
    failed_at INTEGER,
    error     TEXT,
    done_at   INTEGER,
    PRIMARY KEY (space, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX enrichment_waiting ON enrichment (space, next_at) WHERE next_at IS NOT NULL;
