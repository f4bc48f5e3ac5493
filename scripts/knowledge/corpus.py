"""Reads real transcripts with the binary, and the labels of their sessions."""
import json
import os
import sqlite3
import subprocess
import sys

from corpus_home import Home, ROOT

LABELS = os.path.join(ROOT, "scripts", "knowledge", "labels")
# Agents that as-home.py does not place: their files are read where they are.
IN_PLACE = ["opencode", "cline", "kimi", "goose", "crush", "cursor", "vscode-copilot", "claude"]
# The file of a session.
PATH = """(SELECT transcript.path FROM entry JOIN transcript ON transcript.number = entry.transcript
           WHERE entry.session = {session} LIMIT 1) AS path"""


def halves(half):
    return ["tuned", "kept"] if half == "both" else [half]


def read_labels(half):
    with open(os.path.join(LABELS, f"{half}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def labeled_files(labels):
    """The sessions that were read for labels. Those without any are listed in the first line of a half."""
    empty = {file for label in labels if label["kind"] == "files" for file in label["files"]}
    return empty | {label["file"] for label in labels if label["kind"] != "files"}


class CorpusStore:
    """The store of a home directory into which all transcripts of the corpus were read."""

    def __init__(self, binary, corpus, folder):
        self.corpus, self.names = corpus, {}
        self.home = Home(binary, folder)
        place = [sys.executable, os.path.join(corpus, "as-home.py"), folder]
        for line in subprocess.run(place, capture_output=True, text=True).stdout.splitlines():
            placed = json.loads(line)
            self.names[os.path.join(folder, placed["to"])] = placed["from"]
        self.home.run("sync")
        for agent in IN_PLACE:
            self.home.run("sync", "--path", os.path.join(corpus, agent))
        self.database = sqlite3.connect(os.path.join(folder, ".rethread", "memory.db"))
        self.database.row_factory = sqlite3.Row

    def name_of(self, path):
        """A transcript as the labels name it."""
        path = path.split("#")[0]
        return self.names.get(path) or os.path.relpath(path, self.corpus)

    def facts(self):
        rows = self.database.execute(f"""
            SELECT fact.*, subject.name AS subject_name, object.name AS object_name, {PATH.format(session="fact.session")}
            FROM fact JOIN entity AS subject ON subject.number = fact.subject
            LEFT JOIN entity AS object ON object.number = fact.object
            ORDER BY fact.session, fact.span_first_seq, fact.number""")
        return [self.fact(row) for row in rows if row["path"]]

    def fact(self, row):
        return {
            "file": self.name_of(row["path"]),
            "session": row["session"],
            "predicate": row["predicate"],
            "line": row["line"],
            "evidence": [int(line) for line in row["evidence_lines"].split(",") if line],
            "subject": row["subject_name"],
            "object": row["object_name"] or "",
            "detail": row["detail"],
            "reason": row["reason"] or "",
            "quote": row["quote"] or "",
            "state": row["state"],
            "trust": row["trust"],
        }

    def entries(self):
        """The entries of all sessions in order, as `train_sentences split` reads them."""
        sessions = {row["number"]: row["path"] for row in self.database.execute(
            f"SELECT number, {PATH.format(session='session.number')} FROM session")}
        rows = self.database.execute("""
            SELECT session, line, kind, text, tool_kind, status, error FROM entry
            WHERE NOT (is_abandoned OR is_retracted) ORDER BY session, seq""")
        for row in rows:
            if sessions.get(row["session"]):
                yield {"session": self.name_of(sessions[row["session"]]), "line": row["line"], "kind": row["kind"],
                       "text": row["text"], "tool": row["tool_kind"], "status": row["status"], "error": row["error"]}
