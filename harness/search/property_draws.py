"""What a property test draws on one subject: one part of several, by a profile, with what failed before tried first."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from hypothesis.database import ExampleDatabase
from hypothesis.strategies import SearchStrategy

from clonediff.harness.search.draw_and_shrink import search
from clonediff.harness.search.example_database import each_drawn, keyed
from clonediff.harness.trials.graph_trials import GraphTrials, Hit, news
from clonediff.strategies.graph import Graph


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

    def first_news(self, trials: GraphTrials, graphs: SearchStrategy[Graph]) -> Hit | None:
        """The first news, as small as it could be made; None where there is none. What fails no more is forgotten."""
        memory = None if self.database is None else keyed(self.database, str(trials.process.subject))
        if memory is not None:
            for example, graph in each_drawn(memory, graphs):
                if zlib.crc32(example) % self.shards != self.shard:
                    continue
                fresh = news(trials.try_graph(graph).hits)
                if fresh:
                    return fresh[0]
                memory.delete(b"", example)
        return search(
            trials,
            graphs,
            examples=max(1, self.examples // self.shards),
            seed_=self.seed * self.shards + self.shard,
            database=memory,
        )

    def __str__(self) -> str:
        """The options that draw the same graphs again."""
        return f"--clonediff-seed {self.seed} --clonediff-examples {self.examples}"
