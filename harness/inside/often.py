"""A model cloned many times, each clone dropped: what stays alive of them, what they are called, what one takes.

Nothing is timed, as no answer may depend on how busy the machine is: what a clone takes is counted in calls of Python
functions. What is told of grows with each clone.
"""

from __future__ import annotations

import cProfile
import gc
import sys
from collections import Counter
from typing import Any, Callable, Mapping

from .frameworks.interface import Framework

ROUNDS = 3
CLONES = 2
"""So many clones are made in a round; the last of them is looked at."""
_MOST_LAYERS = 20
"""Larger models are not cloned so often."""
_MORE_CALLS = 1.07


class _NotMade(Exception):
    """A clone could not be made; it has the failure."""


def is_small(model: Any, framework: Framework) -> bool:
    """Whether a model is small enough, and leaves nothing in a graph that all models share."""
    return len(_layers(model, framework)) <= _MOST_LAYERS


def often(call: Callable[[], Any], first: Any, model: Any, framework: Framework) -> dict[str, Any]:
    """What `Often` declares on the wire, of a model whose `first` clone is there.

    `call` gives one more clone, or why there is none. What stays alive may do so of models that are built as well: see
    `leave_out_of_builds`.
    """

    def make() -> Any:
        clone, refused = call()
        if refused is not None:
            raise _NotMade(refused)
        return clone

    try:
        return _growth(make, first, model, framework)
    except _NotMade as failed:
        return {"failure": failed.args[0]}


def leave_out_of_builds(clones: Mapping[str, Any], build: Callable[[], Any], framework: Framework) -> None:
    """Leave out of what stays alive of clones what other models that `build` gives leave alive in the same way.

    The source runs in the module of the trial, whose classes and functions are then others: so this comes when all
    else is done.
    """
    growing = [told["often"] for told in clones.values() if told.get("often", {}).get("stay")]
    if not growing:
        return
    framework.forget()
    alive = []
    try:
        for _ in range(ROUNDS):
            for _ in range(CLONES):
                framework.forget_registered()
                build()
            alive.append(_alive(framework))
        of_builds = set(_growing(alive))
    except Exception:  # a source may be one that runs once only: nobody knows what its models leave alive
        of_builds = {name for told in growing for name in told["stay"]}
    for told in growing:
        told["stay"] = {name: number for name, number in told["stay"].items() if name not in of_builds}


def _growth(make: Callable[[], Any], first: Any, model: Any, framework: Framework) -> dict[str, Any]:
    begun, names, calls = _names(first, framework), [], []
    alive = []
    for _ in range(ROUNDS):
        for _ in range(CLONES - 1):
            make()
        counted, clone = _counted(make)
        calls.append(counted)
        names = _names(clone, framework)
        del clone
        alive.append(_alive(framework))
    stay = _growing(alive)
    told: dict[str, Any] = {"names": _renamed(_names(model, framework), begun, names)}
    if stay:
        told["stay"] = dict(sorted(stay.items()))
    if calls[0] < calls[1] < calls[2] and calls[2] > calls[0] * _MORE_CALLS:
        told["calls"] = calls
    return told


def _renamed(original: list[str], first: list[str], last: list[str]) -> list[list[str]]:
    """The names that the first clone has of the original, and the last has not."""
    both = zip(original, first, last) if len(original) == len(first) == len(last) else ()
    return [[one, other] for own, one, other in both if own == one != other]


def _growing(alive: list[Counter[str]]) -> dict[str, int]:
    """Of what more is alive after each round, at least one for each clone; and how many more, for a clone."""
    steps = [{name: later[name] - before[name] for name in later} for before, later in zip(alive, alive[1:])]
    least = {name: min(step.get(name, 0) for step in steps) for name in steps[-1]}
    return {name: number // CLONES for name, number in least.items() if number >= CLONES}


def _alive(framework: Framework) -> Counter[str]:
    """The layers and variables that are alive, by the names of their classes."""
    gc.collect()
    kinds: Counter[Any] = Counter(map(type, gc.get_objects()))
    found: Counter[str] = Counter()
    for kind, number in kinds.items():
        if framework.is_kept_class(kind):
            found[kind.__name__] += number
    return found


def _counted(make: Callable[[], Any]) -> tuple[int, Any]:
    """How many calls of Python functions a clone takes, and the clone; 0 where somebody has set a profiler."""
    profile = cProfile.Profile(builtins=False)  # it counts in C: a function of ours would take most of the time
    if not _begun(profile):
        return 0, make()
    try:
        clone = make()
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), clone


def _begun(profile: cProfile.Profile) -> bool:
    """Whether a profile has begun: not where there is another one, which could not be put back as it was."""
    if sys.getprofile() is not None:
        return False
    try:
        profile.enable()
    except ValueError:  # from Python 3.12 on, one in C is seen only by this
        return False
    return True


def _names(model: Any, framework: Framework) -> list[str]:
    """The names of the layers of a model, at any depth, and of its weights."""
    names = [str(layer.name) for layer in _layers(model, framework)]
    return names + [framework.name(weight) for weight in framework.weights(model)[0]]


def _layers(model: Any, framework: Framework) -> list[Any]:
    """A model, its layers and operations, and what they hold, each once."""
    found: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        layer = waiting.pop()
        if id(layer) in found:
            continue
        found[id(layer)] = layer
        if framework.is_layer(layer):
            waiting += framework.members(layer) if framework.is_graph(layer) else framework.held(layer)
    return list(found.values())
