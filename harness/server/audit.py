"""Audits a class: which constructor arguments does its config lose?

For each argument, a script makes an object with one value. The object is rebuilt by `from_config(get_config())`, and
through JSON. The argument is lost if it changes a fact of the object, and in the rebuilt object this fact is as if the
argument were left out. Facts that differ between two runs of the same script are ignored.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from clonediff.harness.inside.context import Context
from clonediff.harness.inside.facts import Facts as ModelFacts
from clonediff.harness.inside.frameworks import framework as framework_of
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.layers import Layers
from clonediff.harness.inside.packages import KERAS, package_of
from clonediff.harness.inside.script_module import script_module
from clonediff.harness.inside.warning_recorder import ignored_warnings
from clonediff.harness.observation import AuditedArgument, AuditedClass, Fact, is_same_fact
from clonediff.harness.server.signatures import members_named, parameters_of
from clonediff.strategies import values
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.layers import CATALOGUE

Values = Mapping[str, Sequence[str]]
"""Values by argument, as source text."""

_MAX_VALUES, _MAX_COMBINATIONS = 4, 24
"""The most values for an argument, and combinations for required arguments."""
_ANY_STRING = '"mine"'
_ANY_VALUES = ("2", "0.5", _ANY_STRING)
_COMMON_VALUES: Values = {
    "name": (_ANY_STRING,),
    "dtype": ('"float64"', 'keras.dtype_policies.DTypePolicy("mixed_bfloat16")'),
    "activity_regularizer": ('"l2"',),
    "seed": ("7",),
    **dict.fromkeys(("trainable", "autocast"), ("False",)),
    **dict.fromkeys(("stateful", "sparse", "ragged"), ("True",)),
}
_ARGUMENT_LOST_BY_LAYER = "autocast"  # not reported for subclasses, since `Layer` loses it
_SIGNATURE_ERROR = re.compile(r"required (?:positional|keyword)|nexpected keyword|nrecognized keyword")
_base_classes_of = attrgetter(
    *("layers.Layer", "losses.Loss", "metrics.Metric", "optimizers.Optimizer", "constraints.Constraint", "Model"),
    *("optimizers.schedules.LearningRateSchedule", "initializers.Initializer", "regularizers.Regularizer"),
)
"""Returns the base classes of Keras."""
_SKIPPED_MODULES = re.compile(r"_|src$|legacy$|backend$|wrappers$")
"""Modules that contain aliases of the same classes."""


def find_classes(module_or_file: str) -> tuple[str, list[str]]:
    """The generation of a module or file, and its classes with a config."""
    names: dict[Any, str] = {}
    modules = [module_or_file]
    for module in modules:
        for name, value in members_named(module):
            last = re.split("[.:]", name)[-1]
            if inspect.ismodule(value):
                if value.__name__.startswith(module + ".") and not _SKIPPED_MODULES.match(last) and name not in modules:
                    modules.append(name)
            elif isinstance(value, type) and hasattr(value, "from_config") and last == value.__name__:
                names.setdefault(value, name)
    return max(map(generation_of, names), default="keras"), list(names.values())


def generation_of(cls: Any) -> str:
    return "tf_keras" if any(base.__module__.startswith("tf_keras.") for base in cls.__mro__) else "keras"


def audit_by_name(name: str, framework: Framework) -> AuditedClass:
    ((_, cls),) = members_named(name)
    return audit_class(name, cls, {}, framework)


def audit_class(name: str, cls: Any, user_values: Values, framework: Framework | None = None) -> AuditedClass:
    """Audit a class's arguments; `user_values` has values to try first."""
    auditor = _Auditor(cls, user_values, framework or framework_of(generation_of(cls)))
    arguments, outcome = auditor.find_plain_arguments()
    if outcome.refusal:
        return AuditedClass(name, reason=f"it cannot be made, or has no config: {outcome.refusal}")
    if outcome.crash and not _SIGNATURE_ERROR.search(outcome.crash):  # the values may be invalid
        return AuditedClass(name, reason=f"no constructor arguments were found that work: {outcome.crash}")
    if outcome.lost:
        return AuditedClass(name, (AuditedArgument("", "lost", reason=outcome.lost),))
    return AuditedClass(name, tuple(auditor.audit_argument(parameter, arguments) for parameter in auditor.parameters))


