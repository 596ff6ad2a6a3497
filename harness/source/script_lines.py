"""The lines of a script that builds a graph's model: the only way in which a model is made.

Owns the order of lines, and what is held in a variable. A line a call; a layer that is called several times, or that
something is done to, is named once. What stands in a line is written by `expressions`.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import structs

from clonediff.harness.source.custom_models import write_class
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.expressions import Expressions
from clonediff.harness.source.inputs import write_input
from clonediff.harness.source.operations import write_operation
from clonediff.harness.source.other_layers import class_name_of
from clonediff.harness.source.preparations import (
    as_it_learns,
    done_to,
    scope_of,
    with_custom_function,
    write_preparation,
)
from clonediff.harness.source.tensors import Variables, Words
from clonediff.harness.source.words import dtype_literal, identifier, literal, snake, tuple_literal
from clonediff.strategies.graph import (
    Call,
    Graph,
    Input,
    Layer,
    MalformedGraph,
    Preparation,
    Ref,
    refs,
)
from clonediff.strategies.kinds.forms import can_be_set
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.preparations import OWN_CLASS

_STEPS = 3
"""An open dimension, where a model is run."""

Places: TypeAlias = set[tuple[int, ...]]


class ScriptLines(Expressions):
    """The lines so far: what must be imported, what is defined above the model, the model.

    Layers at the places that are `kept` have variables; those in `learning` are made without what they learn. One that
    `asks` raises where a layer has no attribute that is to be set.
    """

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self.asks = False
        self.kept: Places = set()
        self.learning: Places = set()
        self.custom_functions: dict[tuple[int, ...], Preparation] = {}
        self.classes: dict[str, str] = {}
        self.layers: dict[tuple[int, ...], str] = {}
        self.lines: list[str] = []

    def text(self) -> str:
        imports = [line for name, line in self.dialect.imports.items() if name in self.needs]
        plain = [*(line for line in imports if line.startswith("import")), *sorted(self.imports)]
        others = [line for line in imports if not line.startswith("import")]
        head = "\n".join((*plain, *others))
        if not self.definitions:
            return "\n".join((head, "", *self.lines, ""))
        short = [text for text in self.definitions if "\n" not in text.rstrip("\n")]
        long = [text for text in self.definitions if "\n" in text.rstrip("\n")]
        above = "".join(f"\n{text}" for text in short) + "".join(f"\n\n{text}" for text in long)
        return f"{head}\n{above}\n" + ("\n" if long else "") + "\n".join((*self.lines, ""))

    def rest(self, before: ScriptLines) -> str:
        """The text without what the script before it has defined."""
        new = [text for text in self.definitions if text not in before.defined]
        return "\n".join((*new, *self.lines, ""))

    def preparations(self, graph: Graph) -> None:
        """The lines of what is done to the model."""
        for preparation, target in done_to(graph):
            what = "model" if target is None else ".".join((self.layers[target.place], *target.attributes))
            text = write_preparation(preparation, what, self.plain)
            self.lines += [self.need(self.dialect.spell(line)) for line in text]
        self.change_later()

    def call(self, graph: Graph) -> None:
        """The lines that call the model on arrays, and on its own inputs."""
        self.lines += [f"model({self._arrays(graph)})", f"model(model.inputs{'[0]' if graph.sequential else ''})"]

    def change_later(self) -> None:
        """The lines that change what was given to something before."""
        self.lines += self.later
        self.later = []

    def _arrays(self, graph: Graph) -> str:
        """Arrays that the model can be called on, nested as its inputs are."""
        self.needs.add("np")
        words = []
        for given in (graph.inputs[ref.node] for ref in refs(graph.takes)):
            shape = (graph.batch, *(_STEPS if size is None else size for size in given.shape))
            words.append(f"np.ones({tuple_literal(shape)}, {dtype_literal(given.dtype)})")
        ends = tuple(refs(graph.takes))
        return self.value(graph.takes, dict(zip(ends, words, strict=True)).__getitem__)

    def model(self, graph: Graph, variable: str, stem: str, place: tuple[int, ...] = ()) -> None:
        """The lines of a model, and of the models in it before it.

        `place` has the numbers of the layers that hold it.
        """
        if graph.custom_class is not None:
            self._custom_model(graph, variable, stem, place)
        else:
            self._plain_model(graph, variable, stem, place)

    def _plain_model(self, graph: Graph, variable: str, stem: str, place: tuple[int, ...]) -> None:
        """The lines of a model of a class of Keras."""
        if graph.sequential:
            self._sequential(graph, variable, place)
            return
        tensors = Variables(self.name, graph, stem)
        for number, given in enumerate(graph.inputs):
            self.lines.append(f"{tensors.inputs[number]} = {self.input(given)}")
        made: dict[int, str] = {}
        uses = [call.layer for call in graph.calls]
        for number, call in enumerate(graph.calls):
            layer, shared = graph.layers[call.layer], uses.count(call.layer) > 1
            target = tensors.target(number, layer)
            called = self.called(layer, call, tensors.word, made, shared, (*place, call.layer))
            self.lines.append(f"{target} = {called}")
        words = f"{self.value(graph.takes, tensors.word)}, {self.value(graph.gives, tensors.word)}"
        self.lines.append(f"{variable} = {self.need('keras.Model')}({words}{_name_of(graph)})")
        if not graph.trainable:
            self.lines.append(f"{variable}.trainable = False")

    def _custom_model(self, graph: Graph, variable: str, stem: str, place: tuple[int, ...]) -> None:
        """The lines of a model of a custom class, which is defined above."""
        before, self.lines = self.lines, []
        self._plain_model(structs.replace(graph, custom_class=None), variable, stem, place)
        wanted, text, lines = write_class(graph, self.lines, variable)
        own = self.classes[text] = self.classes.get(text) or self.name(wanted)
        self.define(text.replace("{own}", own))
        self.lines = [*before, *(line.replace("{own}", own) for line in lines)]

    def _sequential(self, graph: Graph, variable: str, place: tuple[int, ...]) -> None:
        """A chain: its input, then each layer in order."""
        parts = [self.input(graph.inputs[0], as_layer=graph.inputs[0].name is not None)]
        made: dict[int, str] = {}
        uses = [call.layer for call in graph.calls]
        for call in graph.calls:
            layer = graph.layers[call.layer]
            if call.layer not in made:
                needs_name = bool(layer.marks) or layer.graph is not None or uses.count(call.layer) > 1
                made[call.layer] = self._made(layer, needs_name, (*place, call.layer))
            parts.append(made[call.layer])
        self.lines.append(f"{variable} = keras.Sequential([{', '.join(parts)}]{_name_of(graph)})")
        if not graph.trainable:
            self.lines.append(f"{variable}.trainable = False")

    def input(self, given: Input, *, as_layer: bool = False) -> str:
        return self.need(write_input(given, self.dialect, as_layer=as_layer))

    def made(self, layer: Layer) -> str:
        """The variable of a layer that stands alone, once it is made; "" for an operation, which is no object."""
        if layer.graph is None and is_operation(layer.kind):
            return ""
        return self._made(layer, True, (0,))

    def called(
        self,
        layer: Layer,
        call: Call,
        tensors: Words,
        made: dict[int, str],
        shared: bool,
        place: tuple[int, ...] = (0,),
    ) -> str:
        """The expression of a call; `made` has the expressions of the layers that are made already."""
        if layer.graph is None and is_operation(layer.kind):
            return self._operation(layer, call, tensors)
        if call.layer not in made:
            needs_name = shared or bool(layer.marks) or layer.graph is not None
            made[call.layer] = self._made(layer, needs_name, place)
        words = [self.value(value, tensors) for value in call.args]
        words += [f"{identifier(key)}={self.value(value, tensors)}" for key, value in call.kwargs]
        return f"{made[call.layer]}({', '.join(words)})"

    def _operation(self, layer: Layer, call: Call, tensors: Words) -> str:
        given = [
            self.value(item, tensors) if isinstance(item, Ref) else [self.value(ref, tensors) for ref in refs(item)]
            for item in call.args
        ]
        if not given or call.kwargs:
            raise MalformedGraph(f"calls: {layer.kind} takes tensors only")
        return self.need(write_operation(layer, given, self.plain, self.dialect))

    def _made(self, layer: Layer, needs_name: bool, place: tuple[int, ...]) -> str:
        """The expression that makes a layer; with `needs_name`, a variable that holds it already."""
        made = self.layers[place] = self._newly_made(layer, needs_name or place in self.kept, place)
        return made

    def _newly_made(self, layer: Layer, needs_name: bool, place: tuple[int, ...]) -> str:
        if layer.graph is not None:
            variable = self.name("inner_model" if layer.name is None else snake(layer.name))
            graph = layer.graph if layer.name is None else structs.replace(layer.graph, name=layer.name)
            self.model(graph, variable, "inner_", place)
            if not layer.trainable:
                self.lines.append(f"{variable}.trainable = False")
            return variable
        if place in self.custom_functions:
            layer, above, self.custom_scope = with_custom_function(
                layer, self.custom_functions[place], self.name, self.dialect.found
            )
            self.define(self.dialect.spell(above))
        later = [pair for pair in layer.args if "attributes" in layer.marks and can_be_set(*pair)]
        layer = structs.replace(layer, args=tuple(pair for pair in layer.args if pair not in later))
        text = self.layer(as_it_learns(layer) if place in self.learning else layer)
        attributes = [(identifier(name), self.value(value, None)) for name, value in later]
        if not needs_name:
            return text
        variable = self.name(f"{snake(class_name_of(layer.kind))}_layer")
        self.lines.append(f"{variable} = {text}")
        for name, value in attributes:
            self.lines += [*([f"{variable}.{name}"] if self.asks else ()), f"{variable}.{name} = {value}"]
        if "frozen after" in layer.marks:
            self.lines.append(f"{variable}.trainable = False")
        if "supports_masking" in layer.marks:
            self.lines.append(f"{variable}.supports_masking = True")
        return variable

    def found_in_scope(self, preparation: Preparation, place: tuple[int, ...]) -> None:
        """Leave what a layer takes, or its class, to be found in a scope."""
        if dict(preparation.args)["takes"] == OWN_CLASS and preparation.kind is not None:
            if preparation.kind not in self.dialect.classes:
                raise MalformedGraph(f"preparations: {preparation.kind} is no class of one's own")
            self.unregistered, self.custom_scope = preparation.kind, scope_of(preparation.kind)
        else:
            self.custom_functions[place] = preparation


def _name_of(graph: Graph) -> str:
    """The argument for the name of a model, "" where it has none."""
    return "" if graph.name is None else f", name={literal(graph.name)}"
