"""Search in coding sessions: questions with known answers, made from real transcripts without labels by hand.

Every set asks for a session: an issue for those that edited the same code; an error line for those that met it; a commit
message for those that made it; a file or symbol for those that changed it; a later prompt for the earlier part of its
session, which alone is in the home then. "Across agents" are the questions from sessions of all agents but Claude Code, in
a home with the sessions of all.
"""
import collections, json, os, random, re, shutil, sqlite3, sys

from .common import Failed, run, say, surroundings, sync

CUTOFFS = (1, 5, 10)
QUESTIONS_PER_SET = 100
QUESTIONS_OF_ALL = 100_000
ISSUES = "issue → edited code"
# Parts of the ranking that matter in coding work; `ask --parts` lists all.
PARTS = ("work", "exact", "phrase", "path", "session", "near", "error", "call", "recent", "project")
RESAMPLES = 2_000
# An answer that fits more sessions than this says nothing about the ranking.
MAX_ANSWERS = 4
ERROR_LINE = re.compile(r"error|fail|not found|cannot|denied|invalid|exception", re.I)
COMMIT = re.compile(r"""git commit[^\n]*?-m\s+(?:"\$\(cat <<'?EOF'?\n(.+?)\n|"([^"\n]+)|'([^'\n]+))""")
SYMBOL = re.compile(r"(?:def|fn|function|class|interface|struct)\s+([A-Za-z_]\w{5,})\s*[(<{:]")
MACHINE_TEXT = ("<", "Caveat", "[Request", "This session is being")


def measure(tools, work, data, corpus, quick, with_ablation):
    """The rank of the first right session for every question, by set. `corpus` may be missing."""
    sets, repositories = {}, []
    sets[ISSUES], repositories = issues(tools, work, data)
    if corpus.is_dir():
        full = copy_of_corpus(work / "corpus", corpus, data)
        memory = synced(tools, full)
        sets.update({name: (full, rows) for name, rows in asked_of_store(memory).items()})
        sets["changed symbol"] = (full, changed_symbols(full, memory))
        cut = copy_of_corpus(work / "cut", corpus, data)
        rows = cut_sessions(cut)
        synced(tools, cut)
        sets["later prompt → earlier part"] = (cut, rows)
        every = home_of_all_agents(work / "agents", corpus)
        sets["across agents"] = (every, asked_of_other_agents(synced(tools, every)))
    else:
        say(f"no corpus at {corpus}: only the issues are measured")
    report = {}
    for name, (home, rows) in sets.items():
        say(f"{name}: {len(rows)} questions")
        rows = rows[:12] if quick else rows
        ranks = [rank(tools, home, question, answers) for question, answers in rows]
        report[name] = scores(ranks)
        if name == ISSUES:
            report[name]["repositories"] = by_category(ranks, repositories)
        if with_ablation:
            report[name]["ablation"] = ablation(tools, home, rows)
    return report


def by_category(ranks, categories):
    groups = collections.defaultdict(list)
    for rank_, category in zip(ranks, categories):
        groups[category].append(rank_)
    return {category: scores(group) for category, group in sorted(groups.items())}


def ablation(tools, home, rows):
    """The scores of one set without each part of the ranking, from the engine in one process."""
    questions = home.parent / f"{home.name}-questions.jsonl"
    lines = [json.dumps({"qid": str(number), "conv": home.name, "question": question}) for number, (question, _) in enumerate(rows)]
    questions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (home.parent / "map.jsonl").touch()
    report = {}
    for part in (None, *PARTS):
        say(f"without {part}" if part else "with all parts")
        without = ["--without", part] if part else []
        output = run([tools["ask"], home.parent, questions, *without], home)["output"]
        # Sessions that have no label are printed as `other:ID`.
        found = [[name.removeprefix("other:") for name in json.loads(line)["ranked_sessions"]] for line in output.splitlines()]
        ranks = [place(sessions, answers) for sessions, (_, answers) in zip(found, rows)]
        report[part or "all"] = {key: value for key, value in scores(ranks).items() if "interval" not in key}
    return report


