"""What a recording shows: screens of rows, whose pieces appear at some time."""
import re
from dataclasses import dataclass, field

from .recorder import HEIGHT, WIDTH

SEQUENCE = re.compile(r"\x1b\[([\d;]*)([A-Za-z])")


@dataclass(frozen=True)
class Style:
    color: int | None = None
    is_bold: bool = False
    is_dim: bool = False


@dataclass
class Piece:
    """A text with one style that appears at once."""

    column: int
    text: str
    style: Style
    time: float


@dataclass
class Screen:
    """The rows between two times the screen was cleared."""

    start: float
    end: float = 0.0
    rows: list = field(default_factory=lambda: [[]])


def screens(recording):
    """The screens, in order. Knows the sequences that we print: colors, clearing, line breaks."""
    found, style, column = [], Style(), 0
    for time, text in recording.events:
        at = 0
        while at < len(text):
            sequence = SEQUENCE.match(text, at)
            if sequence:
                if sequence[2] == "J":
                    found.append(Screen(start=time))
                    column = 0
                elif sequence[2] == "m":
                    style = styled(style, sequence[1])
                at = sequence.end()
                continue
            character = text[at]
            at += 1
            if character == "\n":
                found[-1].rows.append([])
                column = 0
            elif character != "\r":
                if column == WIDTH:
                    found[-1].rows.append([])
                    column = 0
                put(found[-1].rows[-1], column, character, style, time)
                column += 1
    for one, following in zip(found, found[1:]):
        one.end = following.start
    found[-1].end = recording.seconds
    for one in found:
        # The last line break opens a row that stays empty.
        if len(one.rows) > HEIGHT + 1:
            title = "".join(piece.text for piece in one.rows[0])
            raise SystemExit(f"a scene has {len(one.rows)} rows, more than {HEIGHT}: {title}")
    return found


def put(row, column, character, style, time):
    last = row[-1] if row else None
    if last and last.style == style and last.time == time and last.column + len(last.text) == column:
        last.text += character
    else:
        row.append(Piece(column, character, style, time))


def styled(style, codes):
    for code in (int(one or 0) for one in codes.split(";")):
        if code == 0:
            style = Style()
        elif code == 1:
            style = Style(style.color, True, style.is_dim)
        elif code == 2:
            style = Style(style.color, style.is_bold, True)
        elif 30 <= code <= 37:
            style = Style(code - 30, style.is_bold, style.is_dim)
    return style