class _Auditor:
    def __init__(self, cls: Any, user_values: Values, framework: Framework) -> None:
        self._cls = cls
        self._user_values = user_values
        self._round_trips = RoundTrips(framework, cls)
        self._dialect = DIALECTS[framework.generation]
        keras, base_classes = framework.keras, _base_classes_of(framework.keras)
        self.parameters = parameters_of(cls, keras, lambda base: package_of(base) in KERAS and base not in base_classes)
        # For a layer of Keras, arguments in the catalogue that no input determines.
        kind = CATALOGUE.get(cls.__name__) if vars(keras.layers).get(cls.__name__) is cls else None
        choices = kind.base_arguments if kind is not None else ()
        self._catalogue_arguments = [dict(pairs) for pairs in choices if not any("<" in text for _, text in pairs)]

    def find_plain_arguments(self) -> tuple[dict[str, str], Outcome]:
        """The fewest arguments that make and rebuild an object; their outcome."""
        pairs = []
        for arguments in self._possible_arguments():
            pairs.append((arguments, self._outcome(arguments, arguments)))
            if not pairs[-1][1].refusal and not pairs[-1][1].lost:
                return pairs[-1]
        default: tuple[dict[str, str], Outcome] = {}, Outcome(refusal="no constructor arguments were found that work")
        return min(pairs, key=lambda pair: bool(pair[1].refusal), default=default)

    def audit_argument(self, parameter: dict[str, Any], arguments: dict[str, str]) -> AuditedArgument:
        """Audit an argument: add values other than its default to `arguments`."""
        name, kept_value = parameter["name"], ""
        companion, value = values.COMPANIONS.get(name, ("", ""))
        if any(other["name"] == companion for other in self.parameters):
            arguments = {**arguments, companion: value}
        default = _literal(arguments.get(name, repr(parameter.get("default"))))
        for text in self._values(name, default):
            outcome = self._outcome(arguments, {**arguments, name: text})
            if outcome.lost:
                return AuditedArgument(name, "lost", text, outcome.lost)
            kept_value = kept_value or (text if outcome.changes else "")
        return AuditedArgument(name, "kept" if kept_value else "cannot tell", kept_value)

    def _possible_arguments(self) -> Iterator[dict[str, str]]:
        required = [parameter["name"] for parameter in self.parameters if parameter.get("required")]
        pairs = ((name, (*self._user_values.get(name, ()), *self._catalogue_values(name))) for name in required)
        choices = [texts or _serializable(values.values(name, required=True)) or _ANY_VALUES for name, texts in pairs]
        for combination in itertools.islice(itertools.product(*choices), _MAX_COMBINATIONS):
            yield dict(zip(required, combination, strict=False))
        yield from self._catalogue_arguments

    def _values(self, name: str, default: Any) -> list[str]:
        is_lost_by_layer = name == _ARGUMENT_LOST_BY_LAYER and self._cls.__name__ != "Layer"
        if name not in self._user_values and (
            is_lost_by_layer or name in values.EXCLUDED_ARGUMENTS - _COMMON_VALUES.keys()
        ):
            return []
        candidates = [*self._user_values.get(name, ())]
        if type(default) is bool:
            candidates.append(repr(not default))
        elif name in _COMMON_VALUES:
            candidates += _COMMON_VALUES[name]
        else:
            candidates += [*self._catalogue_values(name), *values.values(name, default)]
            candidates += [_ANY_STRING] if isinstance(default, str) else []
        return [text for text in dict.fromkeys(_serializable(candidates)) if _literal(text) != default][:_MAX_VALUES]

    def _catalogue_values(self, name: str) -> list[str]:
        return [arguments[name] for arguments in self._catalogue_arguments if name in arguments]

    def _outcome(self, plain_arguments: dict[str, str], arguments: dict[str, str]) -> Outcome:
        return self._round_trips.outcome(self._script(plain_arguments), self._script(arguments))

    def _script(self, arguments: dict[str, str]) -> str:
        keywords = ", ".join(f"{argument}={text}" for argument, text in arguments.items())
        text = self._dialect.translate(f"example = {self._cls.__name__}({keywords})\n")
        return self._dialect.imports_for(f"{text}keras.") + text


def _serializable(texts: Sequence[str]) -> list[str]:
    """Leave out values with definitions or lambdas, which Keras cannot deserialize."""
    return [text for text in texts if "<" not in text and "lambda" not in text]


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


# -- making and rebuilding objects

Facts = dict[str, Fact]
"""The facts of an object, by path."""

_NAME_SUFFIX = re.compile(r"(_\d+)+(?='$)")
_PRIVATE_ATTRIBUTE = re.compile(
    r"_(?!.*__)(?!(?:self_.*|tracke[dr]|auto_(?:get_)?config|call_has_context_arg|call_spec|saved_model_\w*_spec|init_\w+"
    r"|name_scope_on_declaration|functional|output_coordinates|tensor_usage_count|network_nodes|feed_inputs"
    r"|feed_input_names|feed_input_shapes)$)[^_]"
)
"""Private attributes, except those for tracking construction, calls and variables."""
_CONTAINER = re.compile(r"(list|tuple|dict) of [1-9]")


class Outcome(NamedTuple):
    """Why an object cannot be made (`refusal`) or rebuilt (`crash`), what is lost, and whether a fact changes."""

    refusal: str = ""
    crash: str = ""
    lost: str = ""
    changes: bool = False


class _Observation(NamedTuple):
    """The facts of two equal objects and two rebuilt ones, or why rebuilding fails."""

    originals: list[Facts]
    rebuilt: list[Facts]
    crash: str = ""


