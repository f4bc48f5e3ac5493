"""A conversation with any client, one prompt after the other, whether each prompt is a process of its own or not."""
import contextlib, dataclasses, json, subprocess, time, uuid

from .checks import REPLY, hold, show
from .clients import ClineClient, DroidClient
from .clients.base import PATIENCE
from .conversation import offered
from .injections import injections, items
from .terminal import Terminal


def asking(prompt, *steps):
    """A prompt whose instructions are at the end: quoted in another session, the fake model would follow them again."""
    return f"{prompt}, {'and look at it again, ' * 16}please. " + " ".join(step.directive() for step in steps) if steps else f"{prompt}, please."


@dataclasses.dataclass
class Turn:
    """What one prompt led to: the requests of the session itself, and all others."""

    prompt: str
    requests: list
    others: list
    output: str


class Chat:
    """A session of a client that runs one process for each prompt."""

    def __init__(self, client):
        self.client, self.session, self.turns = client, None, []

    def say(self, prompt, *steps):
        """Says something that begins with `prompt`, which no other prompt of the home does. Returns the turn."""
        print(f"  > {self.client.label}: {prompt} {[step.tool + ' ' + step.main[:40] for step in steps] or ''}", flush=True)
        before = len(self.client.model.bodies(self.client.api))
        output = self.send(asking(prompt, *steps), prompt)
        asked = self.client.model.bodies(self.client.api)[before:]
        shell = self.client.running("true").tool
        is_main = lambda body: prompt in json.dumps(body, ensure_ascii=False) and shell in offered(body)
        turn = Turn(prompt, [body for body in asked if is_main(body)], [body for body in asked if not is_main(body)], output)
        hold(f"requests to the model: {len(turn.requests)}", bool(turn.requests))
        self.turns.append(turn)
        show("\n".join(self.new_items()) or "(nothing injected)")
        return turn

    def send(self, text, _):
        client = self.client
        if self.session:
            client.chosen = self.session
            return client.run(client.resume(text), everything=True)
        known = client.sessions()
        client.chosen = str(uuid.uuid4()) if client.names_sessions else None
        output = client.run(client.start(text), everything=True)
        self.session = client.chosen or next(session for session in client.sessions() if session not in known)
        return output

    def close(self):
        """Ends the session's process, if there is one."""

    def prompts(self):
        return [turn.prompt for turn in self.turns]

    def requests(self):
        return [body for turn in self.turns for body in turn.requests]

    def found_in(self, turn):
        """Our texts in all requests of a turn, each once."""
        return list({(one.text, one.place): one for body in turn.requests for one in injections(body, self.prompts())}.values())

    def new_items(self):
        """What the last turn said that no turn before it said."""
        *earlier, last = [[item for one in self.found_in(turn) for item in items(one.text)] for turn in self.turns]
        known = {item for turn in earlier for item in turn}
        return [item for item in dict.fromkeys(last) if item not in known]


class DroidChat(Chat):
    """Droid resumes only with a login: one process gets all prompts, each after the answer to the one before."""

    process = None

    def send(self, text, _):
        client = self.client
        if not self.process:
            command = ["exec", "-m", client.model_name, "--auto", "high", "--input-format", "stream-json", "--output-format", "stream-json"]
            known = client.sessions()
            self.process = subprocess.Popen(["timeout", str(PATIENCE * 3), *client.words(command)], cwd=client.project, env=client.environment,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        answered = self.answered() if self.session else 0
        self.process.stdin.write(json.dumps({"role": "user", "content": text}) + "\n")
        self.process.stdin.flush()
        if not self.session:
            wait(lambda: set(client.sessions()) - set(known))
            self.session = next(session for session in client.sessions() if session not in known)
        hold("Droid answered", wait(lambda: self.answered() > answered))
        return ""

    def answered(self):
        [file] = self.client.home.glob(f".factory/sessions/*/{self.session}.jsonl")
        return file.read_text().count('"agent_turn_outcome"')

    def close(self):
        if self.process:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            output = self.process.stdout.read()
            hold("Droid exited cleanly", self.process.wait() == 0 and "rror" not in "".join(line for line in output.splitlines() if '"tools"' not in line))
            self.process = None


class ClineChat(Chat):
    """Cline resumes only in a terminal."""

    terminal = None

    def send(self, text, prompt):
        if not self.session:
            return super().send(text, prompt)
        client = self.client
        client.chosen = self.session
        if not self.terminal:
            self.terminal = Terminal("cline", client.words(["-i", "--id", self.session]), client.project, client.environment)
            self.terminal.wait_for("Cline shows the session", lambda: REPLY in self.terminal.screen(200))
        self.terminal.type(text)
        self.terminal.wait_for("Cline stored the answer", lambda: client.is_answered(prompt))
        self.terminal.is_clean()
        return ""

    def close(self):
        if self.terminal:
            self.terminal.__exit__()
            self.terminal = None


def chat_with(client):
    return {DroidClient: DroidChat, ClineClient: ClineChat}.get(type(client), Chat)(client)


def wait(holds):
    until = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < until:
        time.sleep(0.1)
    return holds()
