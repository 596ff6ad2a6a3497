"""Mutants, and the two modes in which the harness compares a mutant."""

from __future__ import annotations

import functools
import linecache
import random
import sys
import types
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from clonediff import clone_model
from clonediff.harness.answers.in_process import clone_live
from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.trial import run_trial
from clonediff.harness.observation import Case, Request
from clonediff.harness.trials.checks import compare
from tests.mutants.models import MODELS
from tests.mutants.operators import OPERATORS, changes, is_user_defined, scenes
from tests.mutants.walk import SCRIPTS


class ImpossibleChange(Exception):
    """The change cannot be made."""


class Mutant(NamedTuple):
    """One change of a clone, or of its original during cloning."""

    model: str
    operator: str
    key: str
    number: int

    def __str__(self) -> str:
        return f"{self.model}:{self.operator}:{self.number}  {self.key}"

    @property
    def changes_original(self) -> bool:
        """Whether the mutant changes the original."""
        return self.operator.startswith("original")

    def change(self, model: Any, clone: Any) -> None:
        """Make the change; raise ImpossibleChange if it fails."""
        try:
            changes(self.operator, scenes(model, clone)[self.changes_original])[self.key]()
        except Exception as error:
            raise ImpossibleChange(self.key) from error


class Cloner:
    """A faithful cloner that makes one change in its first call."""

    def __init__(self, mutant: Mutant | None = None) -> None:
        self.mutant, self.has_failed = mutant, False

    def __call__(self, model: Any) -> Any:
        clone, mutant, self.mutant = clone_model(model), self.mutant, None
        try:
            if mutant is not None:
                mutant.change(model, clone)
        except ImpossibleChange:
            self.has_failed = True
        return clone


def differences_of_source(name: str, cloner: Cloner) -> list[str]:
    """Return the differences in a trial of a model's source."""
    keras = framework(name.partition("/")[0])
    request = Request(Case(MODELS[name], (), seed=5), costly=True)
    with keras.scratch():
        answer = run_trial(request, keras, cloners={"mutant": cloner})
    assert answer.original is not None, answer.refusal
    return ["\n".join(difference.lines) for difference in compare(answer.original, answer.clones["mutant"])]


def differences_of_live_model(name: str, cloner: Cloner) -> list[str]:
    """Return the differences in a trial of an existing model."""
    causes = clone_live(build(name), {"mutant": cloner}).causes_of("mutant")
    return ["\n".join(cause.root.lines) for cause in causes]


MODES = {"source": differences_of_source, "live": differences_of_live_model}


def build(name: str) -> Any:
    """Run the source of a model as a module, and return the model."""
    module, file = types.ModuleType(SCRIPTS[1]), f"<{name}>"
    sys.modules[module.__name__] = module
    linecache.cache[file] = len(MODELS[name]), None, MODELS[name].splitlines(keepends=True), file
    exec(compile(MODELS[name], file, "exec"), vars(module))
    return module.model


@functools.cache
def mutants_of(name: str, seed: int) -> dict[str, list[Mutant]]:
    """Return a model's mutants by operator, shuffled; mutants of user code and of Keras alternate."""
    model = build(name)
    both_scenes, mutants = scenes(model, clone_model(model)), {}
    user_paths = {place.path for scene in both_scenes.values() for place in scene.places if is_user_defined(place)}
    for operator in OPERATORS:
        texts = sorted(changes(operator, both_scenes[operator.startswith("original")]))
        random.Random(f"{seed} {name} {operator}").shuffle(texts)
        parts = [[text for text in texts if (text.partition(": ")[0] in user_paths) == user] for user in (True, False)]
        alternating = [text for text in chain.from_iterable(zip_longest(*parts)) if text is not None]
        mutants[operator] = [Mutant(name, operator, text, number) for number, text in enumerate(alternating)]
    return mutants
