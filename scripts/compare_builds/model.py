"""A model server on loopback that answers everything alike, and what it was asked."""
import http.server
import json
import threading

ANSWER = "The tests pass since the path was corrected. What is left is the release."


class Model:
    """Gives commands a model and keeps every request as an answer of the build."""

    def __init__(self, build):
        self.build, self.requests = build, []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                model.requests.append(f"{self.path}\n{body}")
                streamed = json.loads(body).get("stream")
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if streamed else "application/json")
                self.end_headers()
                self.wfile.write((stream() if streamed else whole()).encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        endpoint = f"http://127.0.0.1:{self.server.server_port}/v1"
        for key, value in (("model.provider", "openai"), ("model.endpoint", endpoint), ("model.name", "tiny"), ("budget.daily_tokens", "100000000"),
                           ("facts.model", "true"), ("threads.titles", "false")):
            self.build.run("config", "set", key, value)
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        (self.build.home / ".rethread" / "config.toml").unlink()

    def both(self, *words):
        self.build.both(*words)

    def keep_requests(self):
        for request in self.requests:
            self.build.keep("request to the model", request)
        self.requests.clear()


def whole():
    usage = {"prompt_tokens": 20, "completion_tokens": 4}
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}], "usage": usage})


def stream():
    deltas = [({"content": word + " "}, None) for word in ANSWER.split(" ")] + [({}, "stop")]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in deltas]
    events.append({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 7}})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
