"""Print how evenly graphs are drawn: which arguments and values of layers come, and which originals run.

`python -m tests.even_draws` is the gauge of a night; `--list` names what never came.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.search.hunt import draws
from clonediff.harness.server.signatures import signatures
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.strategies.layers import NOT_DRAWN
from clonediff.strategies.of_release import kinds_of
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import GENERATIONS, Apply, Generation, Graph, Nest, instructions

Pair = tuple[str, str]
"""A layer, and an argument of its constructor."""
Value = tuple[str, str, str]


class Drawable(NamedTuple):
    """What a release has: the pairs of its layers, and the values that are tried of them."""

    layers: frozenset[str]
    pairs: frozenset[Pair]
    values: frozenset[Value]


class Drawn(NamedTuple):
    """What graphs had, and how many of their originals did not run."""

    layers: Counter[str]
    pairs: Counter[Pair]
    values: Counter[Value]
    kinds: Counter[str]
    nests: int
    unrun: int
    graphs: int
    seconds: float


def drawable(generation: Generation) -> Drawable:
    """What can be drawn of the release that is installed."""
    has = signatures(framework(generation))
    layers = {name: parts["constructor"] for name, parts in has["layers"].items() if name not in NOT_DRAWN}
    kinds = kinds_of(has["layers"], has["functions"], generation)
    return Drawable(
        frozenset(layers),
        frozenset((layer, parameter["name"]) for layer, parameters in layers.items() for parameter in parameters),
        frozenset(
            (layer, argument, text)
            for layer in layers
            for argument, texts in kinds[layer].more.items()
            for text in texts
        ),
    )


def drawn(generation: Generation, count: int, seed: int) -> Drawn:
    """Draw graphs, and run each original."""
    process = SubjectProcess(Subject.parse(generation))
    met = Drawn(Counter(), Counter(), Counter(), Counter(), 0, 0, 0, 0.0)
    process.start()
    began, seconds = time.perf_counter(), 0.0
    for graph in draws(process, seed, count, cloners=("fixed",)):
        seconds += time.perf_counter() - began
        nests = sum(isinstance(each, Nest) for each in instructions(graph.program.body))
        unrun = met.unrun + (not _runs(graph, process))
        met = met._replace(nests=met.nests + nests, unrun=unrun, graphs=met.graphs + 1)
        for apply in _applied(graph):
            met.kinds[apply.kind] += 1
            if not is_operation(apply.kind):
                met.layers[apply.kind] += 1
                for argument, text in _arguments(apply):
                    met.pairs[apply.kind, argument] += 1
                    met.values[apply.kind, argument, text] += 1
        began = time.perf_counter()
    process.close()
    return met._replace(seconds=seconds)


def _applied(graph: Graph) -> Iterator[Apply]:
    return (each for each in instructions(graph.program.body) if isinstance(each, Apply))


def _arguments(apply: Apply) -> Iterator[Pair]:
    """The arguments that a layer is made with, or given afterwards."""
    yield from apply.arguments
    for line in apply.after:
        name, _, text = line.partition(" = ")
        yield name, text


def _runs(graph: Graph, process: SubjectProcess) -> bool:
    answer = process.trial(case_of(graph), cloners=())
    inference = getattr(getattr(answer, "original", None), "inference", None)
    return inference is not None and inference.failure is None


def report(generation: Generation, has: Drawable, met: Drawn) -> str:
    """The figures, a line for each."""
    calls = sum(met.kinds.values())
    uses = sorted(met.pairs[pair] for pair in has.pairs)
    lower, middle, upper = (statistics.quantiles(uses, n=10)[at] for at in (0, 4, 8))
    rows = [
        f"{generation}: {met.graphs:,} graphs, {1000 * met.seconds / met.graphs:.1f} ms each to draw, {calls:,} calls, "
        f"{met.nests:,} models in models",
        f"layers      {_share(has.layers, met.layers)}",
        f"arguments   {_share(has.pairs, met.pairs)}",
        f"uses of an argument  {lower:.0f}, {middle:.0f}, {upper:.0f} (10%, 50%, 90%)",
        f"values      {_share(has.values, met.values)}",
        f"originals that do not run  {met.unrun:,} ({met.unrun / met.graphs:.1%})",
    ]
    return "\n".join(rows)


def _share(has: frozenset[object], met: Counter[object]) -> str:  # type: ignore[type-var]
    count = sum(1 for each in has if met[each])
    return f"{count:,} of {len(has):,} ({count / len(has):.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.even_draws", description=__doc__)
    parser.add_argument("--graphs", type=int, default=5000, help="how many graphs (5000)")
    parser.add_argument("--seed", type=int, default=0, help="of which seed (0)")
    parser.add_argument("--generation", choices=GENERATIONS, default=GENERATIONS[0], help="of which Keras (keras)")
    parser.add_argument("--list", action="store_true", help="name what never came")
    options = parser.parse_args()
    os.environ |= {"PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "3"}
    has, met = drawable(options.generation), drawn(options.generation, options.graphs, options.seed)
    print(report(options.generation, has, met))
    if options.list:
        print("layers:", *sorted(has.layers - met.layers.keys()))
        print("arguments:", *(".".join(pair) for pair in sorted(has.pairs - met.pairs.keys())))
        print("values:", *sorted(has.values - met.values.keys()), sep="\n    ")


if __name__ == "__main__":
    main()
