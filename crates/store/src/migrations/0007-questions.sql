-- Answers of models to questions about sessions. What a session was when it was asked is its change number.
CREATE TABLE answer (
    space    TEXT NOT NULL,
    session  INTEGER NOT NULL,
    question TEXT NOT NULL,
    model    TEXT NOT NULL,
    change   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (space, session, question, model)
) STRICT, WITHOUT ROWID;

-- How often models were asked in one turn of an agent.
CREATE TABLE asked_turn (
    space TEXT NOT NULL,
    turn  TEXT NOT NULL,
    calls INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (space, turn)
) STRICT, WITHOUT ROWID;
