"""How a generation of Keras, under one of its names, spells things.

Owns what a dialect is. Each dialect is a module of this package with one `Dialect`; the writer knows no generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strategies.kinds import Generation


@dataclass(frozen=True, slots=True)
class Dialect:
    """`name` is what a subject calls its dialect, `generation` says which kinds it has words for.

    `imports` maps a name that the text may use to the line that brings it; `operations` the kinds of the family
    "operations" to a template; `spelled` the functions that custom layers use to what they are called here.
    """

    name: str
    generation: Generation
    imports: Mapping[str, str]
    operations: Mapping[str, str]
    spelled: Mapping[str, str]

    def spell(self, text: str) -> str:
        """A text written with the names of Keras 3, in this dialect."""
        for name, here in self.spelled.items():
            text = text.replace(name, here)
        return text
