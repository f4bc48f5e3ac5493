"""Writes transcripts in steps, as agents do: lines are appended, documents rewritten, rows inserted and updated."""
import json
import os
import re
import sqlite3

from reference.common import parse_json

STEPS = 6
TORN = 2                       # after this step the last line is torn
START = 1_794_950_000          # time of the last change of every file after the first step; ten seconds per step
ARRAYS = ("messages", "history", "requests", "chatHistory", "message_history", "items")


def stamp(path, step):
    os.utime(path, (START + 10 * step, START + 10 * step))


def part(length, step):
    """How many of `length` records exist after a step."""
    return length if step == STEPS - 1 else length * (step + 1) // STEPS


def connect(path):
    """A connection that also knows a function newer than the SQLite of some systems, which OpenClaw's tables need."""
    connection = sqlite3.connect(path)
    connection.create_function("octet_length", 1, lambda value: None if value is None else len(str(value).encode()),
                               deterministic=True)
    return connection


class GrowingLines:
    """A file to which complete lines are appended; once it ends in the middle of a line."""

    def __init__(self, source):
        with open(source, "rb") as file:
            self.lines = re.findall(rb"[^\n]*\n|[^\n]+$", file.read())

    def write(self, path, step):
        whole = b"".join(self.lines[:part(len(self.lines), step)])
        if step == TORN and part(len(self.lines), step) < len(self.lines):
            line = self.lines[part(len(self.lines), step)]
            whole += line[:len(line) // 2]
        done = os.path.getsize(path) if os.path.exists(path) else 0
        with open(path, "ab") as file:
            file.write(whole[done:])


class GrowingDocument:
    """A JSON document that is rewritten with more elements of its array."""

    def __init__(self, source, document):
        with open(source, "rb") as file:
            self.whole = file.read()
        self.document = document
        self.key = None if isinstance(document, list) else next(
            (k for k in ARRAYS if isinstance(document.get(k), list)), None)

    def write(self, path, step):
        records = self.document if self.key is None else self.document[self.key]
        some = records[:part(len(records), step)]
        text = json.dumps(some if self.key is None else {**self.document, self.key: some}).encode()
        with open(path + ".new", "wb") as file:
            file.write(self.whole if step == STEPS - 1 else text)
        os.rename(path + ".new", path)


class WholeFile:
    """A file that does not grow: written in the first step."""

    def __init__(self, source):
        with open(source, "rb") as file:
            self.whole = file.read()

    def write(self, path, step):
        if step == 0:
            with open(path, "wb") as file:
                file.write(self.whole)


class GrowingDatabase:
    """A database that gets rows in steps. The last row of a step is unfinished and completed in the next one, and the
    rows of sessions change with every step."""

    CHANGING = ("time_updated", "updated_at", "message_count", "ended_at", "last_activity", "tokens_output", "output_tokens")

    def __init__(self, source):
        with sqlite3.connect(f"file:{source}?mode=ro&immutable=1", uri=True) as connection:
            schema = connection.execute("select type, tbl_name, sql from sqlite_master where sql is not null").fetchall()
            # Search indexes and their tables are the agent's own business.
            hidden = ("sqlite_", *[name for type_, name, sql in schema if "virtual table" in sql.lower()])
            schema = [entry for entry in schema if entry[0] != "trigger" and not entry[1].startswith(hidden)]
            self.schema = [sql for _, _, sql in schema]
            self.tables = {name: self.rows(connection, name) for type_, name, _ in schema if type_ == "table"}

    @staticmethod
    def rows(connection, table):
        cursor = connection.execute(f'select * from "{table}"')
        return [c[0] for c in cursor.description], cursor.fetchall()

    def is_index(self, table):
        """Whether the rows describe sessions: they exist from the first step on."""
        return table.startswith(("session", "thread", "conversation", "project", "agent_conversations")) \
            and "message" not in table

    def unfinished(self, columns, row):
        """The row as it was before it was complete: a call that runs, a text of which only the beginning is there."""
        out = list(row)
        for i, column in enumerate(columns):
            value = parse_json(row[i]) if column == "data" and isinstance(row[i], str) else None
            if column in ("time_updated", "updated_at") and isinstance(row[i], (int, float)):
                out[i] = row[i] - 1
            if isinstance(value, dict) and isinstance(value.get("state"), dict):
                value["state"] = {"status": "running", "input": value["state"].get("input"), "time": {"start": 1}}
                out[i] = json.dumps(value)
            elif isinstance(value, dict) and value.get("type") in ("text", "reasoning") and isinstance(value.get("text"), str):
                value["text"] = value["text"][:len(value["text"]) // 2]
                value.pop("time", None)
                out[i] = json.dumps(value)
            elif isinstance(value, dict) and value.get("role") == "assistant" and isinstance(value.get("time"), dict):
                value["time"].pop("completed", None)
                value.pop("finish", None)
                out[i] = json.dumps({**value, "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "cost": 0})
        return out

    def at_step(self, table, step):
        columns, rows = self.tables[table]
        if not self.is_index(table):
            some = [list(r) for r in rows[:part(len(rows), step)]]
            if some and step < STEPS - 1:
                some[-1] = self.unfinished(columns, some[-1])
            return columns, some
        changed = []
        for row in rows:
            row = list(row)
            for i, column in enumerate(columns):
                if step < STEPS - 1 and column in self.CHANGING and isinstance(row[i], (int, float)):
                    row[i] = max(0, row[i] - (STEPS - 1 - step))
            changed.append(row)
        return columns, changed

    def write(self, path, step):
        """Writes a step. As with a running agent, the connection stays open and new rows are in the write-ahead log."""
        if step == 0:
            self.connection = connect(path)
            self.connection.execute("pragma journal_mode = wal")
            self.connection.execute("pragma wal_autocheckpoint = 0")
            for sql in self.schema:
                self.connection.execute(sql)
        for table in self.tables:
            self.write_rows(table, step)
        self.connection.commit()
        if step == STEPS - 1:
            self.connection.close()

    def write_rows(self, table, step):
        columns, rows = self.at_step(table, step)
        present = self.connection.execute(f'select count(*) from "{table}"').fetchone()[0]
        marks, names = ", ".join("?" * len(columns)), ", ".join(f'"{column}" = ?' for column in columns)
        nth = f'(select rowid from "{table}" order by rowid limit 1 offset ?)'
        for number, row in enumerate(rows, 1):
            if number > present:
                self.connection.execute(f'insert into "{table}" values ({marks})', row)
            elif number == present or self.is_index(table):
                self.connection.execute(f'update "{table}" set {names} where rowid = {nth}', [*row, number - 1])


def growing(source):
    """How a file grows."""
    with open(source, "rb") as file:
        if file.read(16).startswith(b"SQLite format 3"):
            return GrowingDatabase(source)
    name = os.path.basename(source)
    if name.endswith((".json", ".jsonl")):
        with open(source, encoding="utf-8", errors="replace") as file:
            document = parse_json(file.read())
        if isinstance(document, dict) and any(isinstance(document.get(k), list) for k in ARRAYS) or (
                isinstance(document, list) and name in ("api_conversation_history.json", "ui_messages.json", "claude_messages.json")):
            return GrowingDocument(source, document)
    if name.endswith((".jsonl", ".md")) and not name.startswith(("session_index", "index")):
        return GrowingLines(source)
    return WholeFile(source)
