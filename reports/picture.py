"""The picture of an original and its clone: a box for each call, in rows by depth, and what differs.

Owns where everything stands. `page.html.j2` draws it as SVG.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from clonediff.reports.markup import LONGEST
from clonediff.reports.records import Box, Difference, Finding

WIDTH, LINE, GAP = 140, 16, 20
"""The width of a box, the height of a line, and the space between boxes."""
MOST = 3
"""The most differences that a box names."""
LARGEST = 40
"""The most calls of a model, and tensors of a call, that are shown."""

Words = Mapping[str, Sequence[str]]
Calls = Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A box with two lines that say what is called, and one for each difference."""

    x: int
    y: int
    lines: tuple[str, str]
    differences: tuple[str, ...]

    @property
    def height(self) -> int:
        """From the upper edge to the lower one."""
        return LINE * (2 + len(self.differences)) + 8


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """The calls of a model, or of one nested in it; a wire is a path, and whether the other model lacks it."""

    inside: str
    width: int
    height: int
    boxes: tuple[DrawnBox, ...]
    wires: tuple[tuple[str, bool], ...]


def picture(finding: Finding) -> list[tuple[str, Sequence[str], list[DrawnGraph]]]:
    """The original, and the clone where there is one: the title, what differs in the model itself, and its graphs."""
    models: list[Calls] = [{box.call: box for box in boxes[:LARGEST]} for boxes in finding.pictures[:2]]
    drawn: list[tuple[str, Sequence[str], list[DrawnGraph]]] = []
    for number, calls in enumerate(models):
        counterparts = models[1 - number] if len(models) == 2 else None
        words = _words(finding.differences, models[0], of_clone=number == 1 or counterparts is None)
        nested = dict.fromkeys(box.inside for box in calls.values())
        graphs = [_graph(inside, calls, words, counterparts) for inside in nested]
        drawn.append(("clone" if number else "original", _few(words.get("", ())), graphs))
    return drawn


def _words(differences: Sequence[Difference], calls: Collection[str], of_clone: bool) -> Words:
    """The differences in words, by the call that they are at; "" is the model itself."""
    words: dict[str, list[str]] = defaultdict(list)
    for difference in differences:
        values = difference.numbers or difference
        text = "" if difference.digests and not difference.numbers else values.found if of_clone else values.expected
        name, use = (difference.first.name[:LONGEST], difference.first.use) if difference.first else ("", 0)
        while name and f"{name}#{use}" not in calls:
            name, use = name.rpartition("/")[0], 0  # what is not called by itself is shown at what holds it
        words[f"{name}#{use}" if name else ""].append(f"{difference.aspect}: {text}".rstrip(": "))
    return words


def _graph(inside: str, calls: Calls, words: Words, counterparts: Calls | None) -> DrawnGraph:
    """Each call stands in the row below the lowest that gives what it takes."""
    depths: dict[str, int] = {}
    rows: dict[int, list[Box]] = defaultdict(list)
    for box in calls.values():
        if box.inside == inside:
            depths[box.call] = 1 + max((depths.get(_giver(tensor), -1) for tensor in box.inputs), default=-1)
            rows[depths[box.call]].append(box)
    width = max(map(len, rows.values())) * (WIDTH + GAP)
    drawn: dict[str, DrawnBox] = {}
    wires: list[tuple[str, bool]] = []
    top = GAP // 2
    for depth, boxes in sorted(rows.items()):
        left = (width - len(boxes) * (WIDTH + GAP) + GAP) // 2
        for column, box in enumerate(boxes):
            alone = ("only here",) if counterparts is not None and box.call not in counterparts else ()
            differences = _few((*alone, *words.get(box.call, ())))
            place = DrawnBox(left + column * (WIDTH + GAP), top, _called(box), differences)
            drawn[box.call] = place
            common = counterparts[box.call].inputs if counterparts and box.call in counterparts else box.inputs
            for tensor in box.inputs[:LARGEST]:
                giver = _giver(tensor)
                if depths.get(giver, depth) < depth:
                    wires.append((_path(drawn[giver], place, far=depth - depths[giver] > 1), tensor not in common))
        top += GAP + max(drawn[box.call].height for box in boxes)
    return DrawnGraph(inside, width, top - GAP // 2, tuple(drawn.values()), tuple(wires))


def _called(box: Box) -> tuple[str, str]:
    use = box.call.rpartition("#")[2]
    return box.name, box.kind if use in ("", "0") else f"{box.kind}, use {use}"


def _giver(tensor: str) -> str:
    """The call that gives a tensor."""
    return tensor.rpartition(".")[0]


def _few(differences: Sequence[str]) -> tuple[str, ...]:
    more = [f"and {len(differences) - MOST} more"] * (len(differences) > MOST)
    return (*differences[:MOST], *more)


def _path(giver: DrawnBox, taker: DrawnBox, far: bool) -> str:
    """A line from one box to another, round what stands between them where one is `far`."""
    x, y, to_x, to_y = giver.x + WIDTH // 2, giver.y + giver.height, taker.x + WIDTH // 2, taker.y
    bend = f"C {x + WIDTH * 3 // 4} {y + GAP} {to_x + WIDTH * 3 // 4} {to_y - GAP} {to_x} {to_y}"
    return f"M {x} {y} {bend if far else f'L {to_x} {to_y}'}"
