"""Draws a recording as one animated SVG without scripts: pieces of text that appear, and screens that replace each other."""
from html import escape

from .recorder import WIDTH
from .screen import screens

CELL, LINE, SIZE = 8.4, 18, 14
EDGE, BAR = 18, 34
GROUND, FRAME, BAR_GROUND, INK, DIM = "#16171d", "#2b2d38", "#1f2029", "#d7d9e2", "#8388a0"
# The eight colors of a terminal, readable on the ground.
COLORS = ["#5c6075", "#ef7a7a", "#8ccf8f", "#e3bf78", "#8aa9f5", "#cf9af0", "#78c9d4", "#d7d9e2"]
DIM_COLORS = ["#4a4d60", "#a85f62", "#66966a", "#a58c5e", "#667cb0", "#9672ac", "#5b939c", DIM]


def draw(recording):
    found, seconds = screens(recording), recording.seconds
    rows = max(len(screen.rows) for screen in found)
    width, height = round(WIDTH * CELL + 2 * EDGE), rows * LINE + BAR + 2 * EDGE
    keyframes, bodies = [], []
    for number, screen in enumerate(found):
        keyframes.append(shown_between(f"s{number}", screen.start / seconds, screen.end / seconds))
        # Who wants no motion sees the fullest screen.
        is_still = len(screen.rows) == rows and not any("still" in body for body in bodies)
        bodies.append(draw_screen(number, screen, is_still, seconds, keyframes))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="t d">
<title id="t">rethread demo</title>
<desc id="d">{escape(describe(found))}</desc>
<style>
text{{font:{SIZE}px ui-monospace,"SF Mono","JetBrains Mono","Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:{INK};white-space:pre}}
.b{{font-weight:700}}.d{{fill:{DIM}}}
{colors()}
.s{{visibility:hidden;animation:{seconds:.1f}s step-end infinite}}.still{{visibility:visible}}
.p{{animation:{seconds:.1f}s step-end infinite}}
{"".join(keyframes)}
@media (prefers-reduced-motion:reduce){{.s,.p{{animation:none}}}}
</style>
<rect width="{width}" height="{height}" rx="12" fill="{FRAME}"/>
<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="11" fill="{GROUND}"/>
<path d="M1 {BAR}V12a11 11 0 0 1 11-11h{width - 24}a11 11 0 0 1 11 11v{BAR - 12}z" fill="{BAR_GROUND}"/>
<g fill="#4a4d60"><circle cx="20" cy="{BAR / 2:g}" r="5.5"/><circle cx="38" cy="{BAR / 2:g}" r="5.5"/><circle cx="56" cy="{BAR / 2:g}" r="5.5"/></g>
<text x="{width / 2:g}" y="{BAR / 2 + 5:g}" text-anchor="middle" class="d">rethread demo</text>
{"".join(bodies)}</svg>
"""


def colors():
    bright = "".join(f".c{at}{{fill:{color}}}" for at, color in enumerate(COLORS))
    return bright + "".join(f".d.c{at}{{fill:{color}}}" for at, color in enumerate(DIM_COLORS))


def describe(found):
    """The titles of the scenes, for those who do not see the picture."""
    titles = ["".join(piece.text for piece in screen.rows[0]).split(" ", 1)[-1] for screen in found]
    return "A terminal shows: " + "; ".join(titles) + "."


def draw_screen(number, screen, is_still, seconds, keyframes):
    lines, times = [], {}
    for row_number, row in enumerate(screen.rows):
        y = BAR + EDGE + LINE * row_number + SIZE
        for piece in row:
            if not piece.text.strip():
                continue
            name = times.setdefault(piece.time, f"a{number}-{len(times)}")
            lines.append(draw_piece(piece, y, name if piece.time > screen.start else None))
    keyframes.extend(shown_from(name, time / seconds) for time, name in times.items() if time > screen.start)
    return f'<g class="{"s still" if is_still else "s"}" style="animation-name:s{number}">\n{"".join(lines)}</g>\n'


def draw_piece(piece, y, animation):
    blanks = len(piece.text) - len(piece.text.lstrip())
    text = piece.text.strip()
    x = EDGE + (piece.column + blanks) * CELL
    style = piece.style
    names = ["b"] * style.is_bold + ["d"] * style.is_dim + ([f"c{style.color}"] if style.color is not None else [])
    names += ["p"] if animation else []
    classes = f' class="{" ".join(names)}"' if names else ""
    animated = f' style="animation-name:{animation}"' if animation else ""
    # Fonts differ in width; the columns must not.
    length = f' textLength="{len(text) * CELL:.1f}"' if len(text) > 1 else ""
    return f'<text x="{x:.1f}" y="{y}"{length}{classes}{animated}>{escape(text, quote=False)}</text>\n'


def percent(part):
    return f"{100 * part:.3f}".rstrip("0").rstrip(".") + "%"


def shown_between(name, start, end):
    before = "" if start == 0 else "0%{visibility:hidden}"
    return f"@keyframes {name}{{{before}{percent(start)}{{visibility:visible}}{percent(end)}{{visibility:hidden}}}}\n"


def shown_from(name, start):
    return f"@keyframes {name}{{0%{{opacity:0}}{percent(start)}{{opacity:1}}}}\n"
