"""Compares extracted facts with labels of the same sessions."""
import re
from collections import defaultdict


def normalized(text):
    return re.sub(r"[^\w]+", " ", (text or "").lower()).strip()


def mentions(words, *texts):
    """Whether one of the key phrases occurs in the texts."""
    haystack = " " + " ".join(normalized(text) for text in texts) + " "
    return any(normalized(word) and normalized(word) in haystack for word in words)


def lines_of(label):
    return {label["line"], *label.get("also_lines", [])}


class Score:
    """Right and wrong facts, found and missed labels of one kind."""

    def __init__(self, name):
        self.name, self.right, self.wrong, self.found, self.missed = name, [], [], [], []
        self.notes = []

    def row(self):
        facts, labels = len(self.right) + len(self.wrong), len(self.found) + len(self.missed)
        precision = f"{len(self.right)}/{facts} ({share(len(self.right), facts)})"
        recall = f"{len(self.found)}/{labels} ({share(len(self.found), labels)})"
        return f"{self.name:<26} precision {precision:<18} recall {recall:<18} {' '.join(self.notes)}"


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "–"


def by_file(items):
    grouped = defaultdict(list)
    for item in items:
        grouped[item["file"]].append(item)
    return grouped


def score_statements(name, facts, labels, others):
    """Decisions, preferences or causes. `others` are labels of kinds that make a fact right, but need not be found."""
    score = Score(name)
    known, also = by_file(labels), by_file(others)
    found = set()
    for fact in facts:
        is_met = False
        for label in known[fact["file"]] + also[fact["file"]]:
            words = label.get("subject", []) + label.get("object", []) + label.get("rejected", [])
            stated = {fact["line"], *fact["evidence"]}
            if lines_of(label) & stated and mentions(words, fact["subject"], fact["object"], fact["detail"], fact["reason"]):
                is_met = True
                found.add(id(label))
        (score.right if is_met else score.wrong).append(fact)
    clear = [label for label in labels if label.get("grade", "clear") == "clear"]
    for label in labels:
        (score.found if id(label) in found else score.missed).append(label)
    if len(clear) < len(labels):
        known = sum(id(label) in found for label in clear)
        score.notes.append(f"of the clear ones {known}/{len(clear)} ({share(known, len(clear))})")
    return score


def score_fixes(facts, labels):
    """Confirmed fixes. A label that was only worked around, or that a human pasted, need not be found."""
    score = Score("confirmed fixes")
    known, found, saying = by_file(labels), set(), 0
    for fact in facts:
        lines = {fact["line"], *fact["evidence"]}
        same = [label for label in known[fact["file"]]
                if label["line"] in lines or mentions(label.get("key", []), fact["quote"], fact["subject"])]
        right = [label for label in same if is_fixed_by(label, fact, lines)]
        found.update(id(label) for label in right)
        (score.right if right else score.wrong).append(fact)
        saying += not re.fullmatch(r"edited [^;:`]*", fact["detail"])
    for label in labels:
        if label.get("fixed") and not label.get("bypass") and not label.get("pasted"):
            (score.found if id(label) in found else score.missed).append(label)
    score.notes.append(f"{saying} of {len(facts)} say what changed")
    return score


def is_fixed_by(label, fact, lines):
    if not label.get("fixed") or label.get("bypass"):
        return False
    fixed_at = label.get("fix_line", [])
    fixed_at = set(fixed_at if isinstance(fixed_at, list) else [fixed_at])
    return bool(fixed_at & lines) or mentions(label.get("change", []), fact["detail"])
