"""The recording as asciicast v2: a header, then a line per event with its time."""
import json
import re

from .recorder import HEIGHT, WIDTH

CLEAR = "\x1b[2J\x1b[H"
COMMAND = re.compile(r"^(?:\x1b\[[\d;]*m)*\$ ")
# Characters that appear together while a command is typed, and the seconds between them.
TYPED_CHARACTERS, TYPING_SECONDS = 3, 0.09
# Seconds: before a command runs, per printed line, and to read a scene.
RUN_SECONDS, LINE_SECONDS, CAPTION_SECONDS = 0.5, 0.03, 0.25
READ_SECONDS, READ_LINE_SECONDS, MAX_READ_SECONDS = 3.0, 0.16, 8.0


class Recording:
    """Events as (seconds, text)."""

    def __init__(self):
        self.events, self.seconds = [], 0.0

    def add(self, text, after):
        self.events.append((round(self.seconds, 3), text))
        self.seconds += after


def from_scenes(scenes):
    """The scenes one after the other, each on a clear screen."""
    recording = Recording()
    for lines in scenes:
        recording.add(CLEAR, 0.1)
        is_caption = True
        for line in lines:
            if COMMAND.match(line):
                is_caption = False
                type_command(recording, line)
            else:
                recording.add(line + "\r\n", CAPTION_SECONDS if is_caption else LINE_SECONDS)
        recording.seconds += min(READ_SECONDS + READ_LINE_SECONDS * len(lines), MAX_READ_SECONDS)
    return recording


def type_command(recording, line):
    """Adds a command as if it was typed. Colors belong to the character that follows them."""
    characters = re.findall(r"(?:\x1b\[[\d;]*m)*[^\x1b]|(?:\x1b\[[\d;]*m)+$", line)
    prompt, rest = characters[:2], characters[2:]
    recording.add("".join(prompt), 0.4)
    for at in range(0, len(rest), TYPED_CHARACTERS):
        recording.add("".join(rest[at : at + TYPED_CHARACTERS]), TYPING_SECONDS)
    recording.seconds += RUN_SECONDS
    recording.add("\r\n", 0)


def dumps(recording):
    header = {"version": 2, "width": WIDTH, "height": HEIGHT, "title": "rethread demo", "env": {"TERM": "xterm-256color"}}
    events = [[time, "o", text] for time, text in recording.events]
    # The last screen stays for as long as the others.
    events.append([round(recording.seconds, 3), "o", ""])
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in [header, *events])
