"""A downstream project's own cloner under all checks, in its own process and its own pytest.

The same code that runs in a subject's process is called directly here, and only when `check_clone` is: importing this
module imports no Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from clonediff.harness.subjects.observation import Answer
from clonediff.harness.trials.asking import here
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks import CHECKS, compare
from clonediff.harness.trials.triage import causes, title
from clonediff.reports.records import Cause
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import Graph
from clonediff.strategies.kinds import Generation

YOURS = "the cloner"


class UnfaithfulClone(AssertionError):
    """A clone that is not the model it was cloned from. `causes` has each cause with its differences."""

    def __init__(self, message: str, found: tuple[Cause, ...]) -> None:
        super().__init__(message)
        self.causes = found


def check_clone(
    graph: Graph,
    cloner: Callable[[Any], Any],
    *,
    generation: Generation | None = None,
    checks: Collection[str] | None = None,
    costly: bool = False,
    ignore: Callable[[Cause], bool] = lambda cause: False,
) -> None:
    """Build the graph's model, clone it with `cloner`, and raise `UnfaithfulClone` unless the clone is faithful.

    `cloner` takes a model and returns its clone. `generation` is "keras" or "tf_keras", by default the one that the
    graph was drawn for, else "keras". `checks` are names of `clonediff.harness.trials.checks.CHECKS`, all of
    them by default; `costly` asks for a second clone, a training step and a round trip through a file, as do the checks
    that need them when they are named. A cause for which `ignore` is true does not count.
    """
    from clonediff.harness.inside.trial import run_trial

    named = set(CHECKS if checks is None else checks)
    unknown = sorted(named - set(CHECKS))
    if unknown:
        raise ValueError(f"checks: {unknown[0]!r} is not one of {', '.join(CHECKS)}")
    chosen: Generation = generation or graph.generation or "keras"
    its = here(chosen)
    with asking(its):
        case = case_of(graph, chosen)
    parts = {CHECKS[name].part for name in (CHECKS if costly else checks or ())} - {""}
    with its.framework.scratch():
        request = {**case.request((), parts), "cloners": {YOURS: cloner}}
        answer = msgspec.convert(run_trial(request, its.framework), Answer)
    if answer.original is None:
        said = answer.refused.message if answer.refused else "no answer"
        raise RuntimeError(f"the original cannot be built by this {chosen}: {said}\n\n{case.source}")
    differences = compare(answer.original, answer.clones[YOURS], [name for name in CHECKS if name in named])
    found = tuple(each for each in causes(answer.original, differences) if not ignore(each))
    if found:
        raise UnfaithfulClone("\n".join((*_lines(found), "", case.source)), found)


def _lines(found: tuple[Cause, ...]) -> list[str]:
    lines = []
    for cause in found:
        root = cause.root
        lines += [f"{title(cause)} [{cause.fingerprint}]", f"  {root.check}: {root.path}"]
        lines += [f"    original: {root.expected}", f"    clone:    {root.found}"]
    return lines
