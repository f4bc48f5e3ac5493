#!/usr/bin/env python3
"""Reference counter for the transcripts of many agents (Python 3.11, standard library only).

usage: reference_counts.py [--verbose] FILE_OR_DIR...

Prints one JSON line per session with the counts that `rethread sessions --json` must report. Shares no code with the
Rust implementation. Slow and simple on purpose: everything is held in memory, and each rule has one function.

Steps
  1. read every file as JSON lines, as one JSON document or as a database
  2. decide by content which agent wrote it; `reference/` has one module per agent
  3. the module groups files into sessions, leaves out copies and undone turns, and counts the rest
"""
import argparse
import json
import os
import sys

from reference import (claude_code, cline, codex, continue_dev, copilot, droid, gemini, hermes, kimi, openclaw, opencode,
                       pi, qwen)
from reference.common import open_database, read_lines

# In this order: the lines of several agents resemble those of Claude Code.
OF_LINES = (pi, copilot, codex, droid, gemini, kimi, qwen, claude_code)
OF_DOCUMENTS = (gemini, opencode, cline, continue_dev)
OF_DATABASES = (opencode, openclaw, hermes)
ENDINGS = (".jsonl", ".json", ".db", ".sqlite")


def find_files(arguments):
    """Every given file and every file in each given folder that may be a transcript, without duplicates."""
    seen, out = set(), []
    for a in arguments:
        found = []
        if os.path.isdir(a):
            for d, dirs, files in os.walk(a):
                dirs.sort()
                found += [os.path.join(d, f) for f in sorted(files) if f.endswith(ENDINGS)]
        else:
            found = [a]
        for p in found:
            real = os.path.realpath(p)
            if real not in seen:
                seen.add(real)
                out.append(p)
    return out


def read_content(path):
    """The content and the modules that may know it: lines, a document, or a database and its tables."""
    with open(path, "rb") as file:
        if file.read(16).startswith(b"SQLite format 3"):
            return open_database(path), OF_DATABASES
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            document = json.load(file)
        if isinstance(document, dict) and (path.endswith(".json") or isinstance(document.get("messages"), list)):
            return document, OF_DOCUMENTS
    except (ValueError, RecursionError):
        pass
    return read_lines(path), OF_LINES if path.endswith(".jsonl") else ()


def count_all(paths, warn=lambda message: None):
    """One dictionary per session, sorted by agent and file."""
    by_module = {}
    for path in paths:
        try:
            content, modules = read_content(path)
        except OSError as e:
            warn(f"{path}: {e}")
            continue
        module = next((m for m in modules if content and m.recognizes(path, content)), None)
        if module is None:
            warn(f"{path}: of no known agent")
        else:
            by_module.setdefault(module, []).append((path, content))
    out = [result for module, files in by_module.items() for result in module.count(files)]
    return sorted(out, key=lambda r: (r["agent"], r["file"], r["externalId"]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("paths", nargs="+", metavar="FILE_OR_DIR")
    ap.add_argument("--verbose", action="store_true", help="print skipped files to stderr")
    a = ap.parse_args()
    warn = (lambda m: print(m, file=sys.stderr)) if a.verbose else (lambda m: None)
    for r in count_all(find_files(a.paths), warn):
        print(json.dumps(r))


if __name__ == "__main__":
    main()
