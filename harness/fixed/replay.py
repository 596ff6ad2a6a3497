"""Makes the calls of a model again: on other tensors, of other layers, or by another function.

What `clone_function` is not asked about is copied. The calls are made in the order in which their user may have made
them, so that a layer that is called several times is built by the call that built the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .copier import Copier


class Replay:
    """Makes the calls of one model again. A subclass knows one Keras."""

    LAYER: Any = ()
    INPUT_LAYER: Any = ()
    SEQUENTIAL: Any = ()
    FUNCTIONAL: Any = ()
    VARIABLE: Any = ()
    TENSOR: Any = ()

    def __init__(
        self,
        copier: Copier,
        clone_function: Callable[[Any], Any] | None = None,
        call_function: Callable[..., Any] | None = None,
        recursive: bool = False,
        cache: dict[int, Any] | None = None,
    ) -> None:
        self.copier = copier
        self.memo = copier.memo
        self.clone_function = clone_function
        self.call_function = call_function
        self.recursive = recursive
        self.cache = {} if cache is None else cache
        self.memo.update(self.cache)
        self.called: set[int] = set()
        self.owners: dict[int, tuple[Any, int]] = {}
        """The layer that takes the place of the owner of each variable, and the number of the variable there."""

    # What a subclass says.

    def calls(self, graph: Any) -> list[Any]:
        """The calls of a graph, but for those of input layers."""
        raise NotImplementedError

    def operation(self, call: Any) -> Any:
        raise NotImplementedError

    def arguments(self, call: Any) -> tuple[Any, dict[str, Any]]:
        """What a call was given, by position and by name."""
        raise NotImplementedError

    def outputs(self, call: Any) -> list[Any]:
        raise NotImplementedError

    def leaves(self, structure: Any) -> list[Any]:
        raise NotImplementedError

    def map(self, function: Callable[[Any], Any], structure: Any) -> Any:
        raise NotImplementedError

    def inputs(self, graph: Any) -> list[Any]:
        """The tensors of the input layers of a graph."""
        raise NotImplementedError

    def begin(self) -> None:
        """Give the variables that were copied the values with which they begin."""
        raise NotImplementedError

    def unbuilt(self, layer: Any) -> Any:
        """A copy of a layer that is not built."""
        raise NotImplementedError

    def put_together(self, model: Any, new: Any) -> None:
        """Make a graph, or a list of layers, of what took the place of that of a model."""
        raise NotImplementedError

    def is_alike(self, call: Any, arguments: Any) -> bool:
        """Whether a call gets tensors of the shapes and dtypes that the original got."""
        tensors = [leaf for leaf in self.leaves(self.arguments(call)) if isinstance(leaf, self.TENSOR)]
        others = [leaf for leaf in self.leaves(arguments) if isinstance(leaf, self.TENSOR)]
        return [self.described(tensor) for tensor in tensors] == [self.described(tensor) for tensor in others]

    def described(self, tensor: Any) -> Any:
        return tuple(tensor.shape[1:]), tensor.dtype

    # The clone.

    def clone(self, model: Any) -> Any:
        graphs = list(self.graphs(model))
        for graph in graphs:
            cls: Any = type(graph)
            self.memo[id(graph)] = cls.__new__(cls)
        if self.clone_function is not None:
            self.ask(model)
        operations = [operation for graph in graphs for operation in self.operations(graph)]
        calls = [call for graph in graphs for call in self.calls(graph)]
        constants = [leaf for call in calls for leaf in self.leaves(self.arguments(call)) if self.is_copied(leaf)]
        inputs = [tensor for graph in graphs for tensor in self.inputs(graph)]
        self.copier.copy(*operations, *constants, *inputs)
        self.begin()
        for graph in reversed(graphs):
            self.make(graph)
        return self.memo[id(model)]

    def graphs(self, model: Any) -> Iterator[Any]:
        """The models whose calls are made again, each before those within it."""
        yield model
        if self.recursive:
            for operation in self.operations(model):
                if isinstance(operation, (self.SEQUENTIAL, self.FUNCTIONAL)) and id(operation) not in self.memo:
                    yield from self.graphs(operation)

    def operations(self, graph: Any) -> list[Any]:
        raise NotImplementedError

    def ask(self, model: Any) -> None:
        """Ask `clone_function` for what takes the place of each layer, once for each."""
        for layer in self.operations(model):
            if isinstance(layer, self.INPUT_LAYER) or not isinstance(layer, self.LAYER):
                continue
            if self.recursive and isinstance(layer, (self.SEQUENTIAL, self.FUNCTIONAL)):
                self.ask(layer)
            elif id(layer) not in self.memo:
                assert self.clone_function is not None
                answer = self.clone_function(layer)
                if not isinstance(answer, self.LAYER) or isinstance(answer, self.INPUT_LAYER):
                    raise ValueError(
                        f"`clone_function` gave {answer!r} for the layer '{layer.name}' (of type "
                        f"'{type(layer).__name__}'). It must give the layer to use in its place: a layer or model, and "
                        "no InputLayer."
                    )
                self.remember(layer, answer)

    def remember(self, layer: Any, new: Any) -> None:
        self.memo[id(layer)] = self.cache[id(layer)] = new
        for number, variable in enumerate(self.variables(layer)):
            self.owners.setdefault(id(variable), (layer, number))

    def variables(self, layer: Any) -> list[Any]:
        return list(layer.variables)

    def is_copied(self, leaf: Any) -> bool:
        """Whether an argument of a call is copied: tensors are made by the calls, and some variables by new layers."""
        return not isinstance(leaf, self.TENSOR) and id(leaf) not in self.owners

    def make(self, graph: Any) -> None:
        """Make the calls of a graph again, and a model of what they give."""
        if not isinstance(graph, self.SEQUENTIAL):
            for call in self.in_order(self.calls(graph)):
                self.call(call)
        self.put_together(graph, self.memo[id(graph)])

    def call(self, call: Any) -> None:
        operation = self.operation(call)
        args, kwargs = (self.map(self.of, part) for part in self.arguments(call))
        new = self.memo[id(operation)]
        is_first = id(operation) not in self.called and id(operation) not in self.cache
        self.called.add(id(operation))
        if is_first and isinstance(operation, self.LAYER) and not self.is_alike(call, (args, kwargs)):
            new = self.memo[id(operation)] = self.unbuilt(operation)
        if self.call_function is not None and isinstance(new, self.LAYER):
            outputs, caller = self.call_function(new, *args, **kwargs), "`call_function`"
        else:
            outputs, caller = self.called_on(call, new, args, kwargs), str(new)
        outputs = self.leaves(outputs)
        originals = self.outputs(call)
        for output in outputs:
            if not isinstance(output, self.TENSOR):
                raise ValueError(
                    f"{caller} gave {output!r} for the call of '{operation.name}', where tensors are to be given."
                )
        if len(outputs) != len(originals):
            raise ValueError(
                f"{caller} gave {len(outputs)} tensors for the call of '{operation.name}', where the original gave "
                f"{len(originals)}: their number must stay."
            )
        for original, output in zip(originals, outputs, strict=True):
            self.memo[id(original)] = output
        if isinstance(operation, self.LAYER) and new is not operation and type(new) is type(operation):
            self.refuse_other_weights(operation, new)

    def called_on(self, call: Any, operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return operation(*args, **kwargs)

    def refuse_other_weights(self, layer: Any, new: Any) -> None:
        weights, others = len(self.variables(layer)), len(self.variables(new))
        if id(layer) not in self.cache and weights != others:
            raise ValueError(
                f"clone_model: the clone of the layer '{layer.name}' (class `{type(layer).__name__}`) has {others} "
                f"weights where it has {weights}: on other inputs it makes others. Give a `clone_function` for it."
            )

    def of(self, leaf: Any) -> Any:
        """What takes the place of an argument of a call."""
        if id(leaf) in self.owners and id(leaf) not in self.memo:
            layer, number = self.owners[id(leaf)]
            new = self.memo[id(layer)]
            variables = self.variables(new)
            if number >= len(variables) or tuple(variables[number].shape) != tuple(leaf.shape):
                raise ValueError(
                    f"A call takes the variable '{leaf.name}' of the layer '{layer.name}', and what `clone_function` "
                    f"gave for that layer, {new}, has no such variable."
                )
            return variables[number]
        return self.copier.of(leaf)

    def in_order(self, calls: list[Any]) -> list[Any]:
        """The calls, each after those that made what it takes, and after the calls of its layer that came before."""
        makers = {id(tensor): call for call in calls for tensor in self.outputs(call)}
        numbered: dict[int, list[Any]] = {}
        wanted = {id(call) for call in calls}
        for operation in {id(each): each for each in map(self.operation, calls)}.values():
            numbered[id(operation)] = [call for call in operation._inbound_nodes if id(call) in wanted]
        done: set[int] = set()

        def comes_after(call: Any) -> list[Any]:
            leaves = self.leaves(self.arguments(call))
            needed = [makers[id(leaf)] for leaf in leaves if id(leaf) in makers]
            for leaf in leaves:
                if id(leaf) in self.owners:
                    needed += numbered.get(id(self.owners[id(leaf)][0]), [])[:1]
            return needed

        def previous(call: Any) -> list[Any]:
            earlier = numbered[id(self.operation(call))]
            return earlier[: next(place for place, other in enumerate(earlier) if other is call)]

        def is_done(others: Iterable[Any]) -> bool:
            return all(id(other) in done for other in others)

        order: list[Any] = []
        waiting = calls
        while waiting:
            left = []
            for call in waiting:
                if is_done(comes_after(call)) and is_done(previous(call)):
                    order.append(call)
                    done.add(id(call))
                else:
                    left.append(call)
            if len(left) == len(waiting):  # a model on what layers made may call them in another order
                call = next(call for call in left if is_done(comes_after(call)))
                order.append(call)
                done.add(id(call))
                left = [other for other in left if other is not call]
            waiting = left
        return order


def by_input(given: Any, reference: Any) -> list[tuple[Any, Any]] | None:
    """Each input of a model with what was given for it, in the order of the model; None if the nesting differs.

    A list or tuple of one stands for what is in it, and the other way round; a tuple stands for a list.
    """
    if isinstance(reference, list | tuple) and len(reference) == 1 and not isinstance(given, list | tuple | dict):
        given = [given]
    elif not isinstance(reference, list | tuple | dict) and isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    if isinstance(reference, dict):
        if not isinstance(given, dict) or set(given) != set(reference):
            return None
        pairs = [(given[key], reference[key]) for key in reference]
    elif isinstance(reference, list | tuple):
        if not isinstance(given, list | tuple) or len(given) != len(reference):
            return None
        pairs = list(zip(given, reference, strict=True))
    else:
        return None if isinstance(given, list | tuple | dict) else [(reference, given)]
    found = [_same_nesting(*pair) for pair in pairs]
    return None if None in found else [pair for part in found if part for pair in part]


def _same_nesting(given: Any, reference: Any) -> list[tuple[Any, Any]] | None:
    one = isinstance(reference, list | tuple) != isinstance(given, list | tuple)
    return None if one else by_input(given, reference)


def copy_values(
    model: Any, clone: Any, variables: list[Any], others: list[Any], assign: Callable[[Any, Any], None]
) -> None:
    """Give the variables of a clone, and of its optimizer, the values of those of a model.

    Raises `ValueError` where the clone has other weights, as it may on other inputs, or trains others of them.
    """
    if len(variables) != len(others):
        advice = "call the clone once, and set its weights" if not others else "clone without, and copy what you want"
        raise ValueError(
            f"clone_model: weights=True: the model has {len(variables)} weights and states, its clone has "
            f"{len(others)}: {advice}"
        )
    for variable, other in zip(variables, others, strict=True):
        if tuple(variable.shape) != tuple(other.shape):
            raise ValueError(
                f"clone_model: weights=True: the weight {getattr(variable, 'path', variable.name)} has shape "
                f"{tuple(variable.shape)}, that of the clone has {tuple(other.shape)}: clone without, and copy those "
                "that fit"
            )
    for variable, other in zip(variables, others, strict=True):
        assign(other, variable)
    optimizer, new = getattr(model, "optimizer", None), getattr(clone, "optimizer", None)
    if optimizer is None or new is None:
        return
    numbers = {id(variable): number for number, variable in enumerate(variables)}
    trained, trains = (
        [where.get(id(variable)) for variable in getattr(one, "inner_optimizer", one)._trainable_variables]
        for one, where in ((optimizer, numbers), (new, {id(other): number for number, other in enumerate(others)}))
    )
    if trained != trains:
        raise ValueError(
            "clone_model: weights=True: the optimizer of the clone trains other weights than that of the model: "
            "clone without, and compile the clone"
        )
    for variable, other in zip(optimizer.variables, new.variables, strict=True):
        assign(other, variable)


class rolled_back:  # noqa: N801
    """If an exception is raised, operations forget the calls that were made since."""

    def __init__(self, operations: Iterable[Any]) -> None:
        self.counts = [(each, len(each._inbound_nodes), len(each._outbound_nodes)) for each in operations]

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            for operation, inbound, outbound in self.counts:
                del operation._inbound_nodes[inbound:]
                del operation._outbound_nodes[outbound:]
