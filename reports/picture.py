"""Lay out the picture of original and clone, which `page.html.j2` draws as SVG."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from clonediff.reports.markup import MAX_LINE
from clonediff.reports.records import Box, Difference, Finding

BOX_WIDTH, LINE_HEIGHT, GAP = 140, 16, 20
"""The width of a box, the height of a line of text, and the space between boxes."""
MAX_DIFFERENCES = 3
"""How many differences a box shows."""
MAX_CALLS = 40
"""How many calls of a model, and how many inputs of a call, a picture shows."""

Texts = Mapping[str, Sequence[str]]
Calls = Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box with the name, the kind and the differences of a call."""

    x: int
    y: int
    lines: tuple[str, str]
    differences: tuple[str, ...]

    @property
    def height(self) -> int:
        return LINE_HEIGHT * (2 + len(self.differences)) + 8


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The calls of a model, in boxes. A wire is an SVG path, and whether it differs."""

    inside: str
    width: int
    height: int
    boxes: tuple[PlacedBox, ...]
    wires: tuple[tuple[str, bool], ...]


def picture(finding: Finding) -> list[tuple[str, Sequence[str], list[GraphPicture]]]:
    """For each model: a title, its own differences, and its graphs."""
    models: list[Calls] = [{box.call: box for box in boxes[:MAX_CALLS]} for boxes in finding.pictures[:2]]
    pictures: list[tuple[str, Sequence[str], list[GraphPicture]]] = []
    for number, calls in enumerate(models):
        counterparts = models[1 - number] if len(models) == 2 else None
        texts = _texts(finding.differences, models[0], is_clone=number == 1 or counterparts is None)
        names = dict.fromkeys(box.inside for box in calls.values())
        graphs = [_graph_picture(inside, calls, texts, counterparts) for inside in names]
        pictures.append(("clone" if number else "original", _shorten(texts.get("", ())), graphs))
    return pictures


def _texts(differences: Sequence[Difference], calls: Collection[str], is_clone: bool) -> Texts:
    """The texts of differences by call; "" is the model itself."""
    texts: dict[str, list[str]] = defaultdict(list)
    for difference in differences:
        values = difference.numbers or difference
        text = "" if difference.digests and not difference.numbers else values.found if is_clone else values.expected
        name, use = (difference.first.name[:MAX_LINE], difference.first.use) if difference.first else ("", 0)
        while name and f"{name}#{use}" not in calls:
            name, use = name.rpartition("/")[0], 0  # a layer without a call is shown at its holder
        texts[f"{name}#{use}" if name else ""].append(f"{difference.aspect}: {text}".rstrip(": "))
    return texts


def _graph_picture(inside: str, calls: Calls, texts: Texts, counterparts: Calls | None) -> GraphPicture:
    """Place each call of the model `inside` below the lowest of its inputs."""
    depths: dict[str, int] = {}
    rows: dict[int, list[Box]] = defaultdict(list)
    for box in calls.values():
        if box.inside == inside:
            depths[box.call] = 1 + max((depths.get(_producer(tensor), -1) for tensor in box.inputs), default=-1)
            rows[depths[box.call]].append(box)
    width = max(map(len, rows.values())) * (BOX_WIDTH + GAP)
    placed: dict[str, PlacedBox] = {}
    wires: list[tuple[str, bool]] = []
    top = GAP // 2
    for depth, boxes in sorted(rows.items()):
        left = (width - len(boxes) * (BOX_WIDTH + GAP) + GAP) // 2
        for column, box in enumerate(boxes):
            only_here = ("only here",) if counterparts is not None and box.call not in counterparts else ()
            differences = _shorten((*only_here, *texts.get(box.call, ())))
            placed[box.call] = end = PlacedBox(left + column * (BOX_WIDTH + GAP), top, _name_and_kind(box), differences)
            other_inputs = counterparts[box.call].inputs if counterparts and box.call in counterparts else box.inputs
            for tensor in box.inputs[:MAX_CALLS]:
                producer = _producer(tensor)
                if depths.get(producer, depth) < depth:
                    bends = depth - depths[producer] > 1
                    wires.append((_path(placed[producer], end, bends=bends), tensor not in other_inputs))
        top += GAP + max(placed[box.call].height for box in boxes)
    return GraphPicture(inside, width, top - GAP // 2, tuple(placed.values()), tuple(wires))


def _name_and_kind(box: Box) -> tuple[str, str]:
    use = box.call.rpartition("#")[2]
    return box.name, box.kind if use in ("", "0") else f"{box.kind}, use {use}"


def _producer(tensor: str) -> str:
    return tensor.rpartition(".")[0]


def _shorten(differences: Sequence[str]) -> tuple[str, ...]:
    note = [f"and {len(differences) - MAX_DIFFERENCES} more"] * (len(differences) > MAX_DIFFERENCES)
    return (*differences[:MAX_DIFFERENCES], *note)


def _path(start: PlacedBox, end: PlacedBox, bends: bool) -> str:
    """An SVG path from one box to another; if it `bends`, it goes around other boxes."""
    x, y = start.x + BOX_WIDTH // 2, start.y + start.height
    to_x, to_y = end.x + BOX_WIDTH // 2, end.y
    bend = f"C {x + BOX_WIDTH * 3 // 4} {y + GAP} {to_x + BOX_WIDTH * 3 // 4} {to_y - GAP} {to_x} {to_y}"
    return f"M {x} {y} {bend if bends else f'L {to_x} {to_y}'}"
