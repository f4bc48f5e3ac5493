"""The agents and the binary, each in a home of its own and without this machine's environment variables."""
import contextlib, http.client, http.server, json, subprocess, threading

from .checks import COMPACT, PATIENCE, REPLY, Failed, hold, later, show, since

CLAUDE, PI, NODE = "claude/node_modules/.bin/claude", "pi/node_modules/.bin/pi", "node22/node_modules/node/bin"
CODEX = "codex/node_modules/.bin/codex"
SETTINGS = '{ "includeCoAuthoredBy": false,\n   "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]} }\n'


class Claude:
    """Claude Code in its own home, without this machine's environment variables."""

    def __init__(self, programs, home, model):
        self.program, self.home, self.model, self.project = str(programs / CLAUDE), home, model, home / "project"
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "ANTHROPIC_API_KEY": "sk-ant-fake",
                            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}",
                            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
        self.shown = set()
        # Existing user settings with unusual formatting; uninstalling must restore them exactly.
        self.settings = home / ".claude" / "settings.json"
        self.settings.parent.mkdir()
        self.settings.write_text(SETTINGS)

    def say(self, prompts, *words, where=None, **variables):
        """Sends prompts to one process. Returns the texts of the last model request after each prompt."""
        print("  $ " + " ".join([*(f"{name}={value}" for name, value in variables.items()), "claude", "-p", *words]), flush=True)
        command = [self.program, "-p", "--model", "claude-sonnet-4-5", "--input-format", "stream-json", "--output-format", "stream-json",
                   "--verbose", "--include-hook-events", *words]
        process = subprocess.Popen(["timeout", str(PATIENCE), *command], cwd=where or self.project, env={**self.environment, **variables},
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        heard = [self.turn(process, prompt) for prompt in prompts]
        _, complaints = process.communicate()
        hold(f"Claude Code exited cleanly{': ' + complaints.strip() if complaints.strip() else ''}", process.returncode == 0)
        hold("no hook error at exit", "hook" not in complaints)
        return heard

    def turn(self, process, prompt):
        """Sends one prompt and waits for the answer."""
        print(f"  > {prompt}", flush=True)
        before = len(self.model.asked())
        line = {"type": "user", "message": {"role": "user", "content": prompt}}
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        events = []
        for line in process.stdout:
            events.append(json.loads(line))
            if events[-1].get("type") == "result":
                break
        hooks = [event for event in events if event.get("subtype") == "hook_response"]
        bad = [f"{hook['hook_event']} {hook.get('exit_code')} {hook.get('stderr')}" for hook in hooks if hook.get("exit_code") != 0 or hook.get("stderr")]
        hold(f"the hooks ran without errors: {', '.join(hook['hook_event'] for hook in hooks)}{bad or ''}", bool(hooks) and not bad)
        hold("the model's answer arrived", bool(events) and events[-1].get("result") == REPLY)
        asked = self.model.asked()[before:]
        hold(f"requests to the model: {len(asked)}", bool(asked) and any(prompt in text for text in asked[-1]))
        fresh = [text for text in asked[-1] if "hook additional context" in text and text not in self.shown]
        self.shown.update(fresh)
        show("\n".join(fresh) or "(no new text from a hook)")
        return asked[-1]


    def manage(self, *words):
        """Runs a management command, which does not use a model."""
        print("  $ claude " + " ".join(words), flush=True)
        done = subprocess.run(["timeout", str(PATIENCE), self.program, *words], cwd=self.project, env=self.environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        show(done.stdout + done.stderr)
        hold("the command succeeded", done.returncode == 0)
        return done.stdout


class Pi:
    """pi in the same home, without this machine's environment variables."""

    def __init__(self, programs, home, model):
        self.program, self.home, self.model, self.project = str(programs / PI), home, model, home / "project"
        self.environment = {"PATH": f"{programs / NODE}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "PI_OFFLINE": "1",
                            "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
        self.folder = home / ".pi" / "agent"
        self.folder.mkdir(parents=True)
        provider = {"baseUrl": f"http://127.0.0.1:{model.port}", "api": "anthropic-messages", "apiKey": "x", "models": [{"id": "fake-1"}]}
        (self.folder / "models.json").write_text(json.dumps({"providers": {"fake": provider}}))
        # Allows compaction in a short session.
        (self.folder / "settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": 10}}))

    def say(self, session, prompts, **variables):
        """Sends prompts to one process. Returns the texts of the last model request after each prompt.

        A prompt may be COMPACT, pi's command, which has no result."""
        print("  $ " + " ".join([*(f"{name}={value}" for name, value in variables.items()), "pi", "--session-id", session]), flush=True)
        command = ["timeout", str(PATIENCE), self.program, "--mode", "rpc", "--provider", "fake", "--model", "fake-1", "--session-id", session]
        process = subprocess.Popen(command, cwd=self.project, env={**self.environment, **variables}, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        heard = [self.turn(process, prompt) for prompt in prompts]
        _, complaints = process.communicate()
        complaints = [line for line in complaints.splitlines() if "No project session found" not in line]
        hold(f"pi exited cleanly {complaints or ''}", process.returncode == 0 and not complaints)
        return [texts for texts in heard if texts is not None]

    def print_answer(self, session, prompt):
        """Runs `pi -p` with one prompt."""
        print(f"  $ pi -p --session-id {session} {prompt!r}", flush=True)
        command = ["timeout", str(PATIENCE), self.program, "-p", "--provider", "fake", "--model", "fake-1", "--session-id", session, prompt]
        done = subprocess.run(command, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        hold("pi answered", done.returncode == 0 and REPLY in done.stdout)

    def turn(self, process, prompt):
        """Sends one prompt and waits until pi is idle."""
        print(f"  > {prompt}", flush=True)
        before = len(self.model.asked())
        is_prompt = prompt != COMPACT
        command = {"type": "prompt", "message": prompt} if is_prompt else {"type": "compact"}
        process.stdin.write(json.dumps(command) + "\n")
        process.stdin.flush()
        events = []
        for line in process.stdout:
            events.append(json.loads(line))
            kind = events[-1].get("type")
            if kind == "agent_settled" or (kind == "response" and (not is_prompt or not events[-1]["success"])):
                break
        bad = [event for event in events if event.get("type") == "extension_error" or event.get("success") is False]
        hold(f"no errors of pi or the extension {bad or ''}", bool(events) and not bad)
        if not is_prompt:
            return None
        asked = self.model.asked()[before:]
        hold(f"requests to the model: {len(asked)}", bool(asked) and any(prompt in text for text in asked[-1]))
        show("\n".join(since(asked[-1], prompt)) or "(nothing added)")
        return asked[-1]


class Named(http.server.BaseHTTPRequestHandler):
    """Proxy between Codex and the fake model: Codex expects the server of a tool as a namespace, the model sends the full name."""

    protocol_version = "HTTP/1.1"
    port = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.pass_on(b"")

    def do_POST(self):
        self.pass_on(self.rfile.read(int(self.headers["content-length"])))

    def pass_on(self, body):
        model = http.client.HTTPConnection("127.0.0.1", self.port)
        model.request(self.command, self.path, body, {"content-type": "application/json"})
        answer = model.getresponse()
        lines = [self.named(line) for line in answer.read().decode().split("\n")]
        data = "\n".join(lines).encode()
        self.send_response(answer.status)
        self.send_header("content-type", answer.headers["content-type"])
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def named(self, line):
        if not line.startswith("data: {"):
            return line
        event = json.loads(line.removeprefix("data: "))
        for item in [event.get("item"), *(event.get("response") or {}).get("output", [])]:
            if item and item.get("type") == "function_call" and item["name"].count("__") == 2:
                item["namespace"], _, item["name"] = item["name"].rpartition("__")
        return f"data: {json.dumps(event)}"


class Codex:
    """Codex in the same home, with our MCP server in its configuration."""

    def __init__(self, programs, home, model, rethread):
        self.program, self.home, self.model, self.project = str(programs / CODEX), home, model, home / "project"
        self.environment = {"PATH": f"{programs / NODE}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "FAKE_KEY": "x"}
        Named.port = model.port
        between = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Named)
        threading.Thread(target=between.serve_forever, daemon=True).start()
        config = ['model_provider = "fake"', 'model = "fake-1"', "[model_providers.fake]", 'name = "fake"', 'wire_api = "responses"',
                  'env_key = "FAKE_KEY"', f'base_url = "http://127.0.0.1:{between.server_port}/v1"']
        self.config = home / ".codex" / "config.toml"
        self.config.parent.mkdir()
        self.config.write_text("\n".join(config) + "\n")

    def manage(self, *words):
        """Runs a management command, which does not use a model."""
        print("  $ codex " + " ".join(words), flush=True)
        done = subprocess.run(["timeout", str(PATIENCE), self.program, *words], cwd=self.project, env=self.environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        show(done.stdout)
        hold("the command succeeded", done.returncode == 0)
        return done.stdout

    def say(self, prompt):
        """Sends a prompt. Returns the last request to the model."""
        print(f"  > {prompt}", flush=True)
        before = len(self.model.bodies("/responses"))
        command = ["timeout", str(PATIENCE), self.program, "exec", "--skip-git-repo-check", prompt]
        done = subprocess.run(command, cwd=self.project, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        asked = self.model.bodies("/responses")[before:]
        hold(f"Codex answered; requests to the model: {len(asked)}", done.returncode == 0 and REPLY in done.stdout and bool(asked))
        return asked[-1]


class Rethread:
    """The binary in the same home."""

    def __init__(self, binary, home):
        self.binary, self.home, self.project = str(binary), home, home / "project"
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}

    def run(self, *words, fine=(0,), with_hints=False, quiet=False, **variables):
        """Runs a command and returns its output, with hints and warnings if wanted. Fails on an unexpected exit code."""
        print(f"  $ rethread {' '.join(words)}", flush=True)
        done = subprocess.run([self.binary, *words], cwd=self.project, env={**self.environment, **variables}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if not quiet:
            show(done.stdout + done.stderr)
        if done.returncode not in fine:
            raise Failed(f"rethread {' '.join(words)} exited with {done.returncode}\n{done.stderr}")
        return done.stdout + done.stderr if with_hints else done.stdout


@contextlib.contextmanager
def serving(rethread):
    """Runs `rethread serve` on a free port. Yields the MCP URL and the token."""
    command = [rethread.binary, "serve", "--listen", "127.0.0.1:0", "--json", "--no-watch"]
    process = subprocess.Popen(command, cwd=rethread.project, env=rethread.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["url"] + "/mcp", rethread.run("token").strip()
    finally:
        process.terminate()
        code = process.wait(timeout=60)
    hold("the server exited cleanly", code == 0)


def write_session(rethread, session, prompt):
    """Writes a Claude Code transcript with one prompt."""
    line = {"type": "user", "uuid": f"{session}-1", "sessionId": session, "cwd": str(rethread.project), "timestamp": later(minutes=-5),
            "message": {"role": "user", "content": prompt}}
    path = rethread.home / ".claude" / "projects" / "-project" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(line) + "\n")
