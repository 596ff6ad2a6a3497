"""Makes the calls of a model again: on other tensors, of other layers, or by another function.

What `clone_function` is not asked about is copied. The calls are made in the order in which their user may have made
them, so that a layer that is called several times is built by the call that built the original.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .copier import Copier
from .walk import layer_of


class Replay:
    """Makes the calls of one model again. A subclass knows one Keras."""

    COPIER: Any = None
    VALUES: Any = None
    LAYER: Any = ()
    INPUT_LAYER: Any = ()
    SEQUENTIAL: Any = ()
    FUNCTIONAL: Any = ()
    TENSOR: Any = ()
    NEST: Any = None
    """The functions of Keras, or of TensorFlow, for nested structures."""

    layers: Callable[[Any], list[Any]]
    """The layers of a graph, and other operations in it."""
    calls: Callable[[Any], list[Any]]
    """The calls of a Functional model, but for those of input layers."""
    arguments: Callable[[Any], tuple[Any, dict[str, Any]]]
    """What a call was given, by position and by name."""
    input_structures: Callable[[Any], list[Any]]
    """The structures in which tensors may be given for the inputs of a model."""
    put_together: Callable[[Any, Any], None]
    """Makes a graph, or a list of layers, of what took the place of that of a model."""

    def __init__(
        self,
        model: Any,
        input_tensors: Any = None,
        clone_function: Callable[[Any], Any] | None = None,
        call_function: Callable[..., Any] | None = None,
        recursive: bool = False,
        cache: dict[int, Any] | None = None,
    ) -> None:
        self.model = model
        self.copier: Copier = self.COPIER(model)
        self.clone_function = clone_function
        self.call_function = call_function
        self.recursive = recursive
        self.cache = {} if cache is None else cache
        self.memo = self.copier.memo
        self.memo.update(self.cache)
        self.given = None if input_tensors is None else self._given(input_tensors)
        """The tensors that the clone is built upon, in the order of the inputs."""
        self.called: set[int] = set()
        self.in_sequential: set[int] = set()
        """Graphs within a Sequential, which hands no `call_function` on."""
        self.owners: dict[int, Any] = {}
        """The layer of each variable in whose place another layer is used."""

    def leaves(self, structure: Any) -> list[Any]:
        return list(self.NEST.flatten(structure))

    def as_tensor(self, value: Any, own: Any) -> Any:
        """A tensor that is given for an input."""
        return value

    # The clone.

    def clone(self) -> Any:
        model = self.model
        if self.given is not None and not isinstance(model, self.SEQUENTIAL):
            for tensor, new in zip(model.inputs, self.given, strict=True):
                self.memo[id(tensor)] = new
                self.memo[id(tensor._keras_history[0])] = new._keras_history[0]
        graphs = list({id(graph): graph for graph in reversed(list(self._graphs(model)))}.values())
        for graph in graphs:
            cls: Any = type(graph)
            self.memo[id(graph)] = cls.__new__(cls)
        if self.clone_function is not None:
            self._ask(model)
        self._copy_parts(graphs)
        for graph in graphs:  # each after those within it
            if not isinstance(graph, self.SEQUENTIAL):
                for call in self._in_order(self.calls(graph)):
                    self._call(call, graph)
            self.put_together(graph, self.memo[id(graph)])
        return self.memo[id(model)]

    def _graphs(self, model: Any) -> Iterator[Any]:
        """The models whose calls are made again, each before those within it."""
        yield model
        for layer in self.layers(model) if self.recursive else ():
            if isinstance(layer, (self.SEQUENTIAL, self.FUNCTIONAL)) and id(layer) not in self.memo:
                if isinstance(model, self.SEQUENTIAL) or id(model) in self.in_sequential:
                    self.in_sequential.add(id(layer))
                yield from self._graphs(layer)

    def _ask(self, model: Any) -> None:
        """Ask `clone_function` for what takes the place of each layer, once for each."""
        for layer in self.layers(model):
            if isinstance(layer, self.INPUT_LAYER) or not isinstance(layer, self.LAYER):
                continue
            if self.recursive and isinstance(layer, (self.SEQUENTIAL, self.FUNCTIONAL)):
                self._ask(layer)
            elif id(layer) not in self.memo:
                answer = self.clone_function and self.clone_function(layer)
                if not isinstance(answer, self.LAYER) or isinstance(answer, self.INPUT_LAYER):
                    raise ValueError(
                        f"`clone_function` gave {answer!r} for the layer '{layer.name}' (of type "
                        f"'{type(layer).__name__}'). It must give the layer to use in its place: a layer or model, and "
                        "no InputLayer."
                    )
                self.memo[id(layer)] = self.cache[id(layer)] = answer
                self.owners.update((id(variable), layer) for variable in (layer.variables if layer.built else ()))

    def _copy_parts(self, graphs: list[Any]) -> None:
        """Copy the layers that are not asked for, and what calls take beside tensors."""
        functional = [graph for graph in graphs if not isinstance(graph, self.SEQUENTIAL)]
        calls = [call for graph in functional for call in self.calls(graph)]
        arguments = [leaf for call in calls for leaf in self.leaves(self.arguments(call))]
        parts = [leaf for leaf in arguments if not isinstance(leaf, self.TENSOR) and id(leaf) not in self.owners]
        layers = [layer for graph in graphs for layer in self.layers(graph)]
        inputs = [layer.output for layer in layers if isinstance(layer, self.INPUT_LAYER)]
        inputs += [tensor for graph in functional for tensor in graph.inputs]
        self.copy(*layers, *parts, *inputs)

    def copy(self, *things: Any) -> None:
        """Copy what is not copied yet, and give its variables their values."""
        self.copier.copy(*things)
        self.VALUES(self.copier).run(weights=False)

    def _call(self, call: Any, graph: Any) -> None:
        """Make a call again."""
        layer = layer_of(call)
        args, kwargs = (self.NEST.map_structure(self._of, part) for part in self.arguments(call))
        is_first = id(layer) not in self.called and id(layer) not in self.cache
        self.called.add(id(layer))
        if is_first and isinstance(layer, self.LAYER) and not self._are_alike(self.arguments(call), (args, kwargs)):
            self.memo[id(layer)] = self._unbuilt(layer)
        new = self.memo[id(layer)]
        if self.call_function is not None and isinstance(new, self.LAYER) and id(graph) not in self.in_sequential:
            outputs, caller = self.leaves(self.call_function(new, *args, **kwargs)), "`call_function`"
        else:
            try:
                outputs, caller = self.leaves(new(*args, **kwargs)), str(new)
            except TypeError as error:
                if type(new) is type(layer):
                    raise
                raise ValueError(
                    f"The call of '{layer.name}' cannot be made on what `clone_function` gave for it, {new} ({error}). "
                    "Give a layer that takes the arguments of that call, or change them by a `call_function`."
                ) from error
        originals = self.leaves(call.outputs)
        if not all(isinstance(output, self.TENSOR) for output in outputs) or len(outputs) != len(originals):
            gave = f"{len(outputs)} tensors" if len(outputs) != len(originals) else str(outputs)
            raise ValueError(
                f"{caller} gave {gave} for the call of '{layer.name}', where the original gave {len(originals)} "
                "tensors: their number must stay."
            )
        self.memo.update(zip(map(id, originals), outputs, strict=True))
        if id(layer) not in self.cache and isinstance(layer, self.LAYER) and len(new.variables) != len(layer.variables):
            raise ValueError(
                f"clone_model: the clone of the layer '{layer.name}' (class `{type(layer).__name__}`) has "
                f"{len(new.variables)} weights where it has {len(layer.variables)}: on other inputs it makes others. "
                "Give a `clone_function` for it."
            )

    def _unbuilt(self, layer: Any) -> Any:
        """A copy of a layer as it is before it is built, which draws from generators of the clone."""
        copier = self.VALUES.UNBUILT(layer)
        drawing = [thing for thing in self.copier.owned.values() if isinstance(thing, self.VALUES.DRAWING)]
        copier.memo.update((id(thing), self.memo[id(thing)]) for thing in drawing)
        copier.copy()
        for _, part in copier.pairs(self.LAYER):
            for name, value in list(vars(part).items()) if hasattr(part, "_track_trackable") else ():
                if hasattr(value, "_track_trackable"):  # TensorFlow is to follow it again
                    part._track_trackable(value, name, overwrite=True)
        return copier.memo[id(layer)]

    def _are_alike(self, arguments: Any, others: Any) -> bool:
        """Whether tensors have the shapes and dtypes of others."""
        pair = ([leaf for leaf in self.leaves(part) if isinstance(leaf, self.TENSOR)] for part in (arguments, others))
        one, other = ([(tuple(tensor.shape[1:]), tensor.dtype) for tensor in tensors] for tensors in pair)
        return one == other

    def _of(self, leaf: Any) -> Any:
        """What takes the place of an argument of a call."""
        if id(leaf) in self.owners:
            raise ValueError(
                f"A call takes the variable '{leaf.name}' of the layer '{self.owners[id(leaf)].name}', for which "
                "`clone_function` gave another layer: clone without `clone_function`."
            )
        return self.copier.of(leaf)

    def _in_order(self, calls: list[Any]) -> list[Any]:
        """The calls, each after those that made what it takes, and after the calls of its layer that came before."""
        makers = {id(tensor): call for call in calls for tensor in self.leaves(call.outputs)}
        by_layer: dict[int, list[Any]] = {}
        for layer in {id(layer): layer for layer in map(layer_of, calls)}.values():
            by_layer[id(layer)] = [call for call in layer._inbound_nodes if any(call is other for other in calls)]
        needed: dict[int, set[int]] = {}
        for call in calls:
            arguments = map(id, self.leaves(self.arguments(call)))
            needed[id(call)] = {id(makers[number]) for number in arguments if number in makers}
        previous = {id(later): id(call) for same in by_layer.values() for call, later in itertools.pairwise(same)}
        order: list[Any] = []
        done: set[int] = set()
        waiting = list(calls)
        while waiting:
            ready = [call for call in waiting if needed[id(call)] <= done]
            # A model on what layers made may call them in another order than the one in which they were called.
            first = next((call for call in ready if previous.get(id(call), id(call)) in {*done, id(call)}), ready[0])
            order.append(first)
            done.add(id(first))
            waiting = [call for call in waiting if call is not first]
        return order

    def _given(self, input_tensors: Any) -> list[Any]:
        """The tensors that are given for the inputs of the model, in the order of its inputs."""
        is_sequential = isinstance(self.model, self.SEQUENTIAL)
        references = [None] if is_sequential else self.input_structures(self.model)
        matches = [by_input(input_tensors, reference) for reference in references]
        pairs = next((match for match in matches if match is not None), None)
        if pairs is None:
            raise ValueError(
                f"`input_tensors` must have the same structure as the inputs of model '{self.model.name}', with one "
                f"tensor for each: {'a single tensor' if is_sequential else references[0]}. Received: {input_tensors}"
            )
        found: dict[int, Any] = {}
        for own, value in pairs:
            tensor = self.as_tensor(value.output if isinstance(value, self.INPUT_LAYER) else value, own)
            if not isinstance(tensor, self.TENSOR) or getattr(tensor, "_keras_history", None) is None:
                raise ValueError(
                    "All entries in `input_tensors` must be tensors that an `Input` or a layer has made, or "
                    f"InputLayers. Received: {input_tensors}"
                )
            if found.setdefault(id(own), tensor) is not tensor:
                raise ValueError(
                    f"'{self.model.name}' has the tensor '{own.name}' for several of its inputs: `input_tensors` must "
                    f"have one tensor for all of them. Received: {input_tensors}"
                )
        return [found[id(own)] for own in ([None] if is_sequential else self.model.inputs)]


def clone(replay: type[Replay], model: Any, weights: bool, **arguments: Any) -> Any:
    """A clone of a model or layer; see `clone_model`."""
    cache = arguments.get("cache")
    changed = [name for name in ("input_tensors", "clone_function", "call_function") if arguments.get(name) is not None]
    if not changed and not cache:
        copier = replay.COPIER(model)
        copier.copy()
        replay.VALUES(copier).run(weights)
        if cache is not None:
            layers = [pair for pair in copier.pairs(replay.LAYER) if not isinstance(pair[0], replay.INPUT_LAYER)]
            cache.update((id(layer), new) for layer, new in layers)
        return copier.of(model)
    is_sequential = isinstance(model, replay.SEQUENTIAL)
    if not is_sequential and not isinstance(model, replay.FUNCTIONAL):
        raise ValueError(
            f"{changed} are only supported for Sequential models or Functional models. Received model of type "
            f"'{type(model).__name__}'"
        )
    if is_sequential and "call_function" in changed:
        raise ValueError(
            "`call_function` is not supported with Sequential models: their layers are listed, and not called. "
            f"Received: model={model!r}"
        )
    replaying = replay(model, **arguments)
    operations = [
        operation for layer in model._flatten_layers() for operation in getattr(layer, "_operations", [layer])
    ]
    with rolled_back([*operations, *(tensor._keras_history[0] for tensor in replaying.given or ())]):
        new = replaying.clone()
    if weights:
        copy_values(model, new)
    return new


@contextlib.contextmanager
def rolled_back(operations: Iterable[Any]) -> Iterator[None]:
    """If an exception is raised, operations forget the calls that were made since."""
    counts = [(part, len(part._inbound_nodes), len(part._outbound_nodes)) for part in operations]
    try:
        yield
    except BaseException:
        for operation, inbound, outbound in counts:
            del operation._inbound_nodes[inbound:]
            del operation._outbound_nodes[outbound:]
        raise


def copy_values(model: Any, clone: Any) -> None:
    """Give the variables of a clone, and of its optimizer, the values of those of a model."""
    pair = [ordered_variables(model), ordered_variables(clone)]
    optimizers: list[Any] = [getattr(one, "optimizer", None) for one in (model, clone)]
    if None not in optimizers:
        pair = [[*one, *optimizer.variables] for one, optimizer in zip(pair, optimizers, strict=True)]
    variables, others = pair
    shapes, found = ([tuple(variable.shape) for variable in one] for one in pair)
    if shapes != found:
        raise ValueError(
            f"clone_model: weights=True: the model has {len(variables)} weights and states, its clone has "
            f"{len(others)}, with the shapes {found} where the model has {shapes}. Clone without `weights`, and copy "
            "those that fit."
        )
    for variable, other in zip(variables, others, strict=True):
        other.assign(variable)
    for layer in clone._flatten_layers():
        if hasattr(layer, "finalize_state"):  # what it has made of the weights
            layer.finalize_state()


def ordered_variables(model: Any) -> list[Any]:
    """The variables of a model in an order that no `trainable` flag changes."""
    found: dict[int, Any] = {}
    for layer in model._flatten_layers():
        for store in ("trainable_variables", "non_trainable_variables", "trainable_weights", "non_trainable_weights"):
            found.update((id(variable), variable) for variable in vars(layer).get(f"_{store}", ()))
        for generator in vars(layer).get("_seed_generators", ()):
            found[id(generator.state)] = generator.state
    return list(found.values())


def by_input(given: Any, reference: Any) -> list[tuple[Any, Any]] | None:
    """Each input of a model with what was given for it, in the order of the model; None if the nesting differs.

    A list or tuple of one stands for what is in it, and the other way round; a tuple stands for a list.
    """
    if isinstance(reference, list | tuple) and len(reference) == 1 and not isinstance(given, list | tuple | dict):
        given = [given]
    elif not isinstance(reference, list | tuple | dict) and isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    found: list[tuple[Any, Any]] = []
    return found if _match(given, reference, found) else None


def _match(given: Any, reference: Any, found: list[tuple[Any, Any]]) -> bool:
    if isinstance(reference, dict):
        same = isinstance(given, dict) and set(given) == set(reference)
        return same and all(_match(given[key], reference[key], found) for key in reference)
    if isinstance(reference, list | tuple):
        same = isinstance(given, list | tuple) and len(given) == len(reference)
        return same and all(_match(one, other, found) for one, other in zip(given, reference, strict=True))
    found.append((reference, given))
    return not isinstance(given, list | tuple | dict)
