"""Search latency over many episodes, cost of the index, and whether new entries are found at once."""
import argparse, fcntl, json, os, shutil, statistics, sys, uuid
from pathlib import Path

from .common import (MB, SHARED, Failed, build, columns, floor, goal_rows, headline, help_of, judged, run, run_benchmark,
                     say, spread, standard_options, surroundings, sync)

EPISODES_PER_SESSION = 25
GOAL_COLD_P50, GOAL_COLD_P99, GOAL_WARM_P50, GOAL_INDEX_SHARE, GOAL_INDEX_TIME = 15, 60, 3, 8, 60
NEW_WORD = "zyxquorblat"


def main(arguments):
    """Generates a home, syncs it, runs queries, and searches for entries that were just written."""
    options = search_options(arguments)
    tools = build(options.skip_build, ["generate-talk", "query-latency"], options.binary)
    if "--all-projects" not in help_of(tools, "search"):
        raise Failed(f"{tools['rethread']} has no command `search`")
    recorded = ("episodes", "sessions", "seed", "syncs", "rounds")
    return run_benchmark("search", tools, options, recorded, measure, goals, table)


def search_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench search")
    number = dict(type=int, metavar="N")
    parser.add_argument("--episodes", default=200_000, help="episodes to search in (default %(default)s)", **number)
    parser.add_argument("--sessions", default=0, help=f"sessions (default: one per {EPISODES_PER_SESSION} episodes)", **number)
    parser.add_argument("--seed", default=1, help="random seed (default %(default)s)", **number)
    parser.add_argument("--syncs", default=3, help="first syncs, alternating with indexing alone (default %(default)s)", **number)
    parser.add_argument("--rounds", default=5, help="runs of each query in one process (default %(default)s)", **number)
    parser.add_argument("--corpus", type=Path, default=SHARED / "corpus", metavar="DIR",
                        help="folder of real transcripts with as-home.py, optional (default: ../shared/corpus)")
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
    say(f"generating {options.episodes} episodes in {options.sessions} sessions")
    command = [tools["generate-talk"], home, "--episodes", options.episodes, "--sessions", options.sessions, "--seed", options.seed]
    done = json.loads(run(command, home.parent)["output"])
    os.sync()  # so that writing the home to disk does not disturb the measurement
    return done


# ---- the index ------------------------------------------------------------------------------

def first_sync(tools, home, memory, rounds):
    """Alternates first syncs with and without indexing, and indexing alone."""
    bare, syncs, alone = [], [], []
    for number in range(1, rounds + 1):
        say(f"first sync, round {number} of {rounds}")
        shutil.rmtree(memory, ignore_errors=True)
        bare.append(sync_without_index(tools, home, memory))
        shutil.rmtree(memory, ignore_errors=True)
        syncs.append(sync(tools, home, memory))
        alone.append(index_alone(tools, home, memory))
    without, whole, index = (statistics.median(done["wall"] for done in runs) for runs in (bare, syncs, alone))
    # In pairs, because both syncs of a round run under the same conditions.
    added = [100 * (both["wall"] / one["wall"] - 1) for both, one in zip(syncs, bare)]
    return {"seconds": whole, "all": [done["wall"] for done in syncs], "withoutIndexSeconds": without,
            "allWithoutIndex": [done["wall"] for done in bare], "indexSeconds": index,
            "allIndex": [done["wall"] for done in alone], "indexAddsPercent": statistics.median(added), "allAdds": added,
            "peakRssMb": max(done["rss"] for done in syncs) / MB, "entries": syncs[-1]["entries"],
            "episodes": syncs[-1]["episodes"], "indexedBy": "rebuild --index-only" if rebuilds(tools) else "search"}


def sync_without_index(tools, home, memory):
    """A sync skips indexing while another process holds the index lock; here we hold it."""
    memory.mkdir(mode=0o700)
    with open(memory / "index.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return sync(tools, home, memory)


def rebuilds(tools):
    return "--index-only" in help_of(tools, "rebuild")


def index_alone(tools, home, memory):
    """Rebuilds the index from the store: with `rebuild --index-only`, or with a search that finds no index."""
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
    """Index size for real transcripts; None if there are none."""
    script = folder / "as-home.py"
    if not script.exists():
        say(f"no real transcripts: {script} does not exist")
        return None
    say("real transcripts")
    home, memory = work / "corpus", work / "corpus" / ".rethread"
    run([sys.executable, script, home], work)
    raw = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    done = sync(tools, home, memory)
    # Count only bytes that were read: the folder also has transcripts of unsupported agents.
    return {**sizes(memory, done["bytesRead"]), "placed": raw, "sessions": done["sessions"], "entries": done["entries"],
            "episodes": done["episodes"], "seconds": done["wall"]}


# ---- queries --------------------------------------------------------------------------------

def ask(tools, home, memory, query, limit=10):
    """Runs one search in its own process; the result is under "found"."""
    command = [tools["rethread"], "search", "--json", "--all-projects", "--limit", limit, "--", query]
    done = run(command, home, surroundings(home, memory), fine=(0, 1))
    try:
        done["found"] = json.loads(done["output"])
    except ValueError as error:
        raise Failed(f"search --json printed no JSON for {query!r}: {done['output'][:300]!r}") from error
    return done


def cold(tools, home, memory, queries):
    """Runs each query in its own process, with a filled page cache."""
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
            # Time reported by the search itself; the rest is startup, reading the configuration and printing.
            "ownMs": percentiles(own), "startMs": starting(tools, home, memory)}


