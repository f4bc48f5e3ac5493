"""An agent in a terminal of its own: tmux types for the user and reads the screen."""
import os, re, shlex, shutil, subprocess, time

from .checks import PATIENCE, Failed, hold, show

# What an agent shows if something of ours fails.
TROUBLE = re.compile(r"(?i)hook error|exception|exiting due to|stack frame|ENOENT|\berror:|extension .*error")


def is_available():
    return shutil.which("tmux") is not None


class Terminal:
    """A program in a window of its own tmux server."""

    def __init__(self, agent, words, cwd, environment):
        self.socket = f"rethread-e2e-{os.getpid()}-{agent}-{time.monotonic_ns()}"
        inside = " ".join(shlex.quote(f"{name}={value}") for name, value in {**environment, "TERM": "xterm-256color"}.items())
        command = f"env -i {inside} {' '.join(map(shlex.quote, map(str, words)))}; echo; echo EXIT-CODE $?; exec sleep 600"
        print("  $ (terminal) " + " ".join(map(str, words)), flush=True)
        self.tmux("new-session", "-d", "-x", "150", "-y", "50", "-s", "main", "-c", str(cwd), command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.socket, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.stdout

    def screen(self, lines=50):
        """The visible lines and some that have scrolled away."""
        return self.tmux("capture-pane", "-p", "-t", "main", "-S", str(-lines))

    def type(self, text):
        """Types a line and sends it. Agents take a fast Enter for part of a pasted text."""
        print(f"  > {text}", flush=True)
        self.tmux("send-keys", "-t", "main", "-l", text)
        time.sleep(0.6)
        self.press("Enter")

    def type_slowly(self, text):
        """Types a line and sends it once it is on the screen. Some agents lose what is typed right after their start."""
        print(f"  > {text}", flush=True)
        for _ in range(5):
            self.tmux("send-keys", "-t", "main", "-l", text)
            time.sleep(1.5)
            if text in self.screen(0):
                break
        self.press("Enter")

    def press(self, key):
        self.tmux("send-keys", "-t", "main", key)
        time.sleep(0.5)

    def wait_for(self, what, holds, seconds=PATIENCE):
        """Waits until something holds. Shows the screen if it never does."""
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                show(self.screen())
                raise Failed(f"{what} (after {seconds} seconds)")
            time.sleep(0.2)
        hold(what, True)

    def is_clean(self):
        """Fails if the screen shows trouble, or if the program has ended."""
        screen = self.screen()
        found = TROUBLE.search(screen)
        if found:
            show(screen[max(0, found.start() - 200):found.end() + 800])
        hold(f"no error on the screen{': ' + found.group() if found else ''}", not found)
        hold("the agent is still running", "EXIT-CODE" not in screen)

    def process_id(self):
        """The shell in which the program was started."""
        return int(self.tmux("display-message", "-p", "-t", "main", "#{pane_pid}"))

    def exit_code(self, seconds=PATIENCE):
        """Waits for the end of the program."""
        self.wait_for("the agent has ended", lambda: "EXIT-CODE" in self.screen(), seconds)
        return int(re.search(r"EXIT-CODE (\d+)", self.screen()).group(1))
