"""Search quality on conversations with labeled evidence and in coding sessions, and the effect of each ranking feature."""
import argparse, json, sys, time
from pathlib import Path

from . import coding
from .common import (SHARED, Failed, Missing, begin, build, columns, headline, help_of, run, save, say, standard_options,
                     sync, workspace)

# name, data set, level, metric, minimum, goal
HEADLINES = [("LoCoMo turn R@10", "locomo", "turn", "R@10", 80, 88),
             ("LoCoMo session R@10", "locomo", "session", "R@10", 95, 97),
             ("LongMemEval-S session hit@5", "longmemeval", "session", "hit@5", 98.5, 99.3),
             ("LongMemEval-S turn R@10", "longmemeval", "turn", "R@10", 88, 92)]
MERGED = [("merged home, session hit@1", "hit@1", 40), ("merged home, session hit@5", "hit@5", 60),
          ("merged home, session hit@50", "hit@50", 85)]
DATA = {"locomo": ("locomo_dev_corpus.jsonl", "locomo_dev_questions.jsonl"),
        "longmemeval": ("longmemeval_dev.jsonl", "longmemeval_dev_questions.jsonl")}
SCRIPTS = ("as-transcripts.py", "run-search.py", "score.py")
CUTOFFS = "1,5,10,20,50"
# The halves that weights are fitted on in turn. They show how stable the numbers are. They are held out only for weights
# fitted on the other half; the built-in weights were fitted on both.
LOCOMO_FIRST = ("conv-26", "conv-41", "conv-43")
QUICK_LOCOMO, QUICK_LONGMEMEVAL = ("conv-26", "conv-47"), 12


def main(arguments):
    """Runs the questions with the real binary, and the remaining measurements with the engine in one process."""
    options = retrieval_options(arguments)
    bench = Bench(options)
    bench.tools = build(options.skip_build, ["ask"], options.binary)
    if "--all-projects" not in help_of(bench.tools, "search"):
        raise Failed(f"{bench.tools['rethread']} has no command `search`")
    with workspace(options.keep) as bench.work:
        report = begin("retrieval", bench.tools)
        report["options"] = {"quick": options.quick, "ablation": options.ablation}
        report.update(measure(bench, options))
    print(shown(report))
    if options.save:
        save(report)
    return 0


def retrieval_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench retrieval")
    parser.add_argument("--quick", action="store_true", help="use only some questions: shows that it works, not how well")
    parser.add_argument("--ablation", action="store_true", help="also measure without each ranking feature in turn")
    parser.add_argument("--data", type=Path, default=SHARED / "bench", metavar="DIR",
                        help="folder with the data sets and their scripts (default: ../shared/bench)")
    parser.add_argument("--corpus", type=Path, default=SHARED / "corpus", metavar="DIR",
                        help="folder with real transcripts for the coding sets (default: ../shared/corpus)")
    standard_options(parser, "retrieval")
    options = parser.parse_args(arguments)
    wanted = [*SCRIPTS, "swecontext_dev", *(name for names in DATA.values() for name in names)]
    missing = [name for name in wanted if not (options.data / name).exists()]
    if missing:
        raise Missing(f"retrieval data sets not found: no {missing[0]} in {options.data}\n"
                      "hint: they are not part of this repository; set their folder with --data DIR")
    return options


def measure(bench, options):
    report, runs = {"sets": {}, "tables": {}}, {}
    for name in DATA:
        bench.prepare(name, options.quick)
        runs[name] = bench.ask_binary(name)
        report["sets"][name], report["tables"][name] = bench.score(bench.questions(name), runs[name])
    report["halves"] = {name: [bench.score(half, runs[name])[0] for half in halves(bench, name)] for name in DATA}
    report["headline"] = headlines(report["sets"])
    report["pageOfTen"] = {name: page_of_ten(bench, name, runs[name]) for name in DATA}
    report["merged"] = merged(bench)
    report["coding"] = coding.measure(bench.tools, bench.work, bench.data, options.corpus.absolute(), options.quick,
                                      options.ablation)
    if options.ablation:
        report["ablation"] = ablation(bench, report["headline"])
    return report


