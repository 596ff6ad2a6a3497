"""What models of many sizes cost: a table a family in words, and a picture as SVG with a chart a family.

Owns the scales and the colours of the picture: both axes go by powers of ten, each part is a line, and the number at a
line's end is explained by the legend below.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from clonediff.harness.campaign.bench_sizes import BUILDING, Grown, SizeSpeed
from clonediff.harness.cli.terminal import table
from clonediff.reports.markup import Markup, join, px, raw, tag

_DRAWN = 0.005
"""Of the time of the largest model, what a part takes at least that is drawn."""
_WIDTH, _HEIGHT = 360.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 26.0, 30.0, 30.0
_ROW = 16.0
_COLOURS = (
    *("#1565c0", "#c62828", "#2e7d32", "#7b3fc4", "#b26a00"),
    *("#00838f", "#ad1457", "#5d4037", "#455a64", "#827717"),
)
_STYLE = """
svg.growth{background:#fff}.growth text{font:12px system-ui,sans-serif;fill:#1d2430}
.growth .head{font-weight:650}.growth .axis{font-size:11px;fill:#5b6575}
.growth .grid{stroke:#dfe4ec;stroke-width:1}.growth path{fill:none;stroke-width:1.8}.growth .first{stroke-width:3}
.growth .number{font-size:10px}
@media(prefers-color-scheme:dark){svg.growth{background:#14181f}.growth text{fill:#e6eaf0}
.growth .axis{fill:#9aa6b6}.growth .grid{stroke:#262e3b}}
"""


def sizes_text(found: SizeSpeed) -> list[str]:
    """The lines for a person: milliseconds by size, and the exponent of each part."""
    lines = [f"{found.subject} {found.keras}, milliseconds; a part grows as size to the power in the last column"]
    for each in found.families:
        lines += ["", *table(_rows(each))]
        faster = each.faster()
        lines.append(f"faster than {BUILDING}: {', '.join(faster)}" if faster else f"nothing is faster than {BUILDING}")
    return lines


def _rows(grown: Grown) -> list[list[str]]:
    rows = [[grown.what, *(f"{each.size:>9,}" for each in grown.timed), "grows as"]]
    for part in grown.timed[0].seconds:
        exponent = grown.exponents.get(part)
        cells = (f"{each.seconds[part] * 1000:9,.1f}" for each in grown.timed)
        rows.append([part, *cells, "" if exponent is None else f"{exponent:.2f}"])
    return rows


def sizes_picture(found: SizeSpeed) -> str:
    """A file of its own: the charts beside one another, building first, without what takes no time to speak of."""
    parts = [_parts(each) for each in found.families]
    drawn = [
        tag("g", _chart(each, its), transform=f"translate({px(_WIDTH * place)} 24)")
        for place, (each, its) in enumerate(zip(found.families, parts, strict=True))
    ]
    rows = max(map(len, parts), default=0)
    width, height = round(_WIDTH * max(1, len(drawn))), round(24 + _HEIGHT + _ROW * rows + 10)
    title = f"{found.subject} {found.keras}: what a trial takes"
    return tag(
        "svg",
        tag("title", title),
        tag("style", raw(_STYLE)),
        tag("text", title, x=12, y=18, class_="head"),
        *drawn,
        class_="growth",
        role="img",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        xmlns="http://www.w3.org/2000/svg",
    )


def _parts(grown: Grown) -> list[str]:
    largest = grown.timed[-1].seconds
    return [part for part in grown.timed[0].seconds if largest[part] >= _DRAWN * sum(largest.values())]


def _chart(grown: Grown, parts: Sequence[str]) -> Markup:
    left, right = _powers([each.size for each in grown.timed])
    seconds = [each.seconds[part] for part in parts for each in grown.timed if each.seconds[part] > 0]
    low, high = _powers(seconds or [1.0])

    def x(size: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (log10(size) - left) / (right - left)

    def y(seconds: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (log10(seconds) - low) / (high - low)

    drawn = [tag("text", f"{grown.family}: seconds by {grown.what}", x=12, y=16, class_="head")]
    bottom = _HEIGHT - _BOTTOM
    for power in range(left, right + 1):
        at = px(x(10.0**power))
        drawn.append(tag("line", x1=at, x2=at, y1=px(_TOP), y2=px(bottom), class_="grid"))
        drawn.append(tag("text", _power(power), x=at, y=px(bottom + 16), text_anchor="middle", class_="axis"))
    for power in range(low, high + 1):
        at = px(y(10.0**power))
        drawn.append(tag("line", x1=px(_LEFT), x2=px(_WIDTH - _RIGHT), y1=at, y2=at, class_="grid"))
        drawn.append(tag("text", _power(power), x=px(_LEFT - 6), y=at, dy=4, text_anchor="end", class_="axis"))
    for number, part in enumerate(parts):
        points = [(x(each.size), y(each.seconds[part])) for each in grown.timed if each.seconds[part] > 0]
        if points:
            drawn += _line(number, part, points, grown.exponents.get(part))
    return join(drawn)


def _line(number: int, part: str, points: Sequence[tuple[float, float]], exponent: float | None) -> list[Markup]:
    """A line with its number at its end, and its row of the legend."""
    colour = _COLOURS[number % len(_COLOURS)]
    path = "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points)
    (end_x, end_y), row = points[-1], _HEIGHT + _ROW * (number + 0.5)
    said = f"{number + 1} {part}" + ("" if exponent is None else f", grows as size^{exponent:.2f}")
    return [
        tag("path", tag("title", part), d=path, stroke=colour, class_=None if number else "first"),
        tag("text", str(number + 1), x=px(end_x + 4), y=px(end_y + 4), class_="number"),
        tag("rect", x=12, y=px(row - 5), width=14, height=4, fill=colour),
        tag("text", said, x=32, y=px(row)),
    ]


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around some numbers, two different ones."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _power(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"
