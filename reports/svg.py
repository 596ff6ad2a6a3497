"""A graph as SVG: a box a call, models inside models, shared layers with a letter, masks dashed, differences marked.

Owns what a box says and what a line looks like; where they go is `clonediff.reports.layout`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from clonediff.reports import layout
from clonediff.reports.kinds_and_features import masked
from clonediff.reports.labels import arguments, cut, shape, width_of
from clonediff.reports.layout import Edge
from clonediff.reports.marks import Key, Mark, Marks, Use, marks
from clonediff.reports.markup import Markup, join, px, raw, tag
from clonediff.reports.reading import StoredFinding
from clonediff.reports.records import Difference
from clonediff.strategies.graph import Graph, Layer, Ref, call_refs, fed_refs, refs

MOST_BOXES = 250
MOST_EDGES = 1000
DEEPEST = 8

Side = Literal["original", "clone"]

LINE = 15.0
PAD = 10.0
SAID = 2

STYLE = """
.g text{font:12px system-ui,sans-serif;fill:var(--g-ink,#1d2430)}
.g .g-kind{font-weight:650}.g .g-more{fill:var(--g-soft,#5b6575);font-size:11px}
.g rect{fill:var(--g-box,#fff);stroke:var(--g-line,#9aa5b5);stroke-width:1.2}
.g .g-end rect{fill:var(--g-end,#eef1f6)}
.g .g-holds>rect{fill:var(--g-holds,#f6f8fb)}
.g .g-first>rect{stroke:var(--g-bad,#c62828);stroke-width:2.6;fill:var(--g-badbox,#fdecea)}
.g .g-also>rect{stroke:var(--g-warn,#b26a00);stroke-width:1.8;stroke-dasharray:5 3}
.g .g-said{fill:var(--g-bad,#c62828);font-size:11px}
.g .g-edge{fill:none;stroke:var(--g-line,#9aa5b5);stroke-width:1.4}
.g .g-tip{fill:var(--g-line,#9aa5b5)}
.g .g-masked{stroke:var(--g-mask,#7b3fc4);stroke-dasharray:6 3}
.g text.g-port{font-size:10px;fill:var(--g-soft,#5b6575)}
.g .g-badge{fill:var(--g-share,#1565c0);stroke:none}
.g text.g-letter{font-size:10px;font-weight:700;fill:var(--g-box,#fff)}
.g .g-none{opacity:.6}.g .g-none rect{stroke-dasharray:3 3}
.g .g-head{font-weight:650;fill:var(--g-soft,#5b6575)}
"""
_DARK = """
@media(prefers-color-scheme:dark){svg.g{background:#14181f;--g-ink:#e6eaf0;--g-soft:#9aa6b6;--g-box:#1e2530;
--g-line:#5d6a7c;--g-end:#262e3b;--g-holds:#191f28;--g-bad:#ff8a80;--g-badbox:#3a1f20;--g-warn:#ffb74d;--g-mask:#b794f6;
--g-share:#64b5f6}}
"""
_TIP = 5.0
_SIDE = 13


class DrawingTooLarge(ValueError):
    """The graph has more boxes or lines than a person can read."""


class Drawing:
    """The graph of the original and, if there are differences, that of the clone."""

    def __init__(self, graph: Graph, differences: Sequence[Difference]) -> None:
        self.marks = marks(graph, differences)
        self._graph = graph
        sides: tuple[Side, ...] = ("original", "clone") if differences else ("original",)
        self._parts = {side: _whole(graph, self.marks, side) for side in sides}

    @property
    def sides(self) -> tuple[tuple[Side, str], ...]:
        """The sides that are drawn, with their names."""
        clone = "clone" if self.marks.made else "clone: none was made"
        return tuple((side, clone if side == "clone" else side) for side in self._parts)

    def one(self, side: Side) -> Markup:
        """One side as an element, for a page that has `STYLE`."""
        content, width, height = self._parts[side]
        return _svg(content, width, height, f"{dict(self.sides)[side]}: {described(self._graph)}")

    def pair(self) -> Markup:
        """Both sides beside one another, as a file of its own."""
        parts = []
        left, tallest = PAD, 0.0
        for side, name in self.sides:
            content, width, height = self._parts[side]
            head = tag("text", name, x=0, y=12, class_="g-head")
            parts.append(tag("g", head, _moved(content, 0, 22), transform=f"translate({px(left)} {px(PAD)})"))
            left += max(width, width_of(name)) + 40
            tallest = max(tallest, height)
        title = f"{' and '.join(side for side, _ in self.sides)}: {described(self._graph)}"
        style = tag("style", raw(STYLE + _DARK))
        return _svg(join([style, *parts]), left - 40 + PAD, tallest + 32 + PAD, title, alone=True)


def draw_all(findings: Iterable[StoredFinding]) -> dict[str, Drawing | str]:
    """The drawings of findings by the names of their folders, or why there is none."""
    drawn: dict[str, Drawing | str] = {}
    for kept in findings:
        if kept.graph is None:
            drawn[kept.name] = "its graph cannot be read"
            continue
        try:
            drawn[kept.name] = Drawing(kept.graph, kept.finding.differences)
        except DrawingTooLarge as error:
            drawn[kept.name] = f"{error}; the script below builds it"
        except RecursionError:
            drawn[kept.name] = f"the arguments in the graph of {kept.finding.id} are nested too deep to be walked"
    return drawn


def described(graph: Graph) -> str:
    """The graph in a line, for readers who cannot see the drawing."""
    kinds = ", ".join(dict.fromkeys(graph.layers[call.layer].kind for call in graph.calls))
    return cut(f"{len(graph.inputs)} inputs, {len(graph.calls)} calls" + (f": {kinds}" if kinds else ""), 200)


def _svg(content: Markup, width: float, height: float, title: str, *, alone: bool = False) -> Markup:
    # Room at the sides for the letter at a box's corner.
    size = (round(width + 2 * _SIDE), round(height + 2))
    return tag(
        "svg",
        tag("title", title),
        content,
        class_="g",
        role="img",
        width=size[0],
        height=size[1],
        viewBox=f"-{_SIDE} -1 {size[0]} {size[1]}",
        xmlns="http://www.w3.org/2000/svg" if alone else None,
    )


def _whole(graph: Graph, marks: Marks, side: Side) -> tuple[Markup, float, float]:
    """The drawing, in a frame where it is the model itself that differs."""
    boxes, lines = _size(graph, 0)
    if boxes > MOST_BOXES or lines > MOST_EDGES:
        raise DrawingTooLarge(f"{boxes:,} boxes and {lines:,} lines are too many to draw")
    canvas = _Canvas(marks, side)
    content, width, height = canvas.graph(graph, ())
    if ((), 0) in marks.at:
        kind = "Sequential" if graph.sequential else "Model"
        box = canvas.box(kind, graph.name, [], ((), 0), "g-holds", inner=(content, width, height))
        content, width, height = box.content, box.width, box.height
    return tag("g", content, class_="g-none") if side == "clone" and not marks.made else content, width, height


def _size(graph: Graph, depth: int) -> tuple[int, int]:
    if depth > DEEPEST:
        raise DrawingTooLarge(f"more than {DEEPEST} models inside one another are too many to draw")
    boxes = len(graph.inputs) + len(graph.calls)
    # A line costs a place in each row that it passes.
    lines = sum(boxes - 1 - ref.node for ref in refs(graph.gives)) // 8
    for number, call in enumerate(graph.calls):
        ends = [ref.node for ref in call_refs(call)]
        lines += len(ends) + sum(len(graph.inputs) + number - end for end in ends) // 8
    for layer in graph.layers:
        if layer.graph is not None:
            inner = _size(layer.graph, depth + 1)
            boxes, lines = boxes + inner[0], lines + inner[1]
    return boxes, lines


@dataclass(frozen=True, slots=True)
class _Box:
    """A box, drawn at the origin."""

    content: Markup
    width: float
    height: float


class _Canvas:
    """Draws graphs, also within one another. Shared layers get letters in the order in which they are met."""

    def __init__(self, marks: Marks, side: Side) -> None:
        self.marks = marks
        self.side = side
        self.letters: dict[Key, str] = {}

    def graph(self, graph: Graph, around: Key) -> tuple[Markup, float, float]:
        boxes = [self._input(graph, number, (*around, -1 - number)) for number in range(len(graph.inputs))]
        edges: list[Edge] = []
        words: list[tuple[str, Ref]] = []
        uses: dict[int, int] = {}
        for call in graph.calls:
            use = uses[call.layer] = uses.get(call.layer, -1) + 1
            key = (*around, call.layer)
            shared = sum(each.layer == call.layer for each in graph.calls) > 1
            given = [("", ref) for ref in fed_refs(call)]
            given += [(name, ref) for name, value in call.kwargs for ref in refs(value)]
            self._lines(graph, len(boxes), given, edges, words)
            more = arguments(graph.layers[call.layer].args, call)
            boxes.append(self._call(graph.layers[call.layer], (key, use), more, shared))
        for name, ref in _ends(graph):
            self._lines(graph, len(boxes), [("", ref)], edges, words)
            boxes.append(_pill(f"output {name}".rstrip()))
        placed = layout.place([(box.width, box.height) for box in boxes], edges)
        carried = masked(graph)
        lines = [
            _line(points, word, ref in carried, _port(graph, ref))
            for points, (word, ref) in zip(placed.edges, words, strict=True)
        ]
        drawn = [_moved(box.content, x, y) for box, (x, y) in zip(boxes, placed.boxes, strict=True)]
        return join([*lines, *drawn]), placed.width, placed.height

    def _lines(
        self,
        graph: Graph,
        target: int,
        given: Sequence[tuple[str, Ref]],
        edges: list[Edge],
        words: list[tuple[str, Ref]],
    ) -> None:
        for number, (word, ref) in enumerate(given):
            leaves = (ref.output + 1) / (graph.outputs_of(ref.node) + 1)
            edges.append(Edge(ref.node, target, leaves, (number + 1) / (len(given) + 1)))
            words.append((word, ref))

    def _input(self, graph: Graph, number: int, key: Key) -> _Box:
        given = graph.inputs[number]
        more = [shape((given.batch, *given.shape)) + ("" if given.dtype == "float32" else f" {given.dtype}")]
        if given.optional:
            more.append("optional")
        return self.box("Input", given.name, more, (key, 0), "g-end")

    def _call(self, layer: Layer, use: Use, more: list[str], shared: bool) -> _Box:
        if layer.marks:
            more = [*more, ", ".join(layer.marks)]
        if not layer.trainable or (layer.graph is not None and not layer.graph.trainable):
            more = [*more, "frozen"]
        name = layer.name or (layer.graph.name if layer.graph is not None else None)
        letter = self.letters.setdefault(use[0], _letter(len(self.letters))) if shared else ""
        if layer.graph is None or use[1] > 0:
            said = more if layer.graph is None else [*more, f"the same model as {letter}1"]
            return self.box(layer.kind, name, said, use, "", f"{letter}{use[1] + 1}" if letter else "")
        inner = self.graph(layer.graph, use[0])
        return self.box(layer.kind, name, more, use, "g-holds", f"{letter}1" if letter else "", inner)

    def box(
        self,
        kind: str,
        name: str | None,
        more: Sequence[str],
        use: Use,
        class_: str = "",
        badge: str = "",
        inner: tuple[Markup, float, float] | None = None,
    ) -> _Box:
        """A box with its texts, and a drawing in it if there is an inner one."""
        own = self.marks.at.get(use, ())
        said = _said(own, self.side)
        head = kind if name is None else f"{kind} {name}"
        texts = [
            (cut(head, 36), "g-kind"),
            *((cut(line, 44), "g-more") for line in more),
            *((each, "g-said") for each in said),
        ]
        width = max(60.0, *(width_of(text, bold=kind_ == "g-kind") for text, kind_ in texts)) + 2 * PAD
        height = LINE * len(texts) + PAD
        parts = [
            tag("text", text, x=px(PAD), y=px(PAD / 2 + LINE * (number + 0.75)), class_=word)
            for number, (text, word) in enumerate(texts)
        ]
        if inner is not None:
            width = max(width, inner[1] + 2 * PAD)
            parts.append(_moved(inner[0], (width - inner[1]) / 2, height + PAD / 2))
            height += inner[2] + 1.5 * PAD
        level = "g-first" if own and use == self.marks.first else "g-also" if own else ""
        frame = tag("rect", x=0, y=0, width=px(width), height=px(height), rx=6)
        title = tag("title", cut("; ".join((head, *more, *(_whole_mark(mark) for mark in own))), 600))
        if badge:
            parts.append(tag("circle", cx=px(width), cy=0, r=11, class_="g-badge"))
            parts.append(tag("text", badge, x=px(width), y=3.5, text_anchor="middle", class_="g-letter"))
        return _Box(tag("g", title, frame, *parts, class_=f"{class_} {level}".strip() or None), width, height)


def _said(own: Sequence[Mark], side: Side) -> list[str]:
    lines = [cut(f"{mark.aspect}: {mark.expected if side == 'original' else mark.found}", 40) for mark in own[:SAID]]
    return [*lines, f"and {len(own) - SAID} more"] if len(own) > SAID else lines


def _whole_mark(mark: Mark) -> str:
    return f"{mark.aspect}: {mark.expected} -> {mark.found}"


def _ends(graph: Graph) -> list[tuple[str, Ref]]:
    given = list(refs(graph.gives))
    return [(str(number + 1) if len(given) > 1 else "", ref) for number, ref in enumerate(given)]


def _pill(label: str) -> _Box:
    width = width_of(label) + 2 * PAD
    frame = tag("rect", x=0, y=0, width=px(width), height=px(LINE + 6), rx=10)
    word = tag("text", label, x=px(width / 2), y=px(LINE), text_anchor="middle", class_="g-more")
    return _Box(tag("g", frame, word, class_="g-end"), width, LINE + 6)


def _port(graph: Graph, ref: Ref) -> str:
    return str(ref.output + 1) if graph.outputs_of(ref.node) > 1 else ""


def _line(points: Sequence[layout.Point], word: str, carried: bool, port: str) -> Markup:
    x, y = points[0]
    path = [f"M{px(x)} {px(y)}"]
    for number, (to_x, to_y) in enumerate(points[1:], 1):
        end = to_y - _TIP if number == len(points) - 1 else to_y
        # Between rows a curve, beside the boxes of a row a straight line.
        if number % 2:
            middle = (y + end) / 2
            path.append(f"C{px(x)} {px(middle)} {px(to_x)} {px(middle)} {px(to_x)} {px(end)}")
        else:
            path.append(f"V{px(end)}")
        x, y = to_x, end
    parts = [
        tag("path", d="".join(path), class_="g-edge g-masked" if carried else "g-edge"),
        tag("path", d=f"M{px(x - 3.5)} {px(y)}h7l-3.5 {_TIP}z", class_="g-tip"),
    ]
    if word:
        parts.append(tag("text", cut(word, 20), x=px(x + 5), y=px(y - 1), class_="g-port"))
    if port:
        # On the side that the line does not turn to.
        left = points[1][0] > points[0][0]
        at = points[0][0] + (-4 if left else 4)
        anchor = "end" if left else "start"
        parts.append(tag("text", port, x=px(at), y=px(points[0][1] + 11), text_anchor=anchor, class_="g-port"))
    return join(parts)


def _moved(content: Markup, x: float, y: float) -> Markup:
    return tag("g", content, transform=f"translate({px(x)} {px(y)})")


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"S{number}"
