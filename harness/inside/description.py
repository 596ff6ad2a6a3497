"""Describes the static structure of a model: layers, calls, endpoints, variables."""

from __future__ import annotations

from typing import Any

from clonediff.harness.inside.canonical import class_digest, short_text
from clonediff.harness.inside.configs import compile_texts
from clonediff.harness.inside.context import Context
from clonediff.harness.inside.facts import Facts
from clonediff.harness.inside.layers import Layers, is_custom_class
from clonediff.harness.inside.structure import skeleton
from clonediff.harness.observation import Endpoint, Structure, Variable


class Description:
    """A model's `Structure`, with its layers, variables and initial values."""

    def __init__(self, model: Any, context: Context, reads_values: bool = True) -> None:
        framework, digest = context.framework, context.digests.digest
        self._context = context
        self.model = model
        self.values: Any = None
        """The values that variables get before each run; `Original` sets them."""
        self.layers = Layers(model, context)
        self.weights, trainable = framework.weights(model)
        states = framework.states(model)
        records = self.layers.describe()
        ids = {id(weight) for weight in self.weights}
        call_variables = [item for key, item in self.layers.variables.items() if key not in ids]
        self.states = list({id(state): state for state in [*(state for state, _ in states), *call_variables]}.values())
        # A second description of the same model needs no initial values.
        self.initial_weights = [framework.read(weight) for weight in self.weights] if reads_values else []
        self.initial_states = [framework.read(state) for state in self.states] if reads_values else []
        owners: dict[int, int] = {}
        for number, place in enumerate(self.layers.places):
            for variable in framework.own_variables(place.layer) if place.first_number == number else ():
                owners.setdefault(id(variable), number)
        random_states = {id(state) for state, is_random in states if is_random}
        inputs, outputs = ends = framework.endpoints(model)
        numbers = {id(tensor): number for side in ends for number, tensor in enumerate(side)}
        structures = [skeleton(side, lambda leaf: numbers.get(id(leaf))) for side in framework.structures(model)]
        compiled = framework.compile_config(model)
        digests = {
            id(state): digest(value)
            for state, value in zip(self.states, self.initial_states, strict=False)
            if not context.ignores_values and id(state) not in random_states
        }
        self.structure = Structure(
            kind=type(model).__name__,
            name=str(model.name),
            trainable=bool(getattr(model, "trainable", False)),
            input_structure=structures[0],
            output_structure=structures[1],
            inputs=tuple(map(self._endpoint, inputs)),
            outputs=tuple(map(self._endpoint, outputs)),
            layers=tuple(records),
            weights=tuple(self._variable(weight, owners, id(weight) in trainable) for weight in self.weights),
            states=tuple(self._variable(state, owners, False, digests.get(id(state), "")) for state in self.states),
            compiled=None if compiled is None else compile_texts(compiled),
            is_custom=is_custom_class(type(model)),
            code=class_digest(type(model)),
        )

    def set_facts(self, original: Description | None = None, facts: Facts | None = None) -> None:
        """Put `facts`, or else the model's, into the structure."""
        original_facts = None if original is None else original.facts
        self.facts: Facts = facts or Facts(self.layers, [*self.weights, *self.states], self._context, original_facts)
        for attributes, facts_of_layer in zip(self.structure.facts, self.facts.facts_by_layer, strict=False):
            attributes.clear()
            attributes.update(facts_of_layer)

    def shared_objects(self, clone: Description) -> list[Any]:
        original, copies = ([*part.layers.model_and_layers(), *part.weights, *part.states] for part in (self, clone))
        ids = {id(item) for item in original}
        return [item for item in copies if id(item) in ids]

    def _variable(self, variable: Any, owners: dict[int, int], trainable: bool, digest: str = "") -> Variable:
        framework = self._context.framework
        name, short_name = framework.names(variable)
        settings = [getattr(variable, setting, None) for setting in ("constraint", "regularizer")]
        distribution = [str(getattr(variable, setting, "")) for setting in ("aggregation", "synchronization")]
        return Variable(
            name=name,
            owner=owners.get(id(variable), -1),
            shape=tuple(-1 if size is None else int(size) for size in variable.shape),
            dtype=framework.dtype(variable),
            trainable=trainable,
            ident=self._context.ident(variable),
            value=digest,
            short_name=short_name,
            constraint=" ".join([short_text(settings), *distribution, class_digest(type(variable))]),
            trainable_flag=bool(getattr(variable, "trainable", trainable)),
        )

    def _endpoint(self, tensor: Any) -> Endpoint:
        framework = self._context.framework
        place = self.layers.tensor_place(tensor)
        layer = self.layers.places[place[0]].layer if place else framework.origin(tensor)[0]
        name, shape = str(getattr(layer, "name", "")), framework.shape(tensor)
        optional = bool(getattr(layer, "optional", False))
        return Endpoint(name, shape, framework.dtype(tensor), place or (-1, -1, -1), optional)
