"""How a generation of Keras, under one of its names, spells things.

Owns what a dialect is. Each dialect is a module of this package with one `Dialect`; the writer knows no generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clonediff.harness.source.custom import CLASSES


@dataclass(frozen=True, slots=True)
class Dialect:
    """`name` is what a subject calls its dialect.

    `imports` maps a name that the text may use to the line that brings it; `functions` is what the names of its
    operations begin with, "" where it has none, and `words` what is done to their tensors or their results, by a word
    of the catalogue; `spelled` maps the functions that custom layers use to what they are called here; `classes` the
    custom layers to their text. `layer_shape` is the argument of an `InputLayer` for its shape.
    """

    name: str
    imports: Mapping[str, str]
    spelled: Mapping[str, str]
    functions: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=lambda: CLASSES)
    layer_shape: str = "shape"
    found: tuple[str, ...] = ()
    """The arguments that a layer may be given by a name of one's own, to be found in a scope as it is made."""
    nests: bool = False
    """Whether `clone_model` takes inputs that are nested as the model's own are."""
    compiles: bool = False
    """Whether somebody says that the clone of a compiled model is compiled."""

    def has(self, operation: str) -> bool:
        """Whether an operation can be written: a function of this framework, or an operator."""
        return bool(self.functions) and operation.startswith((self.functions, "operator."))

    def spell(self, text: str) -> str:
        """A text written with the names of Keras 3, in this dialect."""
        for name, here in self.spelled.items():
            text = text.replace(name, here)
        return text