def issues(tools, work, data):
    home = work / "swecontext"
    copy_transcripts(home, data)
    synced(tools, home)
    lines = (data / "swecontext_dev/questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    questions = [(row["question"], set(row["evidence_sessions"])) for row in rows]
    return (home, questions), [row["category"] for row in rows]


def copy_transcripts(home, data):
    folder = home / ".claude/projects/-swe-bench"
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((data / "swecontext_dev/transcripts").iterdir()):
        shutil.copyfile(file, folder / file.name)


def copy_of_corpus(home, corpus, data):
    """Every transcript of the corpus that is one file with lines, in a folder per repository, and the coding sessions."""
    for file in sorted((corpus / "claude").rglob("*.jsonl")):
        folder = home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(file.parent.relative_to(corpus)))
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / file.name)
    copy_transcripts(home, data)
    return home


def home_of_all_agents(home, corpus):
    """The sessions of all agents of the corpus, laid out as the agents do."""
    run([sys.executable, corpus / "as-home.py", home], corpus)
    return home


def asked_of_other_agents(memory):
    """Questions about the errors, commits and files of sessions that Claude Code did not write."""
    store = sqlite3.connect(f"file:{memory}?mode=ro", uri=True)
    others = {external for (external,) in store.execute("SELECT external_id FROM session WHERE agent != 'claude-code'")}
    store.close()
    rows = [row for rows in asked_of_store(memory, QUESTIONS_OF_ALL).values() for row in rows if row[1] & others]
    random.Random(13).shuffle(rows)
    return rows[:QUESTIONS_PER_SET]


def synced(tools, home):
    memory = home / ".rethread"
    sync(tools, home, memory)
    return memory / "memory.db"


def asked_of_store(memory, most=None):
    """Questions from what the store has of each session: its errors, commits and changed files."""
    store = sqlite3.connect(f"file:{memory}?mode=ro", uri=True)
    ids = dict(store.execute("SELECT number, external_id FROM session"))
    errors, commits, files = (collections.defaultdict(set) for _ in range(3))
    for session, error in store.execute("SELECT session, error FROM entry WHERE error IS NOT NULL"):
        line = next((line.strip() for line in error.splitlines() if ERROR_LINE.search(line)), "")
        if 25 <= len(line) <= 200:
            errors[line].add(ids[session])
    commands = "SELECT session, coalesce(script, target) FROM entry WHERE tool_kind = 'command' AND target LIKE '%git commit%'"
    for session, command in store.execute(commands):
        message = COMMIT.search(command or "")
        subject = next(filter(None, message.groups())).strip() if message else ""
        if len(subject) > 15:
            commits[subject].add(ids[session])
    edits = "SELECT session, paths FROM entry WHERE tool_kind IN ('edit', 'write') AND paths IS NOT NULL"
    for session, paths in store.execute(edits):
        for path in json.loads(paths):
            if len(os.path.basename(path)) > 5:
                files[os.path.basename(path)].add(ids[session])
    store.close()
    named = {"error line": errors, "commit message": commits, "changed file": files}
    return {name: chosen(answers, most) for name, answers in named.items()}


def changed_symbols(home, memory):
    """Names in edits. A file that the store does not know as a session of that name, such as a copy, has no answer."""
    store = sqlite3.connect(f"file:{memory}?mode=ro", uri=True)
    known = {external for (external,) in store.execute("SELECT external_id FROM session")}
    store.close()
    symbols = collections.defaultdict(set)
    for file in home.glob(".claude/projects/*/*.jsonl"):
        if file.stem not in known:
            continue
        for message in messages(file):
            for block in message.get("content") or []:
                written = block.get("input") if isinstance(block, dict) and block.get("type") == "tool_use" else None
                if isinstance(written, dict):
                    for name in SYMBOL.findall(str(written.get("new_string") or "")):
                        symbols[name].add(file.stem)
    return chosen(symbols)