def starting(tools, home, memory, runs=25):
    """Startup time of the binary."""
    version = [run([tools["rethread"], "--version"], home, surroundings(home, memory)) for _ in range(runs)]
    return statistics.median(done["wall"] for done in version) * 1000


def shape(query):
    return "phrase" if query.startswith('"') else str(len(query.split()))


def percentiles(values):
    ordered = sorted(values)
    at = {name: ordered[(len(ordered) - 1) * percent // 100] for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100))}
    return {**at, "n": len(ordered)}


def after_append(tools, home, memory):
    """New entries must be found at once, although they are too few for an index commit."""
    say("searching for new entries")
    target = max((home / ".claude/projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    before = index_state(memory)
    with open(target, "ab") as file:
        file.write(new_exchange(target))
    synced = sync(tools, home, memory)
    done = ask(tools, home, memory, f"why did the {NEW_WORD} fail")
    best = done["found"]["hits"][:1]
    if not best or best[0]["session"]["externalId"] != target.stem or NEW_WORD not in json.dumps(best[0]):
        raise Failed(f"new entry not found: {target} contains {NEW_WORD!r}, the best hit is {best!r:.500}")
    return {"syncMs": synced["wall"] * 1000, "searchMs": done["wall"] * 1000, "indexTouched": index_state(memory) != before}


def index_state(memory):
    return sorted((path.name, path.stat().st_size) for path in (memory / "index").iterdir())


def new_exchange(target):
    """A prompt and an answer that continue a transcript."""
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


# ---- report ---------------------------------------------------------------------------------

def goals(report):
    """Compares the results with the goals."""
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
    rows += [("cold process, time reported by the search, p50 in ms", f"{cold_['ownMs']['p50']:.1f}", "", tail(cold_["ownMs"])),
             ("startup of the binary, ms", f"{cold_['startMs']:.1f}", "", "rethread --version"),
             ("empty process, ms", f"{report['floor']['processMs']:.1f}", "", "true"),
             ("cold queries without hits", str(cold_["withoutHits"]), "", f"of {cold_['queries']}; {len(cold_['degraded'])} degraded")]
    for words, part in warm["byWords"].items():
        found = f"{part['hitsPerQuery']:.1f} hits per query, {part['withoutHits']} of {part['queries']} without"
        rows.append((f"in one process, {named(words)}, p50 in ms", f"{part['ms']['p50']:.2f}", "", f"{tail(part['ms'])}; {found}"))
    rows += [("in one process, first search, ms", f"{warm['firstMs']:.1f}", "", "including opening the store and index"),
             ("search with unindexed entries, ms", f"{new['searchMs']:.1f}", "",
              f"found; a sync of {new['syncMs']:.1f} ms {'changed' if new['indexTouched'] else 'did not change'} the index"),
             ("first sync, seconds", f"{first['seconds']:.2f}", "",
              f"{spread(first['all'])}; {first['entries']} entries, {first['episodes']} episodes, {first['peakRssMb']:.0f} MB RSS"),
             ("first sync without indexing, seconds", f"{first['withoutIndexSeconds']:.2f}", "", spread(first["allWithoutIndex"])),
             ("indexing alone, seconds", f"{first['indexSeconds']:.2f}", "", f"{spread(first['allIndex'])}; by {first['indexedBy']}"),
             ("index, MB", f"{size['index'] / MB:.1f}", "", f"{size['indexPercent']:.1f} % of the transcripts"),
             ("memory.db, MB", f"{size['database'] / MB:.1f}", "", f"{size['databasePercent']:.1f} % of the transcripts")]
    if real:
        rows.append(("index of real transcripts, MB", f"{real['index'] / MB:.1f}", "",
                     f"of {real['transcripts'] / MB:.0f} MB read, memory.db {real['database'] / MB:.1f} MB; {real['sessions']} sessions"))
    head = [headline(report), f"{home['episodes']} episodes in {home['files']} sessions, {home['bytes'] / MB:.0f} MB, page cache warm", ""]
    return "\n".join([""] + head + columns(rows))


def named(words):
    return {"phrase": "a phrase", "1": "a path or name"}.get(words, f"{words} words")


def tail(ms):
    return f"p90 {ms['p90']:.1f}, p99 {ms['p99']:.1f}, max {ms['max']:.1f}"
