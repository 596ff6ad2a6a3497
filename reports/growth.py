"""How seconds grow with a size, as SVG: a chart a family, both axes by powers of ten, a line a part.

Owns the scales and the colours. A line's end has its number, which the legend below explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from clonediff.reports.markup import Markup, join, px, raw, tag

WIDTH, HEIGHT = 360.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 26.0, 30.0, 30.0
ROW = 16.0

_COLOURS = (
    "#1565c0",
    "#c62828",
    "#2e7d32",
    "#7b3fc4",
    "#b26a00",
    "#00838f",
    "#ad1457",
    "#5d4037",
    "#455a64",
    "#827717",
)
_STYLE = """
svg.growth{background:#fff}.growth text{font:12px system-ui,sans-serif;fill:#1d2430}
.growth .head{font-weight:650}.growth .axis{font-size:11px;fill:#5b6575}
.growth .grid{stroke:#dfe4ec;stroke-width:1}.growth path{fill:none;stroke-width:1.8}.growth .first{stroke-width:3}
.growth .number{font-size:10px}
@media(prefers-color-scheme:dark){svg.growth{background:#14181f}.growth text{fill:#e6eaf0}
.growth .axis{fill:#9aa6b6}.growth .grid{stroke:#262e3b}}
"""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """What one part takes: seconds by size, and its exponent where it has one."""

    name: str
    points: tuple[Point, ...]
    exponent: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """The lines of a family, the first of which the others are seen against; `what` is what its sizes count."""

    name: str
    what: str
    lines: tuple[Line, ...]


def picture(title: str, charts: Sequence[Chart]) -> str:
    """A file of its own: the charts beside one another, each with its legend below."""
    drawn = [
        tag("g", _chart(chart), transform=f"translate({px(WIDTH * place)} 24)") for place, chart in enumerate(charts)
    ]
    rows = max((len(chart.lines) for chart in charts), default=0)
    width, height = round(WIDTH * max(1, len(charts))), round(24 + HEIGHT + ROW * rows + 10)
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


def _chart(chart: Chart) -> Markup:
    points = [point for line in chart.lines for point in line.points if point[1] > 0]
    if not points:
        return tag("text", f"{chart.name}: nothing was timed", x=12, y=16)
    (left, right), (low, high) = _powers([x for x, _ in points]), _powers([y for _, y in points])

    def x(size: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (log10(size) - left) / (right - left)

    def y(seconds: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log10(seconds) - low) / (high - low)

    parts = [tag("text", f"{chart.name}: seconds by {chart.what}", x=12, y=16, class_="head")]
    for power in range(left, right + 1):
        at = px(x(10.0**power))
        parts.append(tag("line", x1=at, x2=at, y1=px(TOP), y2=px(HEIGHT - BOTTOM), class_="grid"))
        parts.append(tag("text", _power(power), x=at, y=px(HEIGHT - BOTTOM + 16), text_anchor="middle", class_="axis"))
    for power in range(low, high + 1):
        at = px(y(10.0**power))
        parts.append(tag("line", x1=px(LEFT), x2=px(WIDTH - RIGHT), y1=at, y2=at, class_="grid"))
        parts.append(tag("text", _power(power), x=px(LEFT - 6), y=at, dy=4, text_anchor="end", class_="axis"))
    for number, line in enumerate(chart.lines):
        there = [(x(size), y(seconds)) for size, seconds in line.points if seconds > 0]
        parts.append(_line(number, line, there))
        parts.append(_legend(number, line))
    return join(parts)


def _line(number: int, line: Line, points: Sequence[Point]) -> Markup:
    if not points:
        return join([])
    colour = _COLOURS[number % len(_COLOURS)]
    path = "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points)
    end_x, end_y = points[-1]
    return join(
        [
            tag("path", tag("title", line.name), d=path, stroke=colour, class_=None if number else "first"),
            tag("text", str(number + 1), x=px(end_x + 4), y=px(end_y + 4), class_="number"),
        ]
    )


def _legend(number: int, line: Line) -> Markup:
    y = HEIGHT + ROW * (number + 0.5)
    said = f"{number + 1} {line.name}" + ("" if line.exponent is None else f", grows as size^{line.exponent:.2f}")
    colour = _COLOURS[number % len(_COLOURS)]
    swatch = tag("rect", x=12, y=px(y - 5), width=14, height=4, fill=colour)
    return join([swatch, tag("text", said, x=32, y=px(y))])


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around some numbers, two different ones."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _power(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"
