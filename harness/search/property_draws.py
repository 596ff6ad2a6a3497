"""What a property test draws on one subject: one part of several, by a profile, with what failed before tried first."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from hypothesis.database import ExampleDatabase
from hypothesis.strategies import SearchStrategy

from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.search.graph_database import GraphDatabase
from clonediff.harness.source.other_layers import is_allowed, other_kinds
from clonediff.harness.trials.graph_trials import GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit
from clonediff.strategies.graph import Graph, to_json


@dataclass(frozen=True, slots=True)
class PropertyDraws:
    """`shard` of `shards` equal parts of `examples` graphs; the same for the same `seed`.

    What fails is remembered in `database`, where there is one, by the subject that it failed on.
    """

    examples: int
    seed: int
    database: ExampleDatabase | None = None
    shard: int = 0
    shards: int = 1

    def first_new_hit(self, trials: GraphTrials, graphs: SearchStrategy[Graph]) -> Hit | None:
        """The first new hit, as small as it could be made, or None. What fails no more is forgotten."""
        memory = GraphDatabase(self.database, str(trials.process.subject))
        for graph in memory.graphs():
            if zlib.crc32(to_json(graph)) % self.shards != self.shard or not all(map(is_allowed, other_kinds(graph))):
                continue
            fresh = new_hits(trials.try_graph(graph).hits)
            if fresh:
                return fresh[0]
            memory.forget(graph)
        found = search(
            trials,
            graphs,
            examples=max(1, self.examples // self.shards),
            seed_=self.seed * self.shards + self.shard,
        )
        if found is not None and found.graph is not None:
            memory.keep(found.graph)
        return found

    def __str__(self) -> str:
        """The options that draw the same graphs again."""
        return f"--clonediff-seed {self.seed} --clonediff-examples {self.examples}"
