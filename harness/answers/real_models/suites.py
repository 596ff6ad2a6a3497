"""Which suites of models there are, what each needs to be installed, and which of their models are asked for."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from clonediff.harness.answers.real_models import recipes
from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.subjects.process import SubjectProcess

INSTALL = "pip install 'clonediff[real]'"


class SelectionError(ValueError):
    """A selection that selects nothing, or needs what is not installed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class ModelSuite:
    """Models of one origin. `needs` are the packages that are imported, `recipes` asks a subject where it has to."""

    name: str
    subject: str
    about: str
    needs: tuple[str, ...]
    recipes: Callable[[SubjectProcess], Sequence[Recipe]]

    def lacking(self) -> list[str]:
        """The packages that it needs and that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


SUITES = (
    ModelSuite(
        "applications",
        "keras",
        "all of keras.applications, on small images",
        (),
        lambda process: recipes.applications(process.applications()),
    ),
    ModelSuite(
        "keras_hub",
        "keras",
        "the backbones and tasks of keras_hub, in small configurations",
        ("keras_hub",),
        lambda process: recipes.keras_hub(process.model_classes(recipes.HUB_MODULE)),
    ),
    ModelSuite(
        "keras_tests",
        "keras",
        "models of Keras' own tests, where its package ships them",
        ("pytest",),
        lambda process: recipes.keras_tests("keras_tests", "keras"),
    ),
    ModelSuite(
        "tfmot",
        "tf_keras",
        "what tensorflow-model-optimization wraps around models of tf_keras",
        ("tensorflow_model_optimization",),
        lambda process: recipes.tfmot(),
    ),
    ModelSuite(
        "tf_keras_tests",
        "tf_keras",
        "models of tf_keras' own tests, where its package ships them",
        (),
        lambda process: recipes.keras_tests("tf_keras_tests", "tf_keras"),
    ),
)


def suites(patterns: Sequence[str]) -> list[ModelSuite]:
    """The suites that patterns of names may select from, all of them where there is none; each can be tried."""
    chosen = [each for each in SUITES if not patterns or any(_of(pattern, each) for pattern in patterns)]
    for pattern in patterns:
        if not any(_of(pattern, each) for each in chosen):
            names = ", ".join(each.name for each in SUITES)
            raise SelectionError(f"{pattern!r}: expected SUITE:MODEL, where SUITE is one of {names}")
    for each in chosen:
        lacking = each.lacking()
        if lacking:
            others = " ".join(f"--only '{other.name}:*'" for other in SUITES if not other.lacking())
            raise SelectionError(
                f"{each.name}: {' and '.join(lacking)} is not installed: {INSTALL}, or leave it out with {others}"
            )
    return chosen


def selected(all_: Iterable[Recipe], patterns: Sequence[str]) -> list[Recipe]:
    """Those whose names a pattern fits, in their order; a pattern that fits none is an error."""
    there = list(all_)
    for pattern in patterns:
        if not any(fnmatchcase(each.name, pattern) for each in there):
            raise SelectionError(f"{pattern!r} selects no model: --list names those that there are")
    return [each for each in there if not patterns or any(fnmatchcase(each.name, pattern) for pattern in patterns)]


def _of(pattern: str, suite: ModelSuite) -> bool:
    room, colon, _ = pattern.partition(":")
    return bool(colon) and fnmatchcase(suite.name, room)
