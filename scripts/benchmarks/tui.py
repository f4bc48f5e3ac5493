"""How fast the terminal UI draws its first frame, and results after each key, over many episodes."""
import argparse, fcntl, os, pty, select, signal, statistics, struct, termios, time

from .common import (Failed, build, columns, goal_rows, headline, judged, run, run_benchmark, say, standard_options,
                     surroundings, sync)

EPISODES_PER_SESSION = 25
GOAL_FIRST_FRAME, GOAL_KEY = 60, 30
WIDTH, HEIGHT = 120, 40
PATIENCE = 20
# Nothing more is drawn for a key after the terminal was silent for so long.
SILENCE = 0.25
# Reads of one drawing are closer together than this.
SAME_DRAWING = 0.0015


def main(arguments):
    """Generates a home, syncs it, starts the interface in a pseudo terminal, and types queries."""
    options = tui_options(arguments)
    tools = build(options.skip_build, ["generate-talk"], options.binary)
    return run_benchmark("tui", tools, options, ("episodes", "queries", "starts"), measure, goals, table)


def tui_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench tui")
    number = dict(type=int, metavar="N")
    parser.add_argument("--episodes", default=200_000, help="episodes to search in (default %(default)s)", **number)
    parser.add_argument("--queries", default=30, help="queries to type (default %(default)s)", **number)
    parser.add_argument("--starts", default=15, help="starts of the program (default %(default)s)", **number)
    standard_options(parser, "tui")
    return parser.parse_args(arguments)


def measure(tools, work, options):
    home = work / "talk"
    memory = home / ".rethread"
    say(f"generating {options.episodes} episodes")
    sessions = -(-options.episodes // EPISODES_PER_SESSION)
    run([tools["generate-talk"], home, "--episodes", options.episodes, "--sessions", sessions, "--seed", 1], work)
    say("syncing")
    sync(tools, home, memory)
    say(f"starting {options.starts} times")
    binary = str(tools["rethread"])
    warm = [first_frames(binary, home, memory) for _ in range(options.starts)]
    cold = []
    if os.geteuid() == 0 and os.access("/proc/sys/vm/drop_caches", os.W_OK):
        for _ in range(max(3, options.starts // 3)):
            drop_caches()
            cold.append(first_frames(binary, home, memory))
    queries = (home / "queries.txt").read_text().splitlines()
    step = max(1, len(queries) // options.queries)
    typed = queries[::step][:options.queries]
    say(f"typing {len(typed)} queries")
    return {"warm": starts(warm), "cold": starts(cold) if cold else None, "keys": type_queries(binary, home, memory, typed)}


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")


def starts(times):
    frames, rows = zip(*times)
    return {"frameMs": statistics.median(frames), "mostFrameMs": max(frames), "rowsMs": statistics.median(rows)}


class Interface:
    """The program in a pseudo terminal."""

    def __init__(self, binary, home, memory):
        environment = {**surroundings(home, memory), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.started = time.perf_counter()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
            os.execve(binary, [binary, "tui", "--all-projects"], environment)

    def read(self, seconds):
        """What was drawn within a time, if anything."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self.terminal, 1 << 20)
        except OSError as error:
            raise Failed("the interface ended by itself") from error

    def milliseconds_until(self, text):
        seen = b""
        while text not in seen:
            seen += self.read(1)
            if time.perf_counter() - self.started > PATIENCE:
                raise Failed(f"{text.decode()!r} was not drawn within {PATIENCE} s")
        return (time.perf_counter() - self.started) * 1000, seen

    def drawings_after(self, keys):
        """Sends keys; the milliseconds after which each of the drawings that followed was complete."""
        started = time.perf_counter()
        os.write(self.terminal, keys)
        ends, last = [], None
        while self.read(SILENCE):
            now = time.perf_counter()
            if last is not None and now - last < SAME_DRAWING:
                ends.pop()
            ends.append((now - started) * 1000)
            last = now
        return ends

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def first_frames(binary, home, memory):
    """Milliseconds from the start of the process to its first whole frame, and to the first rows."""
    interface = Interface(binary, home, memory)
    try:
        # The last row is drawn last.
        frame, seen = interface.milliseconds_until(b"select")
        row = "▌".encode()
        rows = frame if row in seen else interface.milliseconds_until(row)[0]
        return frame, rows
    finally:
        interface.close()


def type_queries(binary, home, memory, queries):
    """Types each query letter by letter. The first drawing after a key has the letter, the second the results, the last
    the whole conversation. Where only one follows, the letter came with the results, or they did not change."""
    interface = Interface(binary, home, memory)
    echo, results, whole = [], [], []
    try:
        interface.milliseconds_until("▌".encode())
        while interface.read(1.5):
            pass
        for query in queries:
            interface.drawings_after(b"\x15")
            for letter in query:
                ends = interface.drawings_after(letter.encode())
                if ends:
                    echo.append(ends[0])
                    results.append(ends[min(1, len(ends) - 1)])
                    whole.append(ends[-1])
        return {"count": len(echo), "echo": spread_of(echo), "results": spread_of(results), "whole": spread_of(whole)}
    finally:
        interface.close()


def spread_of(times):
    ordered = sorted(times)
    return {f"p{share}Ms": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}


def goals(report):
    frame = report["cold"] or report["warm"]
    return judged([("first frame, ms", frame["frameMs"], "<=", GOAL_FIRST_FRAME),
                   ("results after a key, p50 ms", report["keys"]["results"]["p50Ms"], "<=", GOAL_KEY),
                   ("results after a key, p95 ms", report["keys"]["results"]["p95Ms"], "<=", GOAL_KEY)])


def table(report):
    rows = [("start", "first frame", "rows", "")]
    for name in ("warm", "cold"):
        if times := report[name]:
            rows.append((name, f"{times['frameMs']:.0f} ms", f"{times['rowsMs']:.0f} ms", f"at most {times['mostFrameMs']:.0f}"))
    rows.append(("", "", "", ""))
    rows.append((f"{report['keys']['count']} keys", "p50", "p95", "p99"))
    for name in ("echo", "results", "whole"):
        times = report["keys"][name]
        rows.append((name, f"{times['p50Ms']:.1f} ms", f"{times['p95Ms']:.1f} ms", f"{times['p99Ms']:.1f} ms"))
    return "\n".join([headline(report), "", *columns(rows), "", *columns(goal_rows(report["goals"]))])
