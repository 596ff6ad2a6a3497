"""A downstream project's own cloner, or its own model, under all checks, in its own process and its own pytest.

The same code that runs in a subject's process is called directly here, and only when one of the functions is: importing
this module imports no Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from clonediff.harness.observation import Clone, Observation, Request
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks import CHECKS, compare
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.roots import roots
from clonediff.harness.trials.triage import causes, title
from clonediff.reports.records import AT_LEAST, Cause
from clonediff.strategies.program import Generation, Graph

YOURS = "the cloner"
_OF_A_LIVE_MODEL = [name for name in CHECKS if name != "warned"]
"""The checks of a model that is there already, and is not built again."""


class UnfaithfulClone(AssertionError):
    """A clone that is not the model it was cloned from. `causes` has each cause with its differences."""

    def __init__(self, message: str, causes: tuple[Cause, ...]) -> None:
        super().__init__(message)
        self.causes = causes


def check_clone(
    graph: Graph,
    cloner: Callable[[Any], Any],
    *,
    costly: bool = False,
    ignore: Callable[[Cause], bool] = lambda cause: False,
    at_least: str = "name",
) -> None:
    """Build the graph's model, clone it with `cloner`, and raise `UnfaithfulClone` unless the clone is faithful.

    `cloner` takes a model and returns its clone; `costly` asks for a second clone and for training. A cause for which
    `ignore` is true does not count, nor one less severe than `at_least`: "crashes", "computes", "trains", "property" or
    "name". How many were left out is in the message.
    """
    from clonediff.harness.inside.frameworks import framework as framework_of
    from clonediff.harness.inside.trial import run_trial

    framework, case = framework_of(graph.generation), case_of(graph)
    with framework.scratch():
        answer = run_trial(Request(case, costly=costly), framework, cloners={YOURS: cloner})
    if answer.original is None:
        message = answer.refused.message if answer.refused else "no answer"
        raise RuntimeError(f"the original cannot be built by this {graph.generation}: {message}\n\n{case.source}")
    differences = compare(answer.original, answer.clones[YOURS])
    _assert_faithful(causes(answer.original, differences), ignore, at_least, case.source)


def assert_clones_faithfully(
    model: Any,
    *,
    clone: Callable[[Any], Any] | None = None,
    inputs: Any = None,
    costly: bool = True,
    ignore: Callable[[Cause], bool] = lambda cause: False,
    at_least: str = "name",
) -> None:
    """Clone a model of yours, and raise `UnfaithfulClone` unless the clone is faithful; the model stays as it is.

    `model` is a built Functional or Sequential one of Keras 3 or `tf_keras`, trained or not. `clone` takes a model and
    returns its clone; without it, that is clonediff's `clone_model`. `inputs` are arrays to call both on: one, a list
    in the order of the model's inputs, or a dictionary by their names; without them, numbers are drawn that the model
    takes. The other arguments are those of `check_clone`, but that the costly checks are left out only when asked to,
    and that there is no check "warned", which takes a model that can be built again.
    """
    cloned = clone_live(model, {YOURS: clone or "fixed"}, inputs=inputs, costly=costly)
    _assert_faithful(cloned.causes_of(YOURS), ignore, at_least, cloned.about)


class ClonedModel(msgspec.Struct, frozen=True):
    """A live model through some cloners: which it is, what it was fed, and what was seen of each clone."""

    about: str
    generation: Generation
    versions: dict[str, str]
    fed: tuple[dict[str, Any], ...]
    original: Observation
    clones: dict[str, Clone]

    def causes_of(self, cloner: str, but_for: Collection[str] = ()) -> list[Cause]:
        """What is wrong with the clone of one of the cloners, the worst first.

        What follows from a difference of the layers that it is right `but_for` is left out.
        """
        differences = compare(self.original, self.clones[cloner], _OF_A_LIVE_MODEL)
        if but_for:
            within = tuple(f"{layer}/" for layer in but_for)
            groups = roots(Flow.of(self.original), differences)
            places = ((group, group[0].first.name if group[0].first else "") for group in groups)
            differences = [one for group, place in places if not f"{place}/".startswith(within) for one in group]
        return causes(self.original, differences)


def clone_live(model: Any, cloners: Mapping[str, Any], *, inputs: Any = None, costly: bool = True) -> ClonedModel:
    """Clone a live model by cloners, each a function of a model or the name of one; the model stays as it is."""
    from clonediff.harness.inside.frameworks import framework as framework_of
    from clonediff.harness.inside.frameworks import generation_of
    from clonediff.harness.inside.live import try_live

    generation = generation_of(model)
    framework = framework_of(generation)
    versions = framework.versions()
    about = f"{type(model).__name__} {getattr(model, 'name', '')!r}, {generation} {versions['keras']}"
    answer, specs = try_live(model, cloners, framework, inputs, costly)
    assert answer.original is not None  # the model is there
    for ran in (answer.original.inference, answer.original.training):
        if ran is not None and ran.failure is not None:
            message = f"{ran.failure.type}: {ran.failure.message}"
            raise ValueError(f"{about}: it cannot be called on the inputs; give it others with `inputs=`. {message}")
    return ClonedModel(about, generation, versions, tuple(specs), answer.original, answer.clones)


def _assert_faithful(broken: list[Cause], ignore: Callable[[Cause], bool], at_least: str, about: str) -> None:
    if at_least not in AT_LEAST:
        raise ValueError(f"at_least: {at_least!r} is not one of {', '.join(AT_LEAST)}")
    counted = [cause for cause in broken if not ignore(cause)]
    failures = tuple(cause for cause in counted if cause.severity <= AT_LEAST[at_least])
    if not failures:
        return
    lines: list[str] = []
    for cause in failures:
        lines += [f"{title(cause)} [{cause.fingerprint}]", *(f"  {line}" for line in cause.root.lines)]
    if less := len(counted) - len(failures):
        lines.append(f"left out, by at_least={at_least!r}: {less} cause{'' if less == 1 else 's'}")
    raise UnfaithfulClone("\n".join((*lines, "", about)), failures)