def halves(bench, name):
    """Splits the questions of a data set into two files."""
    questions = read_lines(bench.questions(name))
    if name == "locomo":
        first = [question["conv"] in LOCOMO_FIRST for question in questions]
    else:
        questions = [question for question in questions if question["category"] != "abstention"]
        first = [number % 2 == 0 for number in range(len(questions))]
    files = []
    for label, wanted in (("first", True), ("second", False)):
        path = bench.work / f"{name}-{label}-half.jsonl"
        write_lines(path, [question for question, is_first in zip(questions, first) if is_first == wanted])
        files.append(path)
    return files


def page_of_ten(bench, name, answers):
    """Sessions found on a page of ten hits. The scripts request fifty, and later hits add sessions."""
    path = bench.work / f"{name}-ten.jsonl"
    write_lines(path, [{"qid": answer["qid"], "ranked": answer["ranked"][:10]} for answer in read_lines(answers)])
    return bench.score(bench.questions(name), path)[0]["session"]["ALL"]


def merged(bench):
    """All sessions of LongMemEval in one home, like a new user with years of history."""
    say("all sessions in one home")
    destination = bench.transcripts("longmemeval", bench.work / "merged", "--merge")
    home = destination / "all"
    raw = sum(path.stat().st_size for path in (home / ".claude").rglob("*.jsonl"))
    synced = sync(bench.tools, home, home / ".rethread")
    start = time.perf_counter()
    scores, table = bench.score(bench.questions("longmemeval"), bench.ask_engine(destination, "longmemeval", "merged"))
    return {"sessions": synced["sessions"], "entries": synced["entries"], "bytes": raw, "syncSeconds": synced["wall"],
            "askSeconds": time.perf_counter() - start, "session": scores["session"]["ALL"], "turn": scores["turn"]["ALL"],
            "table": table}


def ablation(bench, with_all):
    """The four headline numbers without each feature in turn."""
    parts = json.loads(run([bench.tools["ask"], "--parts"], bench.work)["output"])
    rows = []
    for part in [None, *parts]:
        say(f"without {part['part']}" if part else "with all features")
        scores = {name: bench.score(bench.questions(name), bench.ask_engine(bench.homes[name], name, "ablation", part))[0]
                  for name in DATA}
        rows.append({**(part or {"part": None}), "headline": headlines(scores)})
    if rows[0]["headline"] != with_all:
        say("warning: engine and binary have different scores; was --binary built from another commit?")
    return rows


def headlines(sets):
    return {what: 100 * sets[name][level]["ALL"][metric] for what, name, level, metric, _, _ in HEADLINES}


class Bench:
    """The data sets, their homes, and the programs to run."""

    def __init__(self, options):
        self.data, self.tools, self.work, self.homes, self.files = options.data.absolute(), None, None, {}, {}

    def questions(self, name):
        return self.files[name][1]

    def prepare(self, name, quick):
        """Creates the homes of a data set; with `quick`, only of a few conversations."""
        say(f"{name}: transcripts")
        self.files[name] = tuple(self.data / file for file in DATA[name])
        if quick:
            self.shorten(name)
        self.homes[name] = self.transcripts(name, self.work / name)

    def shorten(self, name):
        corpus, questions = (read_lines(path) for path in self.files[name])
        if name == "locomo":
            kept, key = set(QUICK_LOCOMO), "conv"
        else:
            scored = [question["conv"] for question in questions if question["category"] != "abstention"]
            kept, key = set(scored[:QUICK_LONGMEMEVAL]), "question_id"
        self.files[name] = (self.work / f"{name}.jsonl", self.work / f"{name}-questions.jsonl")
        write_lines(self.files[name][0], [row for row in corpus if row[key] in kept])
        write_lines(self.files[name][1], [question for question in questions if question["conv"] in kept])

    def transcripts(self, name, destination, *more):
        run([sys.executable, self.data / "as-transcripts.py", name, self.files[name][0], destination, *more], self.work)
        return destination

    def ask_binary(self, name):
        """Runs every question in its own process."""
        say(f"{name}: running the binary")
        command = [sys.executable, self.data / "run-search.py", self.tools["rethread"], self.homes[name], self.questions(name)]
        return self.keep_run(f"{name}-binary.jsonl", command)

    def ask_engine(self, homes, name, label, without=None):
        """Runs all questions with the engine in one process."""
        command = [self.tools["ask"], homes, self.questions(name)]
        return self.keep_run(f"{name}-{label}.jsonl", command + (["--without", without["part"]] if without else []))

    def keep_run(self, file, command):
        path = self.work / file
        path.write_text(run(command, self.work)["output"])
        answers = read_lines(path)
        if not any(answer["ranked_sessions"] for answer in answers):
            raise Failed(f"none of {len(answers)} questions found anything: {' '.join(map(str, command))}")
        return path

    def score(self, questions, answers):
        """The scores of a run and their table, from the data set's own scorer."""
        out = self.work / "scores.json"
        command = [sys.executable, self.data / "score.py", questions, answers, "--k", CUTOFFS, "--json", out]
        table = run(command, self.work)["output"]
        return json.loads(out.read_text()), table.rstrip()


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# ---- report ---------------------------------------------------------------------------------

