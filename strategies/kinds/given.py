"""What a digit stands for, of all that an argument of a layer can be given.

Owns how plain values, forms and objects of a release share the digits, and that a layer within another has arguments
as well. Which forms there are is in `clonediff.strategies.kinds.forms`, how an object is drawn in `objects`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import structs

from clonediff.strategies.graph import Layer, Made, Seq, Value
from clonediff.strategies.kinds.forms import forms_of, sort_of
from clonediff.strategies.kinds.kind import LEFT_OUT, Kind
from clonediff.strategies.kinds.objects import Objects, object_of_keras

DIGITS = 256
"""A digit is below."""


@dataclass(frozen=True, slots=True)
class Given:
    """What may be given: a digit from `plain` on stands for a form, or an object of a class of the release.

    A digit means the same for one argument of one kind, whatever else is drawn.
    """

    plain: int = DIGITS
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    objects: Objects = field(default_factory=dict)

    def value(self, kind: str, argument: str, values: tuple[Value, ...], digit: int) -> Value:
        """A value of an argument; a form or an object, unless the argument has nothing but being left out."""
        place, value = digit - self.plain, values[digit % len(values)]
        if place < 0 or all(each == LEFT_OUT for each in values):
            return value
        return self._formed(kind, argument, place) if sort_of(argument) else self._formed_within(value, place)

    def _formed(self, kind: str, argument: str, place: int) -> Value:
        """A form and an object by turns."""
        forms = forms_of(argument)
        drawn = None
        if place % 2:
            draw = random.Random(f"{kind}.{argument} {place}")
            drawn = object_of_keras(sort_of(argument), self.objects, draw, least=1)
        return forms[place // 2 % len(forms)] if drawn is None else drawn

    def _formed_within(self, value: Value, place: int) -> Value:
        """The value, with one more argument of each layer in it that can be given one in a form."""
        match value:
            case Made(layer=layer):
                args = tuple((key, self._formed_within(each, place)) for key, each in layer.args)
                return Made(structs.replace(layer, args=(*args, *self._one_more(layer, place))))
            case Seq(items=items):
                return structs.replace(value, items=tuple(self._formed_within(each, place) for each in items))
        return value

    def _one_more(self, layer: Layer, place: int) -> Iterator[tuple[str, Value]]:
        kind, said = self.kinds.get(layer.kind), dict(layer.args)
        takes = [] if kind is None else [key for key in (*kind.options, *kind.more) if sort_of(key) and key not in said]
        if takes:
            draw = random.Random(f"{layer.kind} {place}")
            argument = draw.choice(takes)
            yield argument, self._formed(layer.kind, argument, draw.randrange(DIGITS - self.plain))
