"""Draws and builds programs in the child process, which runs each line when it is drawn.

A line is refused if Keras raises, or if its result cannot be compared.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from clonediff.harness.inside.context import tidy
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.script_module import script_module
from clonediff.harness.inside.values import DEFAULT_BATCH, input_array
from clonediff.harness.inside.warning_recorder import ignored_warnings
from clonediff.harness.server.signatures import signatures, user_layers
from clonediff.strategies import build, catalogue, choices, draw
from clonediff.strategies.prepare import CLONE_ARGUMENTS
from clonediff.strategies.program import Input, Program


class GraphDrawer:
    """Draws programs from a release's catalogue, and keeps each catalogue asked for."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._catalogues: dict[str, Any] = {}

    def draw(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The graph of a `seed`, of lists of `numbers`, or of a `program`.

        `layers` names the user's layers, and `kinds` the only kinds to draw. `values` has more values to try, by
        argument. A `plain` graph has no preparations and no clone arguments.
        """
        graph = None
        if "program" in request:
            with self._module_runner() as runner, contextlib.suppress(build.Refused, build.UndefinedName, SyntaxError):
                # A reduced program may contain half an expression.
                graph = draw.rebuild(msgspec.convert(request["program"], Program), runner)
        else:
            try:
                graph = self._draw(request, runs_calls=False)
            except build.Refused:  # the model does not run: draw it again, slowly, and run each call on values
                with contextlib.suppress(build.Refused):
                    graph = self._draw(request, runs_calls=True)
        return {"graph": None if graph is None else msgspec.to_builtins(graph)}

    @contextlib.contextmanager
    def _module_runner(self, runs_calls: bool = False) -> Iterator[ModuleRunner]:
        framework = self._framework
        tidy(framework)
        framework.reseed(0)
        with ignored_warnings(), script_module("") as module, contextlib.ExitStack() as scopes:
            yield ModuleRunner(framework, module, scopes, runs_calls)

    def _draw(self, request: Mapping[str, Any], runs_calls: bool) -> Any:
        numbers = request.get("numbers")
        source = choices.from_numbers(*numbers) if numbers else choices.from_seed(int(request.get("seed", 0)))
        with self._module_runner(runs_calls=runs_calls) as runner:
            return draw.draw(source, self._catalogue(request), runner)

    def _catalogue(self, request: Mapping[str, Any]) -> Any:
        framework = self._framework
        key = repr([request.get(name) for name in ("layers", "kinds", "values", "plain")])
        if key in self._catalogues:
            return self._catalogues[key]
        all_signatures = signatures(framework)
        user_signatures = user_layers(list(request.get("layers") or ()), framework)
        more_values = {name: tuple(texts) for name, texts in (request.get("values") or {}).items()}
        generation, layers, functions = framework.generation, all_signatures["layers"], all_signatures["functions"]
        kinds = catalogue.kinds_of(layers, functions, generation, user_layers=user_signatures, more_values=more_values)
        names = request.get("kinds") or list(kinds)
        if unknown := sorted(set(names) - set(kinds)):
            problem = f"{unknown[0]!r} is not a layer or operation of this release"
            raise ValueError(f"kinds: {problem}; use a name such as Dense or ops.add")
        kinds = {name: kind for name, kind in kinds.items() if name in names}
        parameters = inspect.signature(framework.keras.models.clone_model).parameters
        missing_arguments = {"call_function", "recursive"}.difference(parameters)
        unsupported = frozenset(text for text in CLONE_ARGUMENTS if missing_arguments.intersection(text.split()))
        prepares, objects = not request.get("plain"), all_signatures["objects"]
        self._catalogues[key] = draw.Catalogue(generation, kinds, objects, prepares, unsupported)
        return self._catalogues[key]


@contextlib.contextmanager
def _raise_refused() -> Iterator[None]:
    try:
        yield
    except build.Refused:
        raise
    except Exception as error:
        raise build.Refused(f"{type(error).__name__}: {error}") from error


class ModuleRunner:
    """Runs a script's lines in a module; with `runs_calls`, also each call on values."""

    def __init__(self, framework: Framework, module: Any, scopes: Any, runs_calls: bool = False) -> None:
        self._scopes = scopes
        self._framework = framework
        self._names: dict[str, Any] = module.__dict__
        self._values: dict[str, Any] = {}
        self._runs_calls = runs_calls
        self._line_count = 0

    def run(self, text: str) -> None:
        name = f"<line {self._line_count}>"
        self._line_count += 1
        if "\n" in text.rstrip("\n"):
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        code = compile(text, name, "exec")
        with _raise_refused():
            exec(code, self._names)

    def enter(self, scope: str) -> None:
        with _raise_refused():
            self._scopes.enter_context(eval(scope, self._names))

    def add_input(self, name: str, spec: Input, tensor: str = "") -> Any:
        """Add an input with the values of `tensor`; without one, draw them as in a trial."""
        if tensor and self._runs_calls:
            self._values[name] = eval(tensor, {}, self._values)
        else:
            array = input_array(msgspec.to_builtins(spec), DEFAULT_BATCH, np.random.default_rng(0))
            with _raise_refused():  # some backends have no strings
                self._values[name] = self._framework.tensors.tensor(array)
        return self._output(name, self._names[name])

    def evaluate(self, text: str) -> None:
        self._run_on_values(compile(text, "<line>", "eval"))

    def _run_on_values(self, code: Any) -> Any:
        with _raise_refused():
            return eval(code, {**self._names, **self._values})

    def _output(self, text: str, tensor: Any) -> Any:
        framework = self._framework
        with _raise_refused():  # `tensor` may be another object
            shape = framework.shape(tensor)
            if not shape or shape[0] is not None or 0 in shape:
                raise build.Refused(f"the output has the shape {shape}, which is empty or has no batch dimension")
            sizes = tuple(None if size is None else int(size) for size in shape[1:])
            return build.Output(text, sizes, framework.dtype(tensor), framework.has_mask(tensor))

    def call(self, name: str, text: str) -> list[Any]:
        code = compile(text, "<line>", "eval")
        outputs = []
        with _raise_refused():
            result = eval(code, self._names)
            for suffix, tensor in _flatten(result):
                if any(tensor is value for value in self._names.values()):
                    raise build.Refused("the output is one of the inputs")
                outputs.append(self._output(name + suffix, tensor))
                layer: Any = getattr(tensor, "_keras_history", (None,))[0]
                if type(layer).__module__ == "__main__" and not hasattr(layer, "fit"):
                    layer.get_config()  # raises for classes that must override it
        if self._runs_calls:
            self._values[name] = self._run_on_values(code)
        self._names[name] = result
        return outputs


def _flatten(value: Any, suffix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the tensors in a result, each with its index expression."""
    if isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _flatten(item, f"{suffix}[{number}]")
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _flatten(value[key], f'{suffix}["{key}"]')
    else:
        yield suffix, value