class RoundTrips:
    """Makes and rebuilds objects of a class. Keeps the last plain script's observation."""

    def __init__(self, framework: Framework, cls: Any) -> None:
        self._framework = framework
        self._names = {cls.__name__: cls}
        self._plain_observation = "", _Observation([], [])

    def outcome(self, plain_script: str, script: str) -> Outcome:
        """The outcome of a script; the plain script does not pass the argument."""
        try:
            if self._plain_observation[0] != plain_script:
                self._plain_observation = plain_script, self._observe(plain_script)
            observation = self._plain_observation[1] if script == plain_script else self._observe(script)
        except Exception as error:  # raised by Keras or the class
            return Outcome(refusal=_one_line(error))
        facts, rebuilt = observation.originals[0], observation.rebuilt
        changed = [path for path in facts if self._is_changed(path, observation)]
        if observation.crash:
            return Outcome(crash=observation.crash, lost=observation.crash, changes=bool(changed))
        lost = [path for path in changed if self._is_lost(path, observation)]
        lost.sort(key=lambda path: (" of " in facts[path].text, 2 * path.count("._") + path.count("["), len(path)))
        messages = [f"{path[1:]} is {rebuilt[0][path].text}, not {facts[path].text}" for path in lost[:1]]
        return Outcome(lost="".join(messages), changes=bool(changed))

    def _is_changed(self, path: str, observation: _Observation) -> bool:
        """Whether the argument changes a fact in both objects."""
        fact = observation.originals[0][path]
        unchanged = any(is_same_fact(fact, facts.get(path)) for facts in self._plain_observation[1].originals)
        return not unchanged and is_same_fact(fact, observation.originals[1].get(path))

    def _is_lost(self, path: str, observation: _Observation) -> bool:
        """Whether a fact of rebuilt objects is as if the argument were left out."""
        plain, fact = self._plain_observation[1], observation.originals[0][path]
        if any(path not in facts or is_same_fact(facts[path], fact) for facts in observation.rebuilt):
            return False
        if _CONTAINER.match(observation.rebuilt[0][path].text):  # its items are separate facts
            return False
        is_default = is_same_fact(observation.rebuilt[0][path], (*plain.rebuilt, *plain.originals)[0].get(path))
        # Without the argument, the value may be random.
        return is_default or not is_same_fact(plain.originals[0].get(path), plain.originals[1].get(path))

    def _observe(self, script: str) -> _Observation:
        def construct() -> Any:
            with script_module(script) as module:
                module.__dict__.update(self._names)
                exec(compile(script, "<class>", "exec"), module.__dict__)
                return module.example

        def rebuild_from_config() -> Any:
            return type(example).from_config(example.get_config())

        def rebuild_through_json() -> Any:
            saving, cls = self._framework.keras.saving, type(example)
            serialized = json.loads(json.dumps(saving.serialize_keras_object(example)))
            rebuilt = saving.deserialize_keras_object(serialized, custom_objects={cls.__name__: cls})
            if type(rebuilt) is not cls:
                raise TypeError(f"rebuilt as a {type(rebuilt).__name__}")
            return rebuilt

        (_, second), (example, facts) = self._make_object(construct, 1), self._make_object(construct, 0)
        try:
            rebuilt = [self._make_object(rebuild_from_config, 2), self._make_object(rebuild_through_json, 3)]
        except NotImplementedError:
            raise
        except Exception as error:  # raised by Keras or the class
            return _Observation([facts, second], [], _one_line(error))
        return _Observation([facts, second], [facts for _, facts in rebuilt])

    def _make_object(self, create: Callable[[], Any], seed: int) -> tuple[Any, Facts]:
        """Make an object with fresh name counters and a seed. Return it and its facts."""
        framework, context = self._framework, Context(self._framework, 0)
        framework.forget_names()
        framework.reseed(seed)
        example = create()
        context.private_pattern = _PRIVATE_ATTRIBUTE
        layers = Layers(example, context)
        is_layer = isinstance(example, framework.layer_class)
        variables = [*framework.weights(example)[0], *example.variables] if is_layer else []
        with ignored_warnings():
            model_facts = ModelFacts(layers, variables, context)
        paths = [""]
        for place in layers.places:
            name = f"layers[{place.layer.name!r}]" if place.role == "layers" else place.role
            paths.append(f"{paths[1 + place.holder]}.{name}")
        facts_by_path: Facts = {}
        for path, owner, facts in zip(paths, layers.model_and_layers(), model_facts.facts_by_layer, strict=False):
            facts_by_path.update((path + suffix, fact) for suffix, fact in facts.items())
            for name in ("name", "trainable"):
                if hasattr(owner, name):
                    facts_by_path[f"{path}.{name}"] = Fact(_NAME_SUFFIX.sub("", repr(getattr(owner, name))))
        return example, facts_by_path


def _one_line(error: Exception) -> str:
    """An exception in one line, without the message that Keras adds."""
    text = str(error).rpartition("Exception encountered: ")[2]
    return f"{type(error).__name__}: {' '.join(text.split())}"
