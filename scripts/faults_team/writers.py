"""Writers that append to threads over HTTP and log what was acknowledged, and the checks of that log against the store."""

import hashlib
import json
import random
import threading
import time
import urllib.parse
import uuid
import zlib

from .nodes import Client, Failed

# A thread is left for a new one after this many messages.
MESSAGES_PER_THREAD = 40
PAUSE = 0.02
# Of a hundred messages, so many are sent to two nodes at once.
SENT_TWICE = 10


class Acknowledgements:
    """What the nodes said they have stored, in a file that no fault touches."""

    def __init__(self, path):
        self.path, self.rows, self.lock = path, [], threading.Lock()
        self.file = open(path, "a", encoding="ascii")

    def add(self, **row):
        with self.lock:
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()
            self.rows.append(row)

    def __len__(self):
        return len(self.rows)


class Writers:
    """Several threads of this process that write until they are stopped. One thread of the store belongs to all."""

    def __init__(self, nodes, acknowledged, count=4, pause=PAUSE):
        self.stopping, self.errors = threading.Event(), []
        self.client, self.acknowledged, self.pause = Client(nodes, self.stopping), acknowledged, pause
        self.shared = create_thread(self.client, "shared")
        self.workers = [threading.Thread(target=self._work, args=(number,)) for number in range(count)]

    def __enter__(self):
        for worker in self.workers:
            worker.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for worker in self.workers:
            worker.join()

    def _work(self, number):
        chosen = random.Random(number)
        try:
            while not self.stopping.is_set():
                thread = create_thread(self.client, f"writer {number}")
                for _ in range(MESSAGES_PER_THREAD):
                    if self.stopping.is_set():
                        return
                    self._append(self.shared if chosen.random() < 0.1 else thread, chosen.randrange(100))
                    time.sleep(self.pause)
        except Exception as error:  # A writer that ends early would make the run look good.
            if not self.stopping.is_set():
                self.errors.append(f"writer {number}: {error!r}")

    def _append(self, thread, first):
        client_id, word = uuid.uuid4().hex, f"w{uuid.uuid4().hex[:14]}"
        text = f"{word} is stored"
        body = {"role": "user", "content": text, "clientId": client_id}
        begun, answers = time.monotonic(), []
        post = lambda node: answers.append(self.client.post(f"/api/sessions/{thread}/messages", body, node))
        # Like a client that does not wait for the end of a slow request before it asks the next node.
        impatient = [threading.Thread(target=post, args=(first + 1,))] if first < SENT_TWICE else []
        for other in impatient:
            other.start()
        post(first)
        for other in impatient:
            other.join()
        if len(answers) <= len(impatient):
            raise Failed("append: no node answered one of two requests")
        for status, answer in answers:
            if status not in (200, 201):
                raise Failed(f"append: {status} {answer}")
            self.client.count(f"acknowledged {status}")
        answer = answers[0][1]
        if any(other["record"]["seq"] != answer["record"]["seq"] for _, other in answers):
            raise Failed(f"one message was stored twice: {answers}")
        self.acknowledged.add(thread=thread, seq=answer["record"]["seq"], client_id=client_id, word=word,
                              sha256=hashlib.sha256(text.encode()).hexdigest(), seconds=round(time.monotonic() - begun, 3))

    def wait_for(self, more, seconds):
        """Waits until this many more messages are acknowledged."""
        goal, end = len(self.acknowledged) + more, time.monotonic() + seconds
        while len(self.acknowledged) < goal and not self.errors:
            if time.monotonic() > end:
                raise Failed(f"fewer than {more} messages were acknowledged within {seconds} s")
            time.sleep(0.01)


def create_thread(client, name):
    status, answer = client.post("/api/sessions", {"name": name}, random.randrange(100))
    if status != 201:
        raise Failed(f"create a thread: {status} {answer}")
    return answer["session"]["id"]


def text_of(record):
    return "".join(block.get("text", "") for block in record["content"])


def records_of(log):
    """The records of an exported log. Fails if a checksum is wrong."""
    records = []
    for line in log.splitlines():
        body, comma, rest = line.rpartition(b',"crc":"')
        if not comma or f"{zlib.crc32(body):08x}" != rest[:8].decode():
            raise Failed(f"wrong checksum: {line[:120]!r}")
        records.append(json.loads(line))
    return records


def check_logs(program, rows, url=None):
    """Compares the acknowledgements with the logs of their threads. Returns what is lost, duplicated or out of order."""
    problems = {"lost": 0, "duplicates": 0, "gaps": 0}
    threads, stored = {row["thread"] for row in rows}, 0
    for thread in sorted(threads):
        records = records_of(program.export(thread, url=url))
        numbered = [record for record in records if record["recordType"] != "settings"]
        stored += len(numbered)
        if [record["seq"] for record in numbered] != list(range(1, len(numbered) + 1)):
            problems["gaps"] += 1
        named = [record["clientId"] for record in numbered if "clientId" in record]
        problems["duplicates"] += len(named) - len(set(named))
        by_id = {record.get("clientId"): record for record in numbered}
        for row in rows:
            if row["thread"] != thread:
                continue
            record = by_id.get(row["client_id"])
            if (not record or record["seq"] != row["seq"]
                    or hashlib.sha256(text_of(record).encode()).hexdigest() != row["sha256"]):
                problems["lost"] += 1
    return problems, len(threads), stored


def not_found(node, rows, seconds=20):
    """The acknowledged texts that a node does not find within some seconds."""
    end, missing = time.monotonic() + seconds, list(rows)
    while True:
        missing = [row for row in missing if not is_found(node, row)]
        if not missing or time.monotonic() > end:
            return missing
        time.sleep(0.5)


def is_found(node, row):
    query = urllib.parse.urlencode({"query": row["word"], "limit": 5})
    return row["word"] in json.dumps(node.get(f"/api/search?{query}").get("hits", []))


def sample_of(rows, count):
    """The last message of every thread, and others by chance."""
    last = {row["thread"]: row for row in rows}
    chosen = list(last.values()) + rows[-20:] + random.Random(1).sample(rows, min(len(rows), count))
    return list({row["client_id"]: row for row in chosen}.values())
