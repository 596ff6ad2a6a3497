"""Print how evenly graphs are drawn: which arguments and values of layers come, and which originals do not run.

`python -m tests.even_draws` is the gauge of a night; `--list` names what never came.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeAlias

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.search.hunt import draws
from clonediff.harness.server.signatures import signatures
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies.layers import NOT_DRAWN
from clonediff.strategies.of_release import kinds_of
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import GENERATIONS, Apply, Generation, Graph, instructions

Words: TypeAlias = tuple[str, ...]
"""A layer; a layer and an argument of its constructor; these, and a value."""


@dataclass
class Drawn:
    """What graphs had, and how long it took to draw them."""

    met: Counter[Words] = field(default_factory=Counter)
    graphs: int = 0
    calls: int = 0
    unrun: int = 0
    seconds: float = 0.0


def drawable(generation: Generation) -> dict[str, set[Words]]:
    """What the release that is installed has; of values, those that are tried beside the simplest ones."""
    has = signatures(framework(generation))
    layers = {name: parts["constructor"] for name, parts in has["layers"].items() if name not in NOT_DRAWN}
    kinds = kinds_of(has["layers"], has["functions"], generation)
    values = ((name, argument, text) for name in layers for argument, row in kinds[name].more.items() for text in row)
    return {
        "layers": {(name,) for name in layers},
        "arguments": {(name, each["name"]) for name, parameters in layers.items() for each in parameters},
        "values": set(values),
    }


def drawn(generation: Generation, count: int, seed: int) -> Drawn:
    """Draw graphs, and run each original."""
    found = Drawn()
    with closing(SubjectProcess(Subject.parse(generation))) as process:
        process.start()
        trials = GraphTrials(process, KnownIssues(), cloners=())
        began = time.perf_counter()
        for graph in draws(process, seed, count, cloners=("fixed",)):
            found.seconds += time.perf_counter() - began
            found.graphs += 1
            found.unrun += trials.try_graph(graph, costly=False).unrun
            for words in _words(graph):
                found.met.update(words[:length] for length in range(1, len(words) + 1))
            found.calls += sum(isinstance(each, Apply) for each in instructions(graph.program.body))
            began = time.perf_counter()
    return found


def _words(graph: Graph) -> Iterator[Words]:
    """Each argument that a layer is made with, or given afterwards."""
    for apply in instructions(graph.program.body):
        if isinstance(apply, Apply) and not is_operation(apply.kind):
            later = (line.partition(" = ")[::2] for line in apply.after)
            arguments = [(apply.kind, *pair) for pair in (*apply.arguments, *later)]
            yield from arguments or [(apply.kind,)]


def report(generation: Generation, has: dict[str, set[Words]], found: Drawn) -> Iterator[str]:
    """The figures, a line for each."""
    each = 1000 * found.seconds / found.graphs
    yield f"{generation}: {found.graphs:,} graphs with {found.calls:,} calls, {each:.1f} ms each to draw"
    for name, words in has.items():
        yield f"{name}: {_share(len(words & found.met.keys()), len(words))}"
    tenths = statistics.quantiles((found.met[words] for words in has["arguments"]), n=10)
    yield "uses of an argument: " + ", ".join(f"{tenths[at]:.0f}" for at in (0, 4, 8)) + " (10%, 50%, 90%)"
    yield f"originals that do not run: {_share(found.unrun, found.graphs)}"


def _share(count: int, whole: int) -> str:
    return f"{count:,} of {whole:,} ({count / whole:.1%})"


def _listed(words: Collection[Words]) -> str:
    return " ".join(sorted(".".join(each) for each in words))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.even_draws", description=__doc__)
    parser.add_argument("--graphs", type=int, default=5000, help="how many graphs (5000)")
    parser.add_argument("--seed", type=int, default=0, help="of which seed (0)")
    parser.add_argument("--generation", choices=GENERATIONS, default=GENERATIONS[0], help="of which Keras (keras)")
    parser.add_argument("--list", action="store_true", help="name what never came")
    options = parser.parse_args()
    os.environ |= {"PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "3"}
    has, found = drawable(options.generation), drawn(options.generation, options.graphs, options.seed)
    print(*report(options.generation, has, found), sep="\n")
    for name, words in has.items() if options.list else ():
        print(f"no {name}: {_listed(words - found.met.keys())}")


if __name__ == "__main__":
    main()
