"""What models of many sizes cost, in words: a table a family, and what of ours grows faster than building."""

from __future__ import annotations

from clonediff.harness.campaign.bench_sizes import BUILDING, Grown, SizeSpeed
from clonediff.harness.cli.terminal import table
from clonediff.reports.growth import Chart, Line

_DRAWN = 0.005
"""Of the time of the largest model, what a part takes at least that is drawn."""


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


def charts(found: SizeSpeed) -> list[Chart]:
    """The same as lines of a picture, building first, without what takes no time to speak of."""
    return [
        Chart(
            each.family,
            each.what,
            tuple(
                Line(part, tuple((its.size, its.seconds[part]) for its in each.timed), each.exponents.get(part))
                for part in each.timed[0].seconds
                if each.timed[-1].seconds[part] >= _DRAWN * sum(each.timed[-1].seconds.values())
            ),
        )
        for each in found.families
    ]
