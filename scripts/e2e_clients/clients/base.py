"""What all clients have in common: a home of their own, a prompt that makes the fake model call tools, and how a run ends."""
import contextlib, dataclasses, json, sqlite3, subprocess

from ..checks import REPLY, hold, show

NODE = "node22/node_modules/node/bin"
GREETING = "Please fix the greeting in notes.txt."
# Quotation marks, because some clients store a prompt with its quotation marks escaped.
FAREWELL = 'Now say "goodbye" to the reader.'
FORK = "No, whisper it."
TASK = "List the files of the harbour office, please."
THOUGHT = "planning the fix"
FAILING = "ls /nonexistent-dir; exit 3"
MODEL = "fake-1"
# Seconds for one run. OpenCode and Kilo install a package when they start for the first time.
PATIENCE = 240


@dataclasses.dataclass(frozen=True)
class Step:
    """One tool call of the fake model. `main` is the argument that says what the call is about."""

    tool: str
    arguments: dict
    main: str
    exit_code: int | None = None
    fails: bool = False
    is_sub_agent: bool = False

    def directive(self):
        return f"[[tool {self.tool} {json.dumps(self.arguments)}]]"


class Client:
    """A client in a temporary home, without this machine's environment variables."""

    # Its group, its name in Rethread, its name for people, and its program below the folder with the clients.
    name = agent = label = program = None
    node = NODE
    # The end of the address of a request that asks the model.
    api = "/chat/completions"
    model_name = MODEL
    # The name of the client's package in the installer, and the installer.
    package, installer = None, "setup-more.sh"
    # Private chats are read only if the user names the agent.
    is_private = False
    # Whether it stores when a session was active last.
    stores_times = True
    # The session to resume, if there are several, and whether the command that starts a session names it.
    chosen, names_sessions = None, False
    # How many sessions the two runs make.
    session_count = 1
    # How many files the calls change, or try to change.
    edited_files = 1
    # The branch, if the client stores it.
    branch = None
    # What the fake model says of each answer, or None if the client does not store it. Chat and Responses count reasoning as part of the output.
    usage = {"input": 1000, "output": 56, "cacheRead": 234, "cacheWrite": 0}
    # What its terminal interface shows when it takes a prompt, a regular expression.
    prompt_sign = None
    # What its terminal interface may ask before that, and the key that answers.
    question = None
    # Whether its command line can start the terminal interface with a first prompt.
    takes_first_prompt = True

    def __init__(self, programs, home, model):
        self.programs, self.home, self.model, self.project = programs, home, model, home / "project"
        self.url = f"http://127.0.0.1:{model.port}"
        path = f"{programs / self.node}:{(programs / self.program).parent}:/usr/local/bin:/usr/bin:/bin"
        self.environment = {"PATH": path, "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", "USER": "dev", "SHELL": "/bin/bash",
                            **self.variables()}
        self.set_up()

    @classmethod
    def is_installed(cls, programs):
        return (programs / cls.program).exists()

    def variables(self):
        """The environment variables it needs."""
        return {}

    def set_up(self):
        """Writes its settings."""

    def prepare_terminal(self):
        """Answers the questions that its terminal interface asks first, and chooses the model for it."""

    def steps(self):
        """The calls of the first prompt, in order."""
        raise NotImplementedError

    def reading(self, name):
        """A call that reads a file of the project."""
        raise NotImplementedError

    def editing(self, name, old, new):
        """A call that replaces a text in a file of the project."""
        raise NotImplementedError

    def running(self, command, exit_code=None):
        """A call that runs a shell command."""
        raise NotImplementedError

    def delegating(self, task):
        """A call that gives a task to a sub-agent, or None if none run here."""
        return None

    def start(self, prompt):
        """The command of a first prompt."""
        raise NotImplementedError

    def resume(self, prompt):
        """The command of another prompt in the same session."""
        raise NotImplementedError

    def fork(self, prompt):
        """The command of a prompt in a copy of the session, or None if the client has no such command."""
        return None

    def compact(self):
        """The command that replaces the context by a summary, or None if there is none without a terminal."""
        return None

    def sessions(self):
        """The IDs of all sessions, as the client wrote them, oldest first."""
        raise NotImplementedError

    def session(self):
        """The ID of the session that is resumed: the one that was chosen, or the only one."""
        return self.chosen or self.sessions()[0]

    def resume_command(self):
        """The command that Rethread has to suggest, or None if the client has none."""
        raise NotImplementedError

    def prompts(self):
        """What the user says: in a new session, and in the resumed one."""
        return [" ".join([GREETING, *(step.directive() for step in self.steps()), f"[[think {THOUGHT}]]"]), FAREWELL]

    def begin(self):
        self.run(self.start(self.prompts()[0]))

    def go_on(self):
        self.run(self.resume(self.prompts()[1]))

    def replies(self):
        """The texts of the model."""
        return [REPLY, REPLY]

    def call_name(self, one):
        """The name that Rethread gives a call."""
        return one.tool.rpartition("::")[2]

    def call_count(self):
        return len(self.steps())

    def tokens(self, answers):
        """What the fake model reported for so many answers."""
        return {kind: count * answers for kind, count in self.usage.items()}

    def cost(self, answers):
        """What the client computes for so many answers, in dollars, or None."""
        return None

    def greet(self, prompt):
        """One prompt in a session of its own."""
        self.run(self.start(prompt))

    def close(self):
        """Ends what the client left running."""

    def file(self, name):
        return str(self.project / name)

    def write(self, path, content):
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content if isinstance(content, str) else json.dumps(content))

    def words(self, command):
        """A command line with the program's full path."""
        return [str(self.programs / self.program), *command]

    def run(self, command, answers=True, text="", everything=False):
        """Runs the client to its end. Returns what it printed, also as errors if `everything` is set."""
        print(f"  $ {self.program.rpartition('/')[2]} " + " ".join(word[:60] for word in map(str, command)), flush=True)
        done = subprocess.run(["timeout", str(PATIENCE), *self.words(command)], cwd=self.project, env=self.environment, input=text, capture_output=True,
                              text=True, errors="replace")
        fine = done.returncode == 0 and (not answers or REPLY in done.stdout + done.stderr)
        if not fine:
            show(f"exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
        hold(f"{self.label} answered" if answers else f"{self.label} exited cleanly", fine)
        return done.stdout + done.stderr if everything else done.stdout


def by_age(files):
    """Files, oldest first."""
    return sorted(files, key=lambda path: path.stat().st_mtime)


def ids_in(database, query):
    """The IDs that a query finds in a client's database, or none if there is no database yet."""
    if not database.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return [id for id, in connection.execute(query)]
