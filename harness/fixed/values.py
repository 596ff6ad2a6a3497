"""Gives the variables of a clone their values: those with which a new model begins, or those of the original."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

from .copier import Copier
from .places import Place, matched, value_of, variables_under
from .walk import Plan

FOLLOWED = (
    *("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names", "_self_update_uid"),
    *("_self_unconditional_deferred_dependencies", "_self_name_based_restores", "_self_saveable_object_factories"),
)
"""Where TensorFlow lists the attributes of an object that it follows."""


class Unbuilt(Copier):
    """Copies a layer as it is before it is built: without variables and calls. A subclass knows one Keras."""

    OF_GRAPHS: tuple[tuple[Any, str], ...] = ()
    NOT_BUILT: tuple[tuple[Any, str, Any], ...] = ()
    """What an object has before it is built, where it has the attribute at all."""
    STORES: tuple[str, ...] = ()
    """The attributes in which a layer lists its variables."""

    def new(self, thing: Any) -> Any:
        return None if isinstance(thing, self.VARIABLE) else super().new(thing)

    def copy(self, *roots: Any) -> None:
        super().copy(*roots)
        for _, part in self.pairs(tuple({cls for cls, _, _ in self.NOT_BUILT})):
            own = vars(part)
            own.update((name, value) for cls, name, value in self.NOT_BUILT if isinstance(part, cls) and name in own)
            for store in self.STORES:
                own.get(store, [])[:] = [variable for variable in own.get(store, ()) if variable is not None]
            specs = own.get("_input_spec")
            for spec in specs if isinstance(specs, list | tuple) else [specs]:
                if hasattr(spec, "axes"):  # they are those of the inputs for which it is built
                    spec.shape, spec.axes = None, {}


class Values:
    """Gives the variables that were copied last their values. A subclass knows one Keras."""

    LAYER: Any = ()
    METRIC: Any = ()
    OPTIMIZER: Any = ()
    DRAWING: Any = ()
    """What draws numbers, and goes on drawing while layers are built."""
    LEADING: Any = (list, tuple, dict)
    """What may lead to variables of a layer, unless it has one of these names."""
    NOT_LEADING: tuple[str, ...] = ()
    UNBUILT: Any = None
    """Copies a layer as it is before it is built."""
    DEFAULT_BUILDS: tuple[Any, ...] = ()
    SCOPE: Any = None
    """A scope in which custom objects are found by name."""

    def __init__(self, copier: Copier) -> None:
        self.copier = copier
        self.plans: dict[type, Plan] = {}
        """Of all layers that are built anew."""
        pairs = copier.pairs(copier.VARIABLE)
        self.left = {id(variable): (variable, new) for variable, new in pairs if value_of(variable) is not None}
        self.drawing = {id(thing): new for thing, new in copier.pairs(self.DRAWING)}

    # What a subclass says.

    def give(self, variable: Any, other: Any) -> None:
        """Give the clone of a variable the value of another variable, which is not used any more, or its own value."""
        raise NotImplementedError

    def build(self, layer: Any, twin: Any) -> None:
        """Build a layer as another was."""
        raise NotImplementedError

    def begin_generators(self) -> None:
        raise NotImplementedError

    def begin_optimizer(self, optimizer: Any) -> None:
        raise NotImplementedError

    def own(self, layer: Any) -> list[Any]:
        """The variables of a layer itself."""
        return [variable for store in self.UNBUILT.STORES for variable in getattr(layer, store, ())]

    def is_given(self, variable: Any) -> bool:
        """Whether no layer has made a variable: one was given it, and it keeps its value."""
        return False

    def scope(self, variable: Any) -> Any:
        """A scope in which variables like this are made."""
        return contextlib.nullcontext()

    # The values.

    def places(self, thing: Any) -> dict[Place, Any]:
        """The variables of a layer, and of those within it, by where they are."""
        return variables_under(thing, self.copier.VARIABLE, self.LEADING, self.NOT_LEADING)

    def copy(self) -> None:
        """Give each variable the value of its original."""
        for variable, _ in list(self.left.values()):
            self.give(variable, variable)

    def run(self, weights: bool) -> None:
        """Give all variables their values, without a word: what Keras has to say, it said where the model was made."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.copy() if weights else self.begin()

    def begin(self) -> None:
        """Give each variable the value with which it begins; that of one that belongs to no layer is kept."""
        self.begin_generators()
        metrics = self.copier.pairs(self.METRIC)
        for variable in [variable for metric, _ in metrics for variable in self.places(metric).values()]:
            if id(variable) in self.left:
                self.give(variable, variable)
        for _, metric in metrics:
            metric.reset_state()
        if id(self.copier.root) in self.copier.fresh:
            self._begin_layer(self.copier.root)
        for layer, _ in self.copier.pairs(self.LAYER):
            self._begin_layer(layer)
        for optimizer, _ in self.copier.pairs(self.OPTIMIZER):
            self.begin_optimizer(optimizer)
        self.copy()

    def _begin_layer(self, layer: Any) -> None:
        """Give the weights of a layer, and of those within it, the values that they have when it is built anew."""
        parts = layer._flatten_layers() if isinstance(layer, self.LAYER) else ()
        if not any(id(variable) in self.left for part in parts for variable in self.own(part)):
            return
        error = None if type(layer).build in self.DEFAULT_BUILDS else self._try(layer, self._built)
        for part in layer._flatten_layers(recursive=False, include_self=False):
            self._begin_layer(part)
        for make in (self._constructed, self._from_config):
            if any(id(variable) in self.left for variable in self.own(layer)):
                error = self._try(layer, make) or error
        for variable in self.own(layer):
            path = getattr(variable, "path", variable.name)
            if id(variable) in self.left and not self.is_given(variable):
                raise ValueError(
                    f"clone_model: nobody knows how the weight '{path}' of the layer '{layer.name}' (class "
                    f"`{type(layer).__name__}`) begins: neither its `build` nor its config makes it"
                    f"{f' ({type(error).__name__}: {error})' if error else ''}. Make it in `build`, or copy its value "
                    "with `weights=True`."
                ) from error

    def _try(self, layer: Any, make: Callable[[Any], Any]) -> Exception | None:
        """Take over the values of the variables of a layer that `make` makes anew; the error, if it fails."""
        missing = {place: variable for place, variable in self.places(layer).items() if id(variable) in self.left}
        if not missing:
            return None
        with self.scope(next(iter(missing.values()))):
            try:
                twin = make(layer)
            except Exception as error:
                return error
        for key, other in matched(missing, self.places(twin)).items():
            self.give(self.left[key][0], other)
        return None

    def unbuilt(self, thing: Any) -> Any:
        """A copy of a layer, or of an optimizer, as it is before it is built."""
        copier = self.UNBUILT(thing)
        copier.plans = self.plans
        copier.memo.update(self.drawing)
        copier.copy()
        return copier.memo[id(thing)]

    def refuse_unknown(self, optimizer: Any, variables: int, known: int) -> None:
        """Refuse an optimizer whose variables nobody makes again."""
        if variables != known:
            raise ValueError(
                f"clone_model: nobody knows how the variables of the optimizer `{type(optimizer).__name__}` begin: "
                f"what makes it anew makes {known} of {variables}. Make them in its `build`, or copy their values with "
                "`weights=True`."
            )

    def _built(self, layer: Any) -> Any:
        """A copy of a layer that is not built, which is built as the layer was."""
        twin = self.unbuilt(layer)
        self.build(layer, twin)
        return twin

    def _constructed(self, layer: Any) -> Any:
        """What the constructor makes of the plain values that it was given, where Keras has recorded these."""
        twin = type(layer)(**layer._auto_config.config)
        self.build(layer, twin)
        return twin

    def _from_config(self, layer: Any) -> Any:
        """The layer that its config makes, built as the layer was."""
        parts = [*vars(layer).values(), *map(type, vars(layer).values())]
        named = {part.__name__: part for part in parts if hasattr(part, "__name__") and callable(part)}
        named.pop("<lambda>", None)
        with self.SCOPE(named):
            twin = type(layer).from_config(layer.get_config())
        if not twin.built:
            self.build(layer, twin)
        return twin
