-- Every request to a model, entered before it is sent. What nobody counted keeps the estimate.

CREATE TABLE ledger (
    space      TEXT NOT NULL,
    num        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    provider   TEXT NOT NULL,
    model      TEXT NOT NULL,
    purpose    TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    cost_nanos INTEGER,
    settled    INTEGER NOT NULL DEFAULT 0,
    counted    INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    PRIMARY KEY (space, num)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_by_time ON ledger (space, at);
