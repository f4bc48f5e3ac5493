"""How long a search takes among many exchanges, what its index costs, and whether it finds what is new."""
import argparse, fcntl, json, os, shutil, statistics, sys, uuid
from pathlib import Path

from .common import (MB, SHARED, Failed, begin, build, columns, floor, goal_rows, headline, help_of, judged, run, save, say,
                     spread, standard_options, surroundings, sync, workspace)

EPISODES_PER_SESSION = 25
GOAL_COLD_P50, GOAL_COLD_P99, GOAL_WARM_P50, GOAL_INDEX_SHARE, GOAL_INDEX_TIME = 15, 60, 3, 8, 60
NEW_WORD = "zyxquorblat"


def main(arguments):
    """Generates a home, syncs it, asks, and asks for what was said a moment ago."""
    options = search_options(arguments)
    tools = build(options.skip_build, ["generate-talk", "query-latency"], options.binary)
    if "--all-projects" not in help_of(tools, "search"):
        raise Failed(f"{tools['rethread']} has no verb `search`")
    with workspace(options.keep) as work:
        report = begin("search", tools)
        report["options"] = {key: getattr(options, key) for key in ("episodes", "sessions", "seed", "syncs", "rounds")}
        report.update(measure(tools, work, options))
    report["goals"] = goals(report)
    print(table(report))
    if options.save:
        save(report)
    return 0


