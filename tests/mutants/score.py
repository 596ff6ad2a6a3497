"""The mutation score: how many mutants the comparison kills (notices), by operator and mode."""

from __future__ import annotations

import functools
import multiprocessing
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from tests.mutants.models import MODELS
from tests.mutants.operators import OPERATORS
from tests.mutants.trials import MODES, Cloner, Mutant, mutants_of

OUTCOMES = KILLED, SURVIVED, CRASHED, ALARM = "killed", "survived", "crashed", "alarm"


class Result(NamedTuple):
    """The outcome of one mutant, or of an unchanged model, in one mode; `lines` has the differences or the error."""

    mutant: Mutant
    mode: str
    outcome: str
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = self.lines if self.outcome == CRASHED else ()
        return "\n    ".join((f"{self.outcome} {self.mode:6} {self.mutant}", *lines))


@functools.cache
def false_alarms(name: str, mode: str) -> frozenset[str]:
    """Return the differences that a mode finds in an unchanged clone: false alarms."""
    return frozenset(MODES[mode](name, Cloner()))


def results_of(mutant: Mutant) -> list[Result]:
    """Return the result of a mutant in each mode; nothing if the change cannot be made."""
    results = []
    for mode in MODES:
        cloner, alarms = Cloner(mutant), false_alarms(mutant.model, mode)
        try:
            lines = tuple(text for text in MODES[mode](mutant.model, cloner) if text not in alarms)
            outcome = KILLED if lines else SURVIVED
        except Exception as error:  # the comparison itself failed
            lines, outcome = (f"{type(error).__name__}: {error}",), CRASHED
        if cloner.has_failed:
            return []
        results.append(Result(mutant, mode, outcome, lines))
    return results


def score(count: int, seed: int, processes: int = 1) -> Iterator[Result]:
    """Yield the results of about `count` mutants, equally many per operator, and of unchanged models."""
    per_operator = max(1, count // len(OPERATORS))
    names = random.Random(seed).sample(sorted(MODELS), min(len(MODELS), max(6, count // 8)))
    work = functools.partial(_results, names=names, per_operator=per_operator, seed=seed)
    if processes == 1:
        yield from chain.from_iterable(map(work, OPERATORS))
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from chain.from_iterable(pool.imap_unordered(work, OPERATORS))


def _results(operator: str, names: list[str], per_operator: int, seed: int) -> list[Result]:
    """Return the results of an operator, on one model after the other."""
    names = random.Random(f"{seed} {operator}").sample(names, len(names))
    mutants = [mutant for name in names for mutant in mutants_of(name, seed)[operator][: 3 * per_operator]]
    outcomes = filter(None, map(results_of, sorted(mutants, key=lambda mutant: mutant.number)))
    results = list(chain.from_iterable(islice(outcomes, per_operator)))
    models = sorted({result.mutant.model for result in results})
    texts = ((name, mode, text) for name in models for mode in MODES for text in false_alarms(name, mode))
    alarms = (Result(Mutant(name, "unchanged", text, 0), mode, ALARM) for name, mode, text in texts)
    return [*alarms, *results]


def killed_share(results: Iterable[Result], mode: str, operator: str = "") -> tuple[float, Counter[str]]:
    """Return the share of the mutants that a mode kills, and the number of each outcome."""
    of_mode = [result for result in results if result.mode == mode]
    counts = Counter(result.outcome for result in of_mode if operator in ("", result.mutant.operator))
    total = counts[KILLED] + counts[SURVIVED] + counts[CRASHED]
    return counts[KILLED] / max(total, 1), counts


def table(results: list[Result]) -> str:
    """Return a line for each operator, and a line for all operators."""
    lines = []
    for operator in (*OPERATORS, ""):
        line = f"{operator or 'all':18}"
        for mode in MODES:
            killed, counts = killed_share(results, mode, operator)
            line += f"  {mode} {killed:6.1%} " + ", ".join(
                f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]
            ).ljust(50)
        lines.append(line.rstrip())
    return "\n".join(lines)
