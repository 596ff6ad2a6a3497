"""Print how evenly graphs are drawn: which arguments and values of layers, and how often.

`python -m tests.even_draws` also counts the originals that do not run; `--list` names what was never drawn.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import TypeAlias

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.search.search import draw_graphs
from clonediff.harness.server.signatures import signatures
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies.catalogue import kinds_of
from clonediff.strategies.layers import EXCLUDED_LAYERS
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import GENERATIONS, Apply, Generation, Graph, instructions

Use: TypeAlias = tuple[str, ...]
"""The name of a layer; a layer and an argument; or a layer, an argument and a value."""


def drawable_uses(generation: Generation) -> dict[str, set[Use]]:
    """Return all layers, arguments and values that can be drawn for the installed release."""
    release = signatures(framework(generation))
    layers = {name: parts["constructor"] for name, parts in release["layers"].items() if name not in EXCLUDED_LAYERS}
    kinds = kinds_of(release["layers"], release["functions"], generation)
    rows = ((name, *row) for name in layers for row in kinds[name].options.items())
    values = {(name, argument, text) for name, argument, texts in rows for text in texts}
    return {
        "layers": {(name,) for name in layers},
        "arguments": {(name, parameter["name"]) for name, parameters in layers.items() for parameter in parameters},
        "values": values,
    }


def count_uses(generation: Generation, count: int, seed: int) -> tuple[Counter[Use], int]:
    """Draw graphs; count each use of a layer, argument and value, and the originals that do not run."""
    counts: Counter[Use] = Counter()
    with closing(SubjectProcess(Subject.parse(generation))) as process:
        process.start()
        trials = GraphTrials(process, KnownIssues(), cloners=())
        for graph in draw_graphs(process, seed, count, cloners=("fixed",)):
            trials.try_graph(graph, costly=False)
            for use in _uses(graph):
                counts.update(use[:length] for length in range(1, len(use) + 1))
    return counts, trials.tally.cannot_run


def _uses(graph: Graph) -> Iterator[Use]:
    """Yield each argument of a constructor, and each attribute that is set afterwards."""
    for apply in instructions(graph.program.body):
        if isinstance(apply, Apply) and not is_operation(apply.kind):
            attributes = (line.partition(" = ")[::2] for line in apply.after)
            yield from [(apply.kind, *pair) for pair in (*apply.arguments, *attributes)] or [(apply.kind,)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.even_draws", description=__doc__)
    parser.add_argument("--graphs", type=int, default=5000, help="the number of graphs (5000)")
    parser.add_argument("--seed", type=int, default=0, help="the seed (0)")
    parser.add_argument("--generation", choices=GENERATIONS, default=GENERATIONS[0], help="the generation (keras)")
    parser.add_argument("--list", action="store_true", help="list the names that were never drawn")
    options = parser.parse_args()
    os.environ |= {"PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "3"}
    counts, cannot_run = count_uses(options.generation, options.graphs, options.seed)
    drawable = drawable_uses(options.generation)
    for name, uses in drawable.items():
        print(f"{name}: {len(uses & counts.keys()):,} of {len(uses):,}")
        if options.list:
            print("not drawn:", *sorted(".".join(use) for use in uses - counts.keys()))
    tenths = statistics.quantiles((counts[use] for use in drawable["arguments"]), n=10)
    print("uses of an argument:", ", ".join(f"{tenths[index]:.0f}" for index in (0, 4, 8)), "(10%, 50%, 90%)")
    print(f"originals that do not run: {cannot_run:,} of {options.graphs:,}")


if __name__ == "__main__":
    main()
