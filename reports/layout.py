"""Where the boxes and the lines of a drawing go: boxes in rows, each below those that it follows from.

Pure geometry: sizes in, positions out. An edge that passes a row gets a place of its own there, so that it runs beside
the boxes and not through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP = 22.0
ROW_GAP = 34.0
LANE = 10.0
SWEEPS = 6


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
    rows = _rows(len(sizes), edges)
    # Boxes first, then a lane for each row that an edge passes.
    widths = [width for width, _ in sizes]
    paths: list[list[int]] = []
    of_row = list(rows)
    for edge in edges:
        path = [edge.source]
        for row in range(rows[edge.source] + 1, rows[edge.target]):
            path.append(len(widths))
            widths.append(LANE)
            of_row.append(row)
        paths.append([*path, edge.target])
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for path in paths:
        for one, other in pairwise(path):
            below[one].append(other)
            above[other].append(one)
    order: list[list[int]] = [[] for _ in range(max(of_row) + 1)]
    for item, row in enumerate(of_row):
        order[row].append(item)
    centres = [0.0] * len(widths)
    for items in order:
        _spread(items, [0.0] * len(items), widths, centres)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for items in order if down else reversed(order):
            wanted = {item: _mean([centres[each] for each in near[item]], centres[item]) for item in items}
            if sweep < SWEEPS - 2:
                items.sort(key=wanted.__getitem__)
            _spread(items, [wanted[item] for item in items], widths, centres)
    return _drawn(sizes, edges, paths, rows, widths, centres)


def _rows(count: int, edges: Sequence[Edge]) -> list[int]:
    """The row of each box: below all that it follows from; one that follows from nothing, just above its first user."""
    rows = [0] * count
    for edge in sorted(edges, key=lambda each: each.target):
        rows[edge.target] = max(rows[edge.target], rows[edge.source] + 1)
    targets = {edge.target for edge in edges}
    for box in range(count):
        users = [rows[edge.target] for edge in edges if edge.source == box] if box not in targets else []
        if users:
            rows[box] = min(users) - 1
    return rows


def _spread(row: Sequence[int], wanted: Sequence[float], widths: Sequence[float], centres: list[float]) -> None:
    """Put a row's items as near as can be to where they are wanted, in their order and apart from one another.

    Least squares: items that would overlap are moved together, to the mean of where they are wanted.
    """
    offsets = [0.0]
    for one, other in pairwise(row):
        offsets.append(offsets[-1] + (widths[one] + widths[other]) / 2 + GAP)
    blocks: list[tuple[float, int]] = []
    for at, offset in zip(wanted, offsets, strict=True):
        total, size = at - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / size:
            before, many = blocks.pop()
            total, size = total + before, size + many
        blocks.append((total, size))
    positions = [total / size for total, size in blocks for _ in range(size)]
    for item, position, offset in zip(row, positions, offsets, strict=True):
        centres[item] = position + offset


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _drawn(
    sizes: Sequence[Point],
    edges: Sequence[Edge],
    paths: Sequence[Sequence[int]],
    rows: Sequence[int],
    widths: Sequence[float],
    centres: Sequence[float],
) -> Placed:
    heights = [0.0] * (max(rows) + 1)
    for (_, height), row in zip(sizes, rows, strict=True):
        heights[row] = max(heights[row], height)
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + ROW_GAP)
    left = min(centre - width / 2 for centre, width in zip(centres, widths, strict=True))
    right = max(centre + width / 2 for centre, width in zip(centres, widths, strict=True))
    boxes = [
        (centres[box] - width / 2 - left, tops[rows[box]] + (heights[rows[box]] - height) / 2)
        for box, (width, height) in enumerate(sizes)
    ]
    lines = []
    for edge, path in zip(edges, paths, strict=True):
        (x, y), (width, height) = boxes[edge.source], sizes[edge.source]
        points = [(x + width * edge.leaves, y + height)]
        for step, lane in enumerate(path[1:-1], 1):
            row = rows[edge.source] + step
            points += [(centres[lane] - left, tops[row]), (centres[lane] - left, tops[row] + heights[row])]
        (x, y), (width, _) = boxes[edge.target], sizes[edge.target]
        lines.append((*points, (x + width * edge.enters, y)))
    return Placed(tuple(boxes), tuple(lines), right - left, tops[-1] - ROW_GAP)