def cut_sessions(home):
    """Cuts each session with several prompts before one of the later ones; that prompt is the question."""
    rows = []
    for file in sorted(home.glob(".claude/projects/*/*.jsonl")):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        prompts = [(at, text) for at, line in enumerate(lines) if (text := typed_prompt(line))]
        if len(prompts) < 2:
            continue
        at, text = random.Random(file.stem).choice(prompts[max(1, len(prompts) // 2):])
        file.write_text("\n".join(lines[:at]) + "\n", encoding="utf-8")
        rows.append((text, {file.stem}))
    return rows


def typed_prompt(line):
    """The text a human typed in this line, if it is long enough to say something and short enough to be typed."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get("type") != "user" or record.get("isMeta") or record.get("isSidechain"):
        return None
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = " ".join(block.get("text", "") for block in content if isinstance(block, dict) and block.get("type") == "text")
    if not isinstance(content, str) or content.startswith(MACHINE_TEXT) or not 4 <= len(content.split()) <= 80:
        return None
    return content


def messages(file):
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if '"tool_use"' in line:
            try:
                message = json.loads(line).get("message")
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("content"), list):
                yield message


def chosen(answers, most=None):
    """Some of the questions with few answers, always the same ones."""
    questions = sorted(question for question, sessions in answers.items() if len(sessions) <= MAX_ANSWERS)
    random.Random(7).shuffle(questions)
    return [(question, answers[question]) for question in questions[:most or QUESTIONS_PER_SET]]


def rank(tools, home, question, answers):
    """The place of the first right session among those found, from 0; infinite if there is none."""
    command = [tools["rethread"], "search", "--json", "--all-projects", "--limit", "50", "--", question]
    done = run(command, home, surroundings(home, home / ".rethread"), fine=(0, 1))
    try:
        hits = json.loads(done["output"])["hits"]
    except (ValueError, KeyError) as error:
        raise Failed(f"search --json printed no hits for {question!r}") from error
    return place(list(dict.fromkeys(hit["session"]["externalId"] for hit in hits)), answers)


def place(found, answers):
    return min((found.index(session) for session in answers if session in found), default=float("inf"))


def scores(ranks):
    """Shares of questions answered within each cutoff, with 95 % intervals from resampled questions."""
    report, source = {"n": len(ranks)}, random.Random(11)
    for cutoff in CUTOFFS:
        hits = [100 * (rank < cutoff) for rank in ranks]
        means = sorted(sum(source.choices(hits, k=len(hits))) / len(hits) for _ in range(RESAMPLES)) if hits else [0]
        report[f"hit@{cutoff}"] = sum(hits) / max(1, len(hits))
        report[f"hit@{cutoff} interval"] = [means[int(0.025 * len(means))], means[int(0.975 * len(means))]]
    return report


def rows(report):
    """The table, one row per set."""
    table = [("coding sessions", "questions", "hit@1 / @5 / @10", "95 % intervals")]
    for name, values in report.items():
        shares = " / ".join(f"{values[f'hit@{cutoff}']:.1f}" for cutoff in CUTOFFS)
        intervals = (values[f"hit@{cutoff} interval"] for cutoff in CUTOFFS)
        table.append((name, str(values["n"]), shares, "  ".join(f"[{low:.0f}, {high:.0f}]" for low, high in intervals)))
        for category, values in values.get("repositories", {}).items():
            shares = " / ".join(f"{values[f'hit@{cutoff}']:.1f}" for cutoff in CUTOFFS)
            table.append((f"  {category.split('__')[-1]}", str(values["n"]), shares, ""))
    return table


def ablation_lines(report):
    """Each set without each part in turn: hit@1 / @5 / @10."""
    show = lambda values: " / ".join(f"{values[f'hit@{cutoff}']:.0f}" for cutoff in CUTOFFS)
    measured = {name: values["ablation"] for name, values in report.items() if "ablation" in values}
    widths = [max(len(name), 13) for name in measured]
    lines = [f"{'without':<10}" + "".join(f"  {name:<{width}}" for name, width in zip(measured, widths))]
    for part in ("all", *PARTS):
        cells = (f"  {show(parts[part]):<{width}}" for parts, width in zip(measured.values(), widths))
        lines.append((f"{part if part != 'all' else 'nothing':<10}" + "".join(cells)).rstrip())
    return lines
