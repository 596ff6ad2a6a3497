"""Programs drawn and built beside Keras: each line runs at once, on symbolic tensors.

A line is refused where Keras raises, and where it gives what no model can be compared by. A fault of ours, such as a
drawn line that is no Python, ends the draw.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.observer import tidy
from clonediff.harness.inside.script_module import script_module
from clonediff.harness.inside.values import DEFAULT_BATCH, input_array
from clonediff.harness.inside.warning_recorder import silenced
from clonediff.harness.server.signatures import other_layers, signatures
from clonediff.strategies import build, choices, draw, of_release
from clonediff.strategies.prepare import CLONE_ARGUMENTS
from clonediff.strategies.program import Input, Program


class Drawer:
    """Draws programs of what a release has, which is read once."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._catalogues: dict[str, Any] = {}

    def draw(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The graph of a `seed`, of `numbers`, a list for the frame and one for each instruction, or of a `program`.

        `layers` names those of the user, `kinds` the only kinds to draw, `values` has further ones by argument; of a
        `plain` one nothing is prepared or cloned with arguments.
        """
        graph = None
        if "program" in request:
            with self._keras(runs=False) as keras, contextlib.suppress(build.Refused, build.Undefined, SyntaxError):
                # One that was made smaller may lack half of a text.
                graph = draw.rebuild(msgspec.convert(request["program"], Program), keras)
        else:
            try:
                graph = self._drawn(request, each=False)
            except build.Refused:  # to run each call takes a while: it is done where the model as a whole does not run
                with contextlib.suppress(build.Refused):
                    graph = self._drawn(request, each=True)
        return {"graph": None if graph is None else msgspec.to_builtins(graph)}

    @contextlib.contextmanager
    def _keras(self, **options: bool) -> Iterator[BesideKeras]:
        framework = self._framework
        tidy(framework)
        framework.reseed(0)
        with silenced(), script_module("") as module, contextlib.ExitStack() as scopes:
            yield BesideKeras(framework, module, scopes, **options)

    def _drawn(self, request: Mapping[str, Any], each: bool) -> Any:
        numbers = request.get("numbers")
        source = choices.of_numbers(*numbers) if numbers else choices.of_seed(int(request.get("seed", 0)))
        with self._keras(runs_each=each) as keras:
            return draw.draw(source, self._catalogue(request), keras)

    def _catalogue(self, request: Mapping[str, Any]) -> Any:
        framework, key = self._framework, repr([request.get(name) for name in ("layers", "kinds", "values", "plain")])
        if key in self._catalogues:
            return self._catalogues[key]
        has = signatures(framework)
        own = other_layers(list(request.get("layers") or ()), framework)
        further = {name: tuple(texts) for name, texts in (request.get("values") or {}).items()}
        kinds = of_release.kinds_of(has["layers"], has["functions"], framework.generation, own=own, further=further)
        chosen = request.get("kinds") or list(kinds)
        if unknown := sorted(set(chosen) - set(kinds)):
            raise ValueError(f"kinds: {unknown[0]!r} is no layer or operation of this release")
        kinds = {name: kind for name, kind in kinds.items() if name in chosen}
        takes = inspect.signature(framework.keras.models.clone_model).parameters
        wants = {"call_function", "recursive"}.difference(takes)
        missing = frozenset(recipe for recipe in CLONE_ARGUMENTS if wants.intersection(recipe.split()))
        catalogue = draw.Catalogue(framework.generation, kinds, has["objects"], not request.get("plain"), missing)
        self._catalogues[key] = catalogue
        return catalogue


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except build.Refused:
        raise
    except Exception as error:
        raise build.Refused(f"{type(error).__name__}: {error}") from error


class BesideKeras:
    """The module of a script in the making: a model runs on numbers, if `runs`, and each call, if `runs_each`."""

    def __init__(
        self, framework: Framework, module: Any, scopes: Any, runs: bool = True, runs_each: bool = False
    ) -> None:
        self._scopes = scopes
        self._framework = framework
        self._names: dict[str, Any] = module.__dict__
        self._numbers: dict[str, Any] = {}
        self._runs, self._runs_each = runs, runs_each
        self._count = 0

    def run(self, text: str) -> None:
        name = f"<proposal {self._count}>"
        self._count += 1
        if "\n" in text.rstrip("\n"):
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        code = compile(text, name, "exec")
        with _refusals():
            exec(code, self._names)

    def enter(self, scope: str) -> None:
        with _refusals():
            self._scopes.enter_context(eval(scope, self._names))

    def take(self, word: str, spec: Input, like: str = "") -> Any:
        """An input, with numbers as a trial gives it, or those of the tensor of which a model in a model has a copy."""
        if like and self._runs_each:
            self._numbers[word] = eval(like, {}, self._numbers)
        elif self._runs:
            array = input_array(msgspec.to_builtins(spec), DEFAULT_BATCH, np.random.default_rng(0))
            with _refusals():  # some backends have no strings
                self._numbers[word] = self._framework.tensors.tensor(array)
        return self._output(word, self._names[word])

    def test(self, text: str) -> None:
        if self._runs:
            self._on_numbers(compile(text, "<proposal>", "eval"))

    def _on_numbers(self, code: Any) -> Any:
        with _refusals():
            return eval(code, {**self._names, **self._numbers})

    def _output(self, word: str, tensor: Any) -> Any:
        framework = self._framework
        with _refusals():  # it may be no tensor
            shape = framework.shape(tensor)
            if not shape or shape[0] is not None or 0 in shape:
                raise build.Refused(f"it gives a tensor of shape {shape}, without the batch or empty")
            sizes = tuple(None if size is None else int(size) for size in shape[1:])
            return build.Output(word, sizes, framework.dtype(tensor), framework.has_mask(tensor))

    def call(self, word: str, text: str) -> list[Any]:
        code = compile(text, "<proposal>", "eval")
        outputs = []
        with _refusals():
            result = eval(code, self._names)
            for suffix, tensor in _flat(result):
                if any(tensor is value for value in self._names.values()):
                    raise build.Refused("it gives back a tensor that it takes")
                outputs.append(self._output(word + suffix, tensor))
                maker: Any = getattr(tensor, "_keras_history", (None,))[0]
                if type(maker).__module__ == "__main__" and not hasattr(maker, "fit"):
                    maker.get_config()  # Keras says of some custom classes that they have to have one of their own
        if self._runs_each:
            self._numbers[word] = self._on_numbers(code)
        self._names[word] = result
        return outputs


def _flat(value: Any, suffix: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors in what a call gives, each with the text that leads to it."""
    if isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _flat(item, f"{suffix}[{number}]")
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _flat(value[key], f'{suffix}["{key}"]')
    else:
        yield suffix, value