def search_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench search")
    number = dict(type=int, metavar="N")
    parser.add_argument("--episodes", default=200_000, help="exchanges to search in (default %(default)s)", **number)
    parser.add_argument("--sessions", default=0, help=f"sessions (default: one for each {EPISODES_PER_SESSION} exchanges)", **number)
    parser.add_argument("--seed", default=1, help="decides what is said (default %(default)s)", **number)
    parser.add_argument("--syncs", default=3, help="first syncs, in turns with indexing alone (default %(default)s)", **number)
    parser.add_argument("--rounds", default=5, help="times each query is asked in one process (default %(default)s)", **number)
    parser.add_argument("--corpus", type=Path, default=SHARED / "corpus", metavar="DIR",
                        help="real transcripts with as-home.py, if there are any (default: ../shared/corpus)")
    standard_options(parser, "search")
    options = parser.parse_args(arguments)
    options.sessions = options.sessions or -(-options.episodes // EPISODES_PER_SESSION)
    for name in ("episodes", "sessions", "syncs", "rounds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


def measure(tools, work, options):
    home = work / "talk"
    generated = generate(tools, home, options)
    memory = home / ".rethread"
    queries = (home / "queries.txt").read_text().splitlines()
    report = {"home": {**generated, "queries": len(queries)}, "floor": floor(25)}
    report["firstSync"] = first_sync(tools, home, memory, options.syncs)
    report["size"] = sizes(memory, generated["bytes"])
    say(f"searching, {len(queries)} processes")
    report["cold"] = cold(tools, home, memory, queries)
    say(f"searching in one process, {options.rounds} rounds")
    command = [tools["query-latency"], home, home / "queries.txt", "--rounds", options.rounds]
    report["inProcess"] = json.loads(run(command, home)["output"])
    report["afterAppend"] = after_append(tools, home, memory)
    report["corpus"] = corpus(tools, work, options.corpus)
    return report


def generate(tools, home, options):
    say(f"generating {options.episodes} exchanges in {options.sessions} sessions")
    command = [tools["generate-talk"], home, "--episodes", options.episodes, "--sessions", options.sessions, "--seed", options.seed]
    done = json.loads(run(command, home.parent)["output"])
    os.sync()  # so that writing the home to disk does not run into the measuring
    return done


# ---- the index ------------------------------------------------------------------------------

def first_sync(tools, home, memory, rounds):
    """First syncs with and without indexing in turns, and the index alone."""
    bare, syncs, alone = [], [], []
    for number in range(1, rounds + 1):
        say(f"first sync, round {number} of {rounds}")
        shutil.rmtree(memory, ignore_errors=True)
        bare.append(sync_without_index(tools, home, memory))
        shutil.rmtree(memory, ignore_errors=True)
        syncs.append(sync(tools, home, memory))
        alone.append(index_alone(tools, home, memory))
    without, whole, index = (statistics.median(done["wall"] for done in runs) for runs in (bare, syncs, alone))
    # In pairs, since the two of a round meet the same state of the machine.
    added = [100 * (both["wall"] / one["wall"] - 1) for both, one in zip(syncs, bare)]
    return {"seconds": whole, "all": [done["wall"] for done in syncs], "withoutIndexSeconds": without,
            "allWithoutIndex": [done["wall"] for done in bare], "indexSeconds": index,
            "allIndex": [done["wall"] for done in alone], "indexAddsPercent": statistics.median(added), "allAdds": added,
            "peakRssMb": max(done["rss"] for done in syncs) / MB, "entries": syncs[-1]["entries"],
            "episodes": syncs[-1]["episodes"], "indexedBy": "rebuild --index-only" if rebuilds(tools) else "search"}


def sync_without_index(tools, home, memory):
    """A sync that finds another process at the index leaves it alone: here we are that process."""
    memory.mkdir(mode=0o700)
    with open(memory / "index.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return sync(tools, home, memory)


def rebuilds(tools):
    return "--index-only" in help_of(tools, "rebuild")


def index_alone(tools, home, memory):
    """Makes the index again from the store: with the verb for it, or by a search that finds none."""
    shutil.rmtree(memory / "index")
    if rebuilds(tools):
        return run([tools["rethread"], "rebuild", "--index-only"], home, surroundings(home, memory))
    return ask(tools, home, memory, NEW_WORD)


def sizes(memory, raw):
    index = sum(path.stat().st_size for path in (memory / "index").rglob("*") if path.is_file())
    database = sum(path.stat().st_size for path in memory.glob("memory.db*"))
    return {"transcripts": raw, "index": index, "database": database, "indexPercent": 100 * index / raw,
            "databasePercent": 100 * database / raw}


def corpus(tools, work, folder):
    """What the index takes of real transcripts; nothing if there are none."""
    script = folder / "as-home.py"
    if not script.exists():
        say(f"no real transcripts: {script} is not there")
        return None
    say("real transcripts")
    home, memory = work / "corpus", work / "corpus" / ".rethread"
    run([sys.executable, script, home], work)
    raw = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    done = sync(tools, home, memory)
    # Only what was read counts: agents that are not known yet have transcripts there, too.
    return {**sizes(memory, done["bytesRead"]), "placed": raw, "sessions": done["sessions"], "entries": done["entries"],
            "episodes": done["episodes"], "seconds": done["wall"]}


# ---- asking ---------------------------------------------------------------------------------

def ask(tools, home, memory, query, limit=10):
    """One search in a process of its own; its answer is under "found"."""
    command = [tools["rethread"], "search", "--json", "--all-projects", "--limit", limit, "--", query]
    done = run(command, home, surroundings(home, memory), fine=(0, 1))
    try:
        done["found"] = json.loads(done["output"])
    except ValueError as error:
        raise Failed(f"search --json printed no JSON for {query!r}: {done['output'][:300]!r}") from error
    return done


def cold(tools, home, memory, queries):
    """Each query in a process of its own, the page cache warm."""
    for query in queries[::10]:
        ask(tools, home, memory, query)
    by, own, hits, empty, degraded = {}, [], 0, 0, []
    for query in queries:
        done = ask(tools, home, memory, query)
        by.setdefault(shape(query), []).append(done["wall"] * 1000)
        own.append(done["found"].get("seconds", 0) * 1000)
        hits += len(done["found"]["hits"])
        empty += not done["found"]["hits"]
        if done["found"].get("degraded"):
            degraded.append({"query": query, "why": done["found"]["degraded"]})
    return {"queries": len(queries), "hits": hits, "withoutHits": empty, "degraded": degraded,
            "ms": percentiles([ms for all_ in by.values() for ms in all_]),
            "byWords": {name: percentiles(by[name]) for name in sorted(by, key=lambda name: (len(name), name))},
            # What the search itself says it took: the rest is starting, reading the configuration, printing.
            "ownMs": percentiles(own), "startMs": starting(tools, home, memory)}


def starting(tools, home, memory, runs=25):
    """What the binary takes to start and do nothing."""
    version = [run([tools["rethread"], "--version"], home, surroundings(home, memory)) for _ in range(runs)]
    return statistics.median(done["wall"] for done in version) * 1000


def shape(query):
    return "phrase" if query.startswith('"') else str(len(query.split()))


def percentiles(values):
    ordered = sorted(values)
    at = {name: ordered[(len(ordered) - 1) * percent // 100] for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100))}
    return {**at, "n": len(ordered)}


def after_append(tools, home, memory):
    """Somebody says something new; it has to be found at once, though it is too little for a commit of the index."""
    say("asking for what was said a moment ago")
    target = max((home / ".claude/projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    before = index_state(memory)
    with open(target, "ab") as file:
        file.write(new_exchange(target))
    synced = sync(tools, home, memory)
    done = ask(tools, home, memory, f"why did the {NEW_WORD} fail")
    best = done["found"]["hits"][:1]
    if not best or best[0]["session"]["externalId"] != target.stem or NEW_WORD not in json.dumps(best[0]):
        raise Failed(f"what was said a moment ago was not found: {target} has {NEW_WORD!r}, the best hit is {best!r:.500}")
    return {"syncMs": synced["wall"] * 1000, "searchMs": done["wall"] * 1000, "indexTouched": index_state(memory) != before}


def index_state(memory):
    return sorted((path.name, path.stat().st_size) for path in (memory / "index").iterdir())


def new_exchange(target):
    """A prompt and an answer that go on where a transcript ends."""
    with open(target, "rb") as file:
        last = json.loads(file.readlines()[-1])
    ask_id, answer_id = str(uuid.uuid4()), str(uuid.uuid4())
    common = {key: last[key] for key in ("isSidechain", "cwd", "sessionId", "version", "timestamp")}
    prompt = {"parentUuid": last["uuid"], **common, "type": "user", "uuid": ask_id,
              "message": {"role": "user", "content": f"Why did the {NEW_WORD} fail when the pool was empty?"}}
    answer = {"parentUuid": ask_id, **common, "type": "assistant", "uuid": answer_id,
              "message": {"id": "msg_new", "type": "message", "role": "assistant", "model": "bench", "stop_reason": "end_turn",
                          "content": [{"type": "text", "text": f"The {NEW_WORD} never checked for an empty pool."}],
                          "usage": {"input_tokens": 1, "output_tokens": 1}}}
    return "".join(json.dumps(line) + "\n" for line in (prompt, answer)).encode()


# ---- telling --------------------------------------------------------------------------------

def goals(report):
    """Each goal with the number it is held against."""
    cold_, warm, first = report["cold"]["ms"], report["inProcess"]["byWords"], report["firstSync"]
    rows = [("cold process, p50 in ms", cold_["p50"], "<=", GOAL_COLD_P50),
            ("cold process, p99 in ms", cold_["p99"], "<=", GOAL_COLD_P99),
            ("in one process, 12 words, p50 in ms", warm["12"]["ms"]["p50"], "<=", GOAL_WARM_P50),
            ("indexing adds to a first sync, %", first["indexAddsPercent"], "<=", GOAL_INDEX_TIME)]
    if report["corpus"]:
        rows.append(("index of real transcripts, % of their bytes", report["corpus"]["indexPercent"], "<=", GOAL_INDEX_SHARE))
    return judged(rows)


def table(report):
    home, first, size, cold_, warm = (report[key] for key in ("home", "firstSync", "size", "cold", "inProcess"))
    new, real = report["afterAppend"], report["corpus"]
    rows = goal_rows(report["goals"]) + [("", "", "", ""), ("also measured", "", "", "")]
    for words, ms in cold_["byWords"].items():
        rows.append((f"cold process, {named(words)}, p50 in ms", f"{ms['p50']:.1f}", "", tail(ms)))
    rows += [("cold process, as the search itself counts, p50 in ms", f"{cold_['ownMs']['p50']:.1f}", "", tail(cold_["ownMs"])),
             ("the binary doing nothing, ms", f"{cold_['startMs']:.1f}", "", "rethread --version"),
             ("a process that does nothing, ms", f"{report['floor']['processMs']:.1f}", "", "true"),
             ("cold queries that find nothing", str(cold_["withoutHits"]), "", f"of {cold_['queries']}; {len(cold_['degraded'])} degraded")]
    for words, part in warm["byWords"].items():
        found = f"{part['hitsPerQuery']:.1f} hits a query, {part['withoutHits']} of {part['queries']} without"
        rows.append((f"in one process, {named(words)}, p50 in ms", f"{part['ms']['p50']:.2f}", "", f"{tail(part['ms'])}; {found}"))
    rows += [("in one process, the first search, ms", f"{warm['firstMs']:.1f}", "", "opening everything included"),
             ("search among what is not indexed yet, ms", f"{new['searchMs']:.1f}", "",
              f"found; the index was {'changed' if new['indexTouched'] else 'left alone'} by a sync of {new['syncMs']:.1f} ms"),
             ("first sync, seconds", f"{first['seconds']:.2f}", "",
              f"{spread(first['all'])}; {first['entries']} entries, {first['episodes']} episodes, {first['peakRssMb']:.0f} MB RSS"),
             ("first sync without indexing, seconds", f"{first['withoutIndexSeconds']:.2f}", "", spread(first["allWithoutIndex"])),
             ("the index alone, seconds", f"{first['indexSeconds']:.2f}", "", f"{spread(first['allIndex'])}; by {first['indexedBy']}"),
             ("index, MB", f"{size['index'] / MB:.1f}", "", f"{size['indexPercent']:.1f} % of the transcripts"),
             ("memory.db, MB", f"{size['database'] / MB:.1f}", "", f"{size['databasePercent']:.1f} % of the transcripts")]
    if real:
        rows.append(("index of real transcripts, MB", f"{real['index'] / MB:.1f}", "",
                     f"of {real['transcripts'] / MB:.0f} MB read, memory.db {real['database'] / MB:.1f} MB; {real['sessions']} sessions"))
    head = [headline(report), f"{home['episodes']} exchanges in {home['files']} sessions, {home['bytes'] / MB:.0f} MB, page cache warm", ""]
    return "\n".join([""] + head + columns(rows))


def named(words):
    return {"phrase": "a phrase", "1": "a path or name"}.get(words, f"{words} words")


def tail(ms):
    return f"p90 {ms['p90']:.1f}, p99 {ms['p99']:.1f}, max {ms['max']:.1f}"
