"""Check a user's cloner or model in this process.

The module itself imports no Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from clonediff.harness.observation import Clone, Observation, Request
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks import CHECKS, compare
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.roots import group_by_cause
from clonediff.harness.trials.triage import causes, title
from clonediff.reports.records import SEVERITIES, Cause
from clonediff.strategies.program import Generation, Graph

_CLONER = "the cloner"
_LIVE_CHECKS = [name for name in CHECKS if name != "warned"]
"""The checks of a live model."""


class UnfaithfulClone(AssertionError):
    """A clone differs from its original; `causes` groups the differences."""

    def __init__(self, message: str, causes: tuple[Cause, ...]) -> None:
        super().__init__(message)
        self.causes = causes


def check_clone(
    graph: Graph,
    cloner: Callable[[Any], Any],
    *,
    costly: bool = False,
    ignore: Callable[[Cause], bool] = lambda cause: False,
    at_least: str = "renamed",
) -> None:
    """Clone the model of a graph, and raise `UnfaithfulClone` if the clone differs.

    `cloner` takes a model and returns its clone. `costly` also clones twice and trains. Causes for which `ignore` is
    true are ignored. `at_least` is "crash", "wrong-output", "wrong-training", "lost-property" or "renamed"; the message
    only counts less severe causes.
    """
    from clonediff.harness.inside.frameworks import framework as framework_of
    from clonediff.harness.inside.trial import run_trial

    framework, case = framework_of(graph.generation), case_of(graph)
    with framework.scratch():
        answer = run_trial(Request(case, costly=costly), framework, cloners={_CLONER: cloner})
    if answer.original is None:
        message = answer.refusal.message if answer.refusal else "no answer"
        raise RuntimeError(f"the installed {graph.generation} cannot build the original: {message}\n\n{case.source}")
    differences = compare(answer.original, answer.clones[_CLONER])
    _assert_faithful(causes(answer.original, differences), ignore, at_least, case.source)


def assert_clones_faithfully(
    model: Any,
    *,
    clone: Callable[[Any], Any] | None = None,
    inputs: Any = None,
    costly: bool = True,
    ignore: Callable[[Cause], bool] = lambda cause: False,
    at_least: str = "renamed",
) -> None:
    """Clone a model and raise `UnfaithfulClone` if the clone differs; the model is not changed.

    `model` is a built Functional or Sequential model of Keras 3 or `tf_keras`, trained or not. `clone` takes a model
    and returns its clone; the default is `clonediff.clone_model`. `inputs` are arrays to call both models on: one
    array, a list in the order of the inputs, or a dictionary by name; by default, they are drawn. The other arguments
    work as in `check_clone`, but `costly` is on by default. The check "warned" is left out: it would need to build the
    model again.
    """
    cloned = clone_live(model, {_CLONER: clone or "fixed"}, inputs=inputs, costly=costly)
    _assert_faithful(cloned.causes_of(_CLONER), ignore, at_least, cloned.description)


class ClonedModel(msgspec.Struct, frozen=True):
    """A live model, its inputs, and observations of model and clones."""

    description: str
    generation: Generation
    versions: dict[str, str]
    inputs: tuple[dict[str, Any], ...]
    original: Observation
    clones: dict[str, Clone]

    def causes_of(self, cloner: str, replaced: Collection[str] = ()) -> list[Cause]:
        """A cloner's causes, the worst first, except in `replaced` layers."""
        differences = compare(self.original, self.clones[cloner], _LIVE_CHECKS)
        if replaced:
            prefixes = tuple(f"{layer}/" for layer in replaced)
            groups = group_by_cause(Flow.find(self.original), differences)
            pairs = ((f"{group[0].first.name if group[0].first else ''}/", group) for group in groups)
            differences = [item for name, group in pairs if not name.startswith(prefixes) for item in group]
        return causes(self.original, differences)


def clone_live(model: Any, cloners: Mapping[str, Any], *, inputs: Any = None, costly: bool = True) -> ClonedModel:
    """Clone a live model with each cloner; observe model and clones."""
    from clonediff.harness.inside.frameworks import framework as framework_of
    from clonediff.harness.inside.frameworks import generation_of
    from clonediff.harness.inside.live_trial import try_live_model

    generation = generation_of(model)
    framework = framework_of(generation)
    versions = framework.versions()
    description = f"{type(model).__name__} {getattr(model, 'name', '')!r}, {generation} {versions['keras']}"
    answer, specs = try_live_model(model, cloners, framework, inputs, costly)
    assert answer.original is not None  # a live model is built
    for run in (answer.original.inference, answer.original.training):
        if run is not None and run.failure is not None:
            message = f"it cannot be called on the inputs; pass others with `inputs=`. {run.failure.type}"
            raise ValueError(f"{description}: {message}: {run.failure.message}")
    return ClonedModel(description, generation, versions, tuple(specs), answer.original, answer.clones)


def _assert_faithful(causes: list[Cause], ignore: Callable[[Cause], bool], at_least: str, description: str) -> None:
    if at_least not in SEVERITIES:
        raise ValueError(f"at_least: expected one of {', '.join(SEVERITIES)}, found {at_least!r}")
    causes = [cause for cause in causes if not ignore(cause)]
    failures = tuple(cause for cause in causes if cause.severity <= SEVERITIES[at_least])
    if not failures:
        return
    lines: list[str] = []
    for cause in failures:
        lines += [f"{title(cause)} [{cause.fingerprint}]", *(f"  {line}" for line in cause.root.lines)]
    if count := len(causes) - len(failures):
        lines.append(f"not listed because of at_least={at_least!r}: {count} cause{'' if count == 1 else 's'}")
    raise UnfaithfulClone("\n".join((*lines, "", description)), failures)
