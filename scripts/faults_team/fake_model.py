"""A model server on loopback that answers slowly, word by word, and counts how many answers run at the same time."""

import http.server
import json
import threading
import time

WORDS = 60
PAUSE = 0.15


class FakeModel:
    """An OpenAI-compatible server."""

    def __init__(self, words=WORDS, pause=PAUSE):
        self.words, self.pause = words, pause
        self.running, self.most, self.answers, self.lock = 0, 0, 0, threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.answer(self, request)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def settings(self):
        """What a node needs to use it."""
        values = {"model.provider": "openai", "model.endpoint": self.url, "model.name": "fake", "model.window": "32000",
                  "budget.daily_tokens": "100000000", "threads.titles": "false"}
        return [part for name, value in values.items() for part in ("-c", f"{name}={value}")]

    def answer(self, handler, request):
        with self.lock:
            self.answers += 1
            number, self.running = self.answers, self.running + 1
            self.most = max(self.most, self.running)
        try:
            self._stream(handler, number, request)
        except OSError:
            pass
        finally:
            with self.lock:
                self.running -= 1

    def _stream(self, handler, number, request):
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        for word in range(self.words):
            self._send(handler, {"delta": {"content": f"a{number}w{word} "}, "finish_reason": None})
            time.sleep(self.pause)
        usage = {"prompt_tokens": 10, "completion_tokens": self.words, "total_tokens": 10 + self.words}
        self._send(handler, {"delta": {}, "finish_reason": "stop"}, usage=usage)
        handler.wfile.write(b"data: [DONE]\n\n")

    @staticmethod
    def _send(handler, choice, **more):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake",
                 "choices": [{"index": 0, **choice}], **more}
        handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        handler.wfile.flush()
