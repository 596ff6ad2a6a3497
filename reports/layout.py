"""Where the boxes and the lines of a drawing go: boxes in rows, each below those that it follows from.

Pure geometry: sizes in, positions out. An edge that passes a row has a place of its own there, a lane, so that it runs
beside the boxes and not through them. Rows are laid out once, from the top: each box is below the mean of those above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP = 22.0
ROW_GAP = 34.0
LANE = 10.0


@dataclass(frozen=True, slots=True)
class Edge:
    """From one box to another. `leaves` and `enters` are at which part of its width, between 0 and 1."""

    source: int
    target: int
    leaves: float = 0.5
    enters: float = 0.5


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where each box has its upper left corner, and through which points each edge runs."""

    boxes: tuple[Point, ...]
    edges: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def place(sizes: Sequence[Point], edges: Sequence[Edge]) -> Placed:
    """Place boxes of these sizes. An edge leads from a box to a later one."""
    if not sizes:
        return Placed((), (), 0.0, 0.0)
    row_of = _rows(len(sizes), edges)
    rows: list[list[int]] = [[] for _ in range(max(row_of) + 1)]
    for box, row in enumerate(row_of):
        rows[row].append(box)
    widths = [width for width, _ in sizes]
    above: list[list[int]] = [[] for _ in sizes]
    lanes: list[list[int]] = []
    for edge in edges:
        last, its = edge.source, []
        for row in range(row_of[edge.source] + 1, row_of[edge.target]):
            rows[row].append(len(widths))
            above.append([last])
            last = len(widths)
            its.append(last)
            widths.append(LANE)
        above[edge.target].append(last)
        lanes.append(its)
    centres = _centres(rows, widths, above)
    tops = [0.0]
    for row, items in enumerate(rows):
        heights = [sizes[item][1] for item in items if item < len(sizes)]
        tops.append(tops[row] + max(heights) + ROW_GAP)
    boxes = []
    for (width, height), row, centre in zip(sizes, row_of, centres, strict=False):
        inside = (tops[row + 1] - ROW_GAP - tops[row] - height) / 2
        boxes.append((centre - width / 2, tops[row] + inside))
    lines = []
    for edge, its in zip(edges, lanes, strict=True):
        (x, y), (width, height) = boxes[edge.source], sizes[edge.source]
        points = [(x + width * edge.leaves, y + height)]
        for row, lane in enumerate(its, row_of[edge.source] + 1):
            points += [(centres[lane], tops[row]), (centres[lane], tops[row + 1] - ROW_GAP)]
        (x, y), (width, _) = boxes[edge.target], sizes[edge.target]
        lines.append((*points, (x + width * edge.enters, y)))
    right = max(centre + width / 2 for centre, width in zip(centres, widths, strict=True))
    return Placed(tuple(boxes), tuple(lines), right, tops[-1] - ROW_GAP)


def _rows(count: int, edges: Sequence[Edge]) -> list[int]:
    """The row of each box: below all that it follows from; one that follows from nothing, just above its first user."""
    rows = [0] * count
    for edge in sorted(edges, key=lambda each: each.target):
        rows[edge.target] = max(rows[edge.target], rows[edge.source] + 1)
    for box in set(range(count)).difference(edge.target for edge in edges):
        rows[box] = min((rows[edge.target] - 1 for edge in edges if edge.source == box), default=0)
    return rows


def _centres(rows: Sequence[Sequence[int]], widths: Sequence[float], above: Sequence[Sequence[int]]) -> list[float]:
    """The middle of each item, row by row from the top; the leftmost begins at 0."""
    centres = [0.0] * len(widths)
    for row in rows:
        wanted = {item: sum(centres[each] for each in above[item]) / max(1, len(above[item])) for item in row}
        in_order = sorted(row, key=wanted.__getitem__)
        offsets = [0.0]
        for one, other in pairwise(in_order):
            offsets.append(offsets[-1] + (widths[one] + widths[other]) / 2 + GAP)
        # Least squares: items that would overlap are moved together, to the mean of where they are wanted.
        blocks: list[tuple[float, int]] = []
        for item, offset in zip(in_order, offsets, strict=True):
            total, size = wanted[item] - offset, 1
            while blocks and blocks[-1][0] / blocks[-1][1] > total / size:
                before, many = blocks.pop()
                total, size = total + before, size + many
            blocks.append((total, size))
        starts = [total / size for total, size in blocks for _ in range(size)]
        for item, start, offset in zip(in_order, starts, offsets, strict=True):
            centres[item] = start + offset
    left = min(centre - width / 2 for centre, width in zip(centres, widths, strict=True))
    return [centre - left for centre in centres]
