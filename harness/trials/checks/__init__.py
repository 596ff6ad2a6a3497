"""Checks of a faithful clone, which compare plain data without Keras.

A check is a function from a `Pair`, the observations of an original and its clone, to every `Difference`, in the order
of the original.
"""

from __future__ import annotations

import enum
import functools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType

from msgspec.structs import replace

from clonediff.harness.observation import Clone, Observation
from clonediff.harness.trials.checks import facts, failures, objects, runs, structure, weights
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.aspects import Aspect, find_row
from clonediff.harness.trials.checks.paths import is_within
from clonediff.reports.records import Change, Difference, Part, Severity


class Stage(enum.IntEnum):
    """The stage of a check. No difference follows from a later stage."""

    CLONING = 0
    STRUCTURE = 1
    ORIGINAL = 2
    RUNS = 3
    TRAINING = 4
    LATER_USE = 5


@dataclass(frozen=True)
class Check:
    """A property of a faithful clone: `run` finds the differences of a pair.

    A `costly` check needs a costly trial. Without `needs_clone`, it also runs if cloning failed. If `is_cloning`, the
    exceptions that it reports were raised by the cloner.
    """

    name: str
    run: Callable[[Pair], Iterable[Difference]]
    stage: Stage
    costly: bool = False
    needs_clone: bool = True
    is_cloning: bool = False


def _check_second_clone(pair: Pair) -> list[Difference]:
    model_checks = [check for check in CHECKS.values() if check.stage in (Stage.STRUCTURE, Stage.RUNS)]
    return objects.check_second_clone(pair, [check.run for check in model_checks])


CHECKS = {
    check.name: check
    for check in (
        Check("made", failures.check_cloning, Stage.CLONING, needs_clone=False, is_cloning=True),
        Check("weights", weights.check_weights, Stage.STRUCTURE),
        Check("own", objects.check_ownership, Stage.STRUCTURE),
        Check("sharing", objects.check_sharing, Stage.STRUCTURE),
        Check("outputs", runs.check_outputs, Stage.RUNS),
        Check("masks", runs.check_masks, Stage.RUNS),
        Check("structure", structure.check_structure, Stage.STRUCTURE),
        Check("untouched", objects.check_original, Stage.ORIGINAL, needs_clone=False),
        Check("again", _check_second_clone, Stage.LATER_USE, costly=True, is_cloning=True),
        Check("training", runs.check_training, Stage.TRAINING, costly=True),
        Check("warned", failures.check_warnings, Stage.LATER_USE, needs_clone=False, is_cloning=True),
    )
}
"""The checks by name, in the order of reports."""


def _rows(*modules: ModuleType) -> Iterator[Aspect]:
    for module in dict.fromkeys(modules):
        for value in vars(module).values():
            rows = value if isinstance(value, tuple) else (value,)
            yield from (row for row in rows if isinstance(row, Aspect))


_MODULES = (sys.modules[check.run.__module__] for check in CHECKS.values())
_FIRST_ROWS = (structure.CALL_ORDER, *facts.SETTINGS)
ASPECTS = (*_FIRST_ROWS, *_rows(structure, weights), *facts.ATTRIBUTES, *_rows(objects, facts, *_MODULES))
"""The rows of all modules; in a layer, a difference explains differences of later rows."""


@functools.cache
def _row(check: str, part: Part, change: Change, name: str) -> Aspect:
    rows = [row for row in ASPECTS if row.check == check or not row.exclusive]
    return find_row(sorted(rows, key=lambda row: row.check != check), part, change, name)


def aspect_of(difference: Difference) -> Aspect:
    """A difference's row, in its check or one that its check runs."""
    return _row(difference.check, difference.part, difference.change, difference.name)


def needs_costly_trial(difference: Difference) -> bool:
    return difference.part == "process" or difference.model == "original" or CHECKS[difference.check].costly


def compare(original: Observation, clone: Clone, checks: Iterable[str] = CHECKS) -> list[Difference]:
    """A clone's differences, check by check, except those by chance."""
    enabled = [CHECKS[name] for name in checks if clone.observation is not None or not CHECKS[name].needs_clone]
    differences = _all_differences(Pair(original, clone), enabled)
    is_changed = clone.original_after is not None or clone.inference_after is not None
    paths = _paths_by_chance(original, enabled) if differences and not (original.is_live and is_changed) else set()
    return [item for item in differences if not _is_by_chance(item, paths)]


def _paths_by_chance(original: Observation, checks: Iterable[Check]) -> set[tuple[str, str]]:
    """Checks and paths where the null model differs, except in names."""
    if original.null_model is None:
        return set()
    pair = Pair(original, Clone(observation=original.null_model))
    differences = _all_differences(pair, [check for check in checks if not original.is_live or check.name != "own"])
    return {(item.check, item.path) for item in differences if item.severity is not Severity.NAME}


def _all_differences(pair: Pair, checks: Iterable[Check]) -> list[Difference]:
    return [item for check in checks for item in check.run(pair)]


def _is_by_chance(difference: Difference, paths: Collection[tuple[str, str]]) -> bool:
    """Whether the null model differs at this path; for the clone, in the same check."""
    path = replace(difference, model="clone").path
    is_in_clone = difference.model == "clone"
    return any(is_within(path, outer) and not (is_in_clone and check != difference.check) for check, outer in paths)
