"""Trials and findings over time, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import ceil, log10

from clonediff.reports.html.findings import anchor
from clonediff.reports.markup import Markup, tag
from clonediff.reports.reading import RunRead, StoredFinding, moment
from clonediff.reports.verdict import lasted, seconds_of, some

WIDTH, HEIGHT = 640, 180
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 14, 34

FEW = 30
"""The most findings that are drawn as separate dots, which the keyboard reaches."""

Point = tuple[float, float]


def over_time(read: RunRead) -> Markup:
    """A chart of trials and one of findings over the same time, with a sentence each."""
    start = moment(read.run.started) or (read.events[0].at if read.events else None)
    seconds = seconds_of(read)
    if start is None or not seconds:
        return tag("p", "This run did not record any times.", class_="none")
    progress = [(_since(start, each.at), float(each.trials or 0)) for each in read.events if each.event == "progress"]
    trials = [(0.0, 0.0), *sorted(progress), (seconds, float(read.run.trials))]
    seen: list[tuple[float, StoredFinding]] = []
    for kept in read.findings:
        at = moment(kept.finding.first_seen)
        if at is not None:
            seen.append((_since(start, at), kept))
    seen.sort(key=lambda each: each[0])
    rate = f"{some(read.run.trials, 'trial')} in {lasted(seconds)}, {read.run.trials / seconds:.1f} a second."
    if not progress:
        rate += " Only the end was recorded, so the line is straight."
    when = "No time of a finding was recorded." if read.findings else "Nothing was found."
    if seen:
        when = (
            f"{some(len(seen), 'finding')}, the first after {lasted(seen[0][0])}, the last after {lasted(seen[-1][0])}."
        )
    return tag(
        "div",
        _figure("Trials", rate, seconds, trials, [], dotted=not progress),
        _figure("Findings", when, seconds, _steps([at for at, _ in seen], seconds), seen),
        class_="charts",
    )


def _figure(
    name: str,
    said: str,
    seconds: float,
    points: Sequence[Point],
    dots: Sequence[tuple[float, StoredFinding]],
    *,
    dotted: bool = False,
) -> Markup:
    top = _round(max(1.0, *(value for _, value in points)))
    unit, divisor = ("minutes", 60.0) if seconds >= 120 else ("seconds", 1.0)

    def x(at: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * min(at / seconds, 1.0):.1f}"

    def y(value: float) -> str:
        return f"{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top:.1f}"

    parts = [tag("title", f"{name} over time")]
    for part in (0, 0.5, 1):
        value = top * part
        if value == int(value):
            parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(value), y2=y(value), class_="grid"))
            parts.append(tag("text", f"{value:,.0f}", x=LEFT - 8, y=float(y(value)) + 4, text_anchor="end"))
        label = f"{seconds * part / divisor:.2g}" if part < 1 else f"{seconds / divisor:.3g} {unit}"
        anchored = {0: "start", 0.5: "middle", 1: "end"}[part]
        parts.append(tag("text", label, x=x(seconds * part), y=HEIGHT - 8, text_anchor=anchored))
    line = "L".join(f"{x(at)} {y(value)}" for at, value in points)
    parts.append(tag("path", d=f"M{line}", class_="series dotted" if dotted else "series"))
    # Of many, the list is the way to each: five hundred stops on the way to the next section help nobody.
    few = len(dots) <= FEW
    for number, (at, kept) in enumerate(dots, 1):
        title = tag("title", kept.finding.title)
        dot = tag("circle", title, cx=x(at), cy=y(number), r=4 if few else 2, class_="dot" if few else "dot small")
        parts.append(tag("a", dot, href=f"#{anchor(kept)}", tabindex="0" if few else "-1"))
    drawn = tag("svg", *parts, class_="chart", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="group", aria_label=said)
    return tag("figure", tag("figcaption", tag("strong", name), f": {said}"), drawn)


def _steps(times: Sequence[float], seconds: float) -> list[Point]:
    points: list[Point] = [(0.0, 0.0)]
    for number, at in enumerate(times, 1):
        points += [(at, float(number - 1)), (at, float(number))]
    return [*points, (seconds, float(len(times)))]


def _since(start: datetime, at: datetime) -> float:
    return max(0.0, (at - start).total_seconds())


def _round(value: float) -> float:
    """A round number at or above a value, for the top of an axis."""
    power = 10 ** int(log10(value))
    for step in (1, 2, 4, 5, 6, 8, 10):
        if step * power >= value:
            return float(step * power)
    return float(ceil(value))
