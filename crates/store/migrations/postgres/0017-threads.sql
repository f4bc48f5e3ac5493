-- Threads of a space, for stores that several nodes share. Without such a store, threads are files.

-- One thread. A deleted one keeps its row, without content, so that it does not come back.
CREATE TABLE thread (
    space      TEXT COLLATE "C" NOT NULL,
    -- A ULID.
    id         TEXT COLLATE "C" NOT NULL,
    -- Length of the log in bytes. An append moves it from the value that it has read.
    head       BIGINT NOT NULL,
    -- The metadata as JSON, as of `head`.
    metadata   BYTEA NOT NULL,
    is_deleted BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (space, id)
);

-- The log of a thread: its lines, one after the other, are the bytes of `session.jsonl`.
CREATE TABLE thread_record (
    space      TEXT COLLATE "C" NOT NULL,
    thread     TEXT COLLATE "C" NOT NULL,
    -- Where the line starts in the log.
    start_byte BIGINT NOT NULL,
    -- Random; shows a writer that lost its connection whether its line was committed here.
    append_id  TEXT COLLATE "C" NOT NULL,
    -- With its newline.
    line       BYTEA NOT NULL,
    PRIMARY KEY (space, thread, start_byte)
);

-- Turns that run or wait, in the order of their numbers.
CREATE TABLE thread_turn (
    space      TEXT COLLATE "C" NOT NULL,
    thread     TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    -- Random; changes when another turn takes this one over.
    owner      TEXT COLLATE "C" NOT NULL,
    -- By the clock of the database. A process that is alive moves it forward.
    expires_at BIGINT NOT NULL,
    -- A header line and the text of the answer so far; empty while no answer arrives.
    answer     BYTEA NOT NULL,
    PRIMARY KEY (space, thread, number)
);

-- Every query is about one space and uses an index. Statistics of spaces would mislead the planner: it takes a space that
-- it has not seen yet for an empty one, and reads all of its entries again for each episode.
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT table_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND column_name = 'space'
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN space SET STATISTICS 0', name);
    END LOOP;
END $$;
