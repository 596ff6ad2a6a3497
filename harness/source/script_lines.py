"""The lines of a script that builds a graph's model: the only way in which a model is made.

Owns the order of lines, and what is held in a variable. A line a call; a layer that is called several times, or that
something is done to, is named once. What stands in a line is written by `expressions`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import structs

from clonediff.harness.source.clone_arguments import CALL_FUNCTION, CLONE_FUNCTION
from clonediff.harness.source.custom_models import write_class
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.expressions import Expressions
from clonediff.harness.source.inputs import with_shape, write_building, write_input
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
from clonediff.strategies.asking import taken
from clonediff.strategies.calling import packed
from clonediff.strategies.clone_arguments import inner_layer, within
from clonediff.strategies.graph import (
    Base,
    Call,
    CloneArguments,
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

    Where it goes on `after` another script, what that defined is there, and the layers that it `holds` in variables.
    Layers at the places that are `kept` have variables, too; those in `learning` are made without what they learn, and
    those that are `stateful` keep their states, for which the `batch` is known. One that `asks` raises where a layer
    has no attribute that is to be set. `index` says which layer of the graph an expression stands for, or gave: by the
    numbers of the models around it and its own, an input as -1 less its own.
    """

    def __init__(self, dialect: Dialect, after: ScriptLines | None = None) -> None:
        super().__init__(dialect, after)
        self.after = after
        self.holds = False
        self.asks = False
        self.kept: Places = set()
        self.learning: Places = set()
        self.stateful: Places = set()
        self.custom_functions: dict[tuple[int, ...], Preparation] = {}
        self.batch: int | None = None
        self.classes: dict[str, str] = {}
        self.layers: dict[tuple[int, ...], str] = {}
        self.functions: dict[tuple[int, ...], set[str]] = {}
        self.lines: list[str] = []
        self.index: dict[str, tuple[int, ...]] = {}
        if after is not None:
            self.taken.update(after.layers.values())

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

    def rest(self) -> str:
        """The text without what the script before it has said."""
        said = self.after.defined if self.after is not None else set()
        new = [text for text in self.definitions if text not in said]
        return "\n".join((*new, *self.lines, ""))

    def given(self, graph: Graph, node: int, arguments: CloneArguments) -> str:
        """The expression of an input that `clone_model` is given; the model that is asked for has the graph."""
        each = graph.inputs[node]
        if arguments.inputs == "layers":
            return self.input(each, as_layer=True)
        if arguments.inputs == "inner":
            inner = inner_layer(graph)
            if inner is None:
                raise MalformedGraph("clone_arguments.inputs: no layer of the model gives what is as its one input is")
            return f"{(self.after or self).layers[(inner,)]}.output"
        text = self.input(each)
        if arguments.inputs == "made":
            text = self.need(f'layers.Activation("linear", name="made_{node + 1}")({text})')
        return text

    def preparations(self, graph: Graph) -> None:
        """The lines of what is done to the model."""
        for preparation, target in done_to(graph):
            what = "model" if target is None else ".".join((self.layers[target.place], *target.attributes))
            # Keras 3 does not tell the `input` of a Sequential that was never called.
            tensor = f"{what}.inputs[0]" if target is None and graph.sequential else f"{what}.input"
            text = write_preparation(preparation, what, self.plain, lambda: self._arrays(graph), tensor)
            self.lines += [self.need(self.dialect.spell(line)) for line in text]
        self._change_later()

    def _change_later(self) -> None:
        """The lines that change what was given to something before."""
        self.lines += self.later
        self.later = []

    def _arrays(self, graph: Graph) -> str:
        """Arrays that the model can be called on, nested as its inputs are."""
        self.needs.add("np")
        words = []
        for given in taken(graph):
            shape = (given.batch or graph.batch, *(_STEPS if size is None else size for size in given.shape))
            words.append(f"np.ones({tuple_literal(shape)}, {dtype_literal(given.dtype)})")
        ends = tuple(refs(graph.takes))
        if len(words) < len(ends):
            raise MalformedGraph("preparations: there are no numbers for some input")
        return self.value(graph.takes, dict(zip(ends, words, strict=True)).__getitem__)

    def model(
        self,
        graph: Graph,
        variable: str,
        stem: str,
        arguments: CloneArguments | None = None,
        place: tuple[int, ...] = (),
    ) -> None:
        """The lines of a model, and of the models in it before it; `arguments` are those of its clone.

        `place` has the numbers of the layers that hold it.
        """
        if graph.custom_class is not None:
            self._custom_model(graph, variable, stem, place)
        else:
            self._plain_model(graph, variable, stem, arguments, place)
        if not place:
            self._change_later()

    def _plain_model(
        self, graph: Graph, variable: str, stem: str, arguments: CloneArguments | None, place: tuple[int, ...]
    ) -> None:
        """The lines of a model of a class of Keras."""
        if graph.sequential:
            self._sequential(graph, variable, arguments, place)
            return
        tensors = Variables(self.name, graph, stem)
        for number, given in enumerate(graph.inputs):
            text = (
                self.given(graph, number, arguments)
                if arguments is not None and not place and arguments.inputs in ("made", "inner")
                else self.input(given)
            )
            self.lines.append(f"{tensors.inputs[number]} = {text}")
            self.index[tensors.inputs[number]] = (*place, -1 - number)
        made: dict[int, str] = {}
        uses = [call.layer for call in graph.calls]
        for number, call in enumerate(graph.calls):
            layer, shared = graph.layers[call.layer], uses.count(call.layer) > 1
            target = tensors.target(number, layer)
            called = self.called(layer, call, tensors.word, made, shared, arguments, (*place, call.layer))
            self.lines.append(f"{target} = {called}")
            self.index |= dict.fromkeys(re.findall(r"\w+", target), (*place, call.layer))
        if graph.base is not None:
            self._model(self.name("base"), graph.base, tensors.word)
        self._named_model(graph, variable, tensors.word)

    def _custom_model(self, graph: Graph, variable: str, stem: str, place: tuple[int, ...]) -> None:
        """The lines of a model of a custom class, which is defined above."""
        before, self.lines = self.lines, []
        named = graph.custom_class is not None and graph.custom_class.makes == "parts"
        plain = structs.replace(graph, custom_class=None, name=None if named else graph.name)
        self._plain_model(plain, variable, stem, None, place)
        wanted, text, lines = write_class(graph, self.lines, variable, self.dialect)
        own = self.classes[text] = self.classes.get(text) or self.name(wanted)
        self.define(text.replace("{own}", own))
        self.lines = [*before, *(line.replace("{own}", own) for line in lines)]

    def _named_model(self, graph: Graph, variable: str, tensors: Words) -> None:
        self._model(variable, graph, tensors, _name_of(graph))
        if not graph.trainable:
            self.lines.append(f"{variable}.trainable = False")

    def _model(self, variable: str, ends: Graph | Base, tensors: Words, name: str = "") -> None:
        words = f"{self.value(ends.takes, tensors)}, {self.value(ends.gives, tensors)}"
        self.lines.append(f"{variable} = {self.need('keras.Model')}({words}{name})")

    def _sequential(
        self, graph: Graph, variable: str, arguments: CloneArguments | None, place: tuple[int, ...]
    ) -> None:
        """A chain: its input, unless its first layer is as it was and tells the shape, then each layer in order."""
        as_layer = graph.inputs[0].name is not None and arguments is None
        by_first = (
            graph.built == "by its first layer" and self.batch is None and not (arguments and arguments.clone_function)
        )
        starts = not by_first and graph.built not in ("later", "not yet")
        parts = [self.input(graph.inputs[0], as_layer=as_layer)] if starts else []
        made: dict[int, str] = {}
        uses = [call.layer for call in graph.calls]
        for call in graph.calls:
            layer = graph.layers[call.layer]
            if call.layer not in made:
                layer = with_shape(layer, graph) if by_first and not made and layer.graph is None else layer
                needs_name = bool(layer.marks) or layer.graph is not None or uses.count(call.layer) > 1
                made[call.layer] = self._made(layer, needs_name, arguments, (*place, call.layer))
            parts.append(made[call.layer])
        chain = self.name("base") if graph.base is not None else variable
        self.index[f"{chain}.inputs[0]"] = (*place, -1)
        self.index |= {f"{chain}.layers[{at}]": (*place, call.layer) for at, call in enumerate(graph.calls)}
        if graph.base is not None:
            self.lines.append(f"{chain} = keras.Sequential([{', '.join(parts)}])")
            # In Keras 3 a Sequential itself has no `input` before it is called.
            words = {Ref(0): f"{chain}.inputs[0]"}
            words.update((Ref(node), f"{chain}.layers[{node - 1}].output") for node in range(1, len(graph.calls) + 1))
            self._named_model(graph, variable, words.__getitem__)
            return
        self.lines.append(f"{variable} = keras.Sequential([{', '.join(parts)}]{_name_of(graph)})")
        if graph.built == "later" and not place:
            self.lines.append(f"{variable}{write_building(graph, self.batch)}")
        if not graph.trainable:
            self.lines.append(f"{variable}.trainable = False")

    def input(self, given: Input, *, as_layer: bool = False) -> str:
        if given.batch is None:
            given = structs.replace(given, batch=self.batch)
        return self.need(write_input(given, self.dialect, as_layer=as_layer))

    def made(self, layer: Layer) -> str:
        """The variable of a layer that stands alone, once it is made; "" for an operation, which is no object."""
        if layer.graph is None and is_operation(layer.kind):
            return ""
        return self._made(layer, True, None, (0,))

    def called(
        self,
        layer: Layer,
        call: Call,
        tensors: Words,
        made: dict[int, str],
        shared: bool,
        arguments: CloneArguments | None = None,
        place: tuple[int, ...] = (0,),
    ) -> str:
        """The expression of a call; `made` has the expressions of the layers that are made already."""
        if layer.graph is None and is_operation(layer.kind):
            return self._operation(layer, call, tensors)
        if call.layer not in made:
            needs_name = shared or bool(layer.marks) or layer.graph is not None
            made[call.layer] = self._made(layer, needs_name, arguments, place)
        words = [self.value(value, tensors) for value in packed(call, layer.graph)]
        words = [f"inputs={each}" for each in words] if call.packing == "keyword" else words
        words += [f"{identifier(key)}={self.value(value, tensors)}" for key, value in call.kwargs]
        if arguments is not None and arguments.call_function is not None:
            return f"{CALL_FUNCTION}({', '.join((made[call.layer], *words))})"
        return f"{made[call.layer]}({', '.join(words)})"

    def _operation(self, layer: Layer, call: Call, tensors: Words) -> str:
        given = [
            self.value(item, tensors) if isinstance(item, Ref) else [self.value(ref, tensors) for ref in refs(item)]
            for item in call.args
        ]
        if not given or call.kwargs:
            raise MalformedGraph(f"calls: {layer.kind} takes tensors only")
        return self.need(write_operation(layer, given, self.plain, self.dialect))

    def _made(self, layer: Layer, needs_name: bool, arguments: CloneArguments | None, place: tuple[int, ...]) -> str:
        """The expression that makes a layer; with `needs_name`, a variable that holds it already.

        Where a clone function is asked for it, it is asked with the layer of the model that is cloned; but for a model
        that `recursive`, or the function itself, goes into.
        """
        inside = None if arguments is None else within(arguments)
        if arguments is None or arguments.clone_function is None or (layer.graph is not None and inside is not None):
            made = self._plainly_made(layer, needs_name or self.holds or place in self.kept, inside, place)
            self.layers[place] = made
            return made
        assert self.after is not None
        held = self.after.layers[place]
        # What has a function of its own behind it finds the names taken that were taken there.
        self.taken.update(*(names for at, names in self.after.functions.items() if at[: len(place)] == place))
        if needs_name:
            self.lines.append(f"{held} = {CLONE_FUNCTION}({held})")
            return held
        return f"{CLONE_FUNCTION}({held})"

    def _plainly_made(
        self, layer: Layer, needs_name: bool, inside: CloneArguments | None, place: tuple[int, ...]
    ) -> str:
        if layer.graph is not None:
            if inside is not None and self.after is not None and place in self.after.layers:
                variable = self.after.layers[place]
            else:
                wanted = "inner_model" if layer.name is None else snake(layer.name)
                variable = self.name(wanted)
            graph = layer.graph if layer.name is None else structs.replace(layer.graph, name=layer.name)
            self.model(graph, variable, "inner_", inside, place)
            if not layer.trainable:
                self.lines.append(f"{variable}.trainable = False")
            return variable
        if place in self.stateful:
            layer = structs.replace(layer, args=(*layer.args, ("stateful", True)))
        if place in self.custom_functions:
            layer, above, self.custom_scope = with_custom_function(
                layer, self.custom_functions[place], self.name, self.dialect.found
            )
            self.define(self.dialect.spell(above))
        before = set(self.taken)
        later = [pair for pair in layer.args if "attributes" in layer.marks and can_be_set(*pair)]
        layer = structs.replace(layer, args=tuple(pair for pair in layer.args if pair not in later))
        text = self.layer(as_it_learns(layer) if place in self.learning else layer)
        attributes = [(identifier(name), self.value(value, None)) for name, value in later]
        self.functions[place] = self.taken - before
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