def shown(report):
    lines = ["", headline(report)]
    if report["options"]["quick"]:
        lines.append("QUICK: only some of the questions; these numbers do not measure quality")
    lines += ["", *columns(goal_lines(report)), "", *columns(coding.rows(report["coding"])), "", *half_lines(report)]
    for name, table in report["tables"].items():
        lines += ["", name, table]
    lines += ["", "longmemeval, all sessions in one home", report["merged"]["table"]]
    if "ablation" in report:
        lines += ["", *ablation_lines(report["ablation"]), "", "coding sessions, hit@1 / @5 / @10 without each part",
                  *coding.ablation_lines(report["coding"])]
    return "\n".join(lines)


def goal_lines(report):
    rows = [("metric", "measured", "minimum / goal", "")]
    for what, *_, least, goal in HEADLINES:
        value = report["headline"][what]
        rows.append((what, f"{value:.1f}", f">= {least:g} / {goal:g}", verdict(value, least, goal)))
    for what, metric, goal in MERGED:
        value = 100 * report["merged"]["session"][metric]
        rows.append((what, f"{value:.1f}", f"- / {goal:g}", verdict(value, None, goal)))
    for name, page in report["pageOfTen"].items():
        rows.append((f"{name}, session R@10 on a page of ten hits", f"{100 * page['R@10']:.1f}", "", f"hit {100 * page['hit@10']:.1f}"))
    all_ = report["merged"]
    rows.append(("merged home, first sync in seconds", f"{all_['syncSeconds']:.1f}", "",
                 f"{all_['sessions']} sessions, {all_['entries']} entries, {all_['bytes'] / 1e6:.0f} MB; including indexing"))
    return rows


def verdict(value, least, goal):
    reached = "goal met" if value >= goal else "goal NOT MET"
    return reached if least is None else f"{'met' if value >= least else 'NOT MET'}; {reached}"


def half_lines(report):
    """The headline numbers for each half, with the built-in weights."""
    rows = [("halves of the questions (NOT held out: weights were fitted on both)", "first", "second", "")]
    for what, name, level, metric, _, _ in HEADLINES:
        values = [half[level]["ALL"] for half in report["halves"][name]]
        rows.append((what, *(f"{100 * value[metric]:.1f}" for value in values), f"n = {values[0]['n']} | {values[1]['n']}"))
    return columns(rows)


def ablation_lines(rows):
    names = [what for what, *_ in HEADLINES]
    lines = ["without each feature in turn: " + " | ".join(names), f"{'all':<12}" + "".join(f"{rows[0]['headline'][name]:9.2f}" for name in names)]
    for row in rows[1:]:
        cells = "".join(f"{row['headline'][name]:9.2f} ({row['headline'][name] - rows[0]['headline'][name]:+.2f})" for name in names)
        lines.append(f"- {row['part']:<10}{cells}  {row['weight']:g}, {row['meaning']}")
    return lines
