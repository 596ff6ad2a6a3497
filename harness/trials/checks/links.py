"""How differences follow from each other: when each comes about, how far it reaches, where it can show."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple

from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Difference


class Stage(enum.IntEnum):
    """When in the life of a clone a difference comes about; nothing follows from what comes later."""

    MADE = 0
    OWN = 1
    SHARING = 2
    STRUCTURE = 3
    WEIGHTS = 4
    UNTOUCHED = 5
    SYMBOLIC = 6
    INFERENCE = 7
    TRAINING_RUN = 8
    TRAINED = 9
    AGAIN = 10
    FUNCTIONS = 11
    WARNED = 12


class Reach(enum.IntEnum):
    """How far a difference can reach: a name explains names only, and what concerns training explains no output."""

    LABEL = 0
    TRAINING = 1
    BEHAVIOUR = 2


class Spread(enum.Enum):
    """Where a change can show, seen from the layer that it is at. Where a layer is not in the original, anywhere."""

    HERE = "at that layer"
    OUTWARDS = "in what holds the layer"
    AROUND = "there, in what holds the layer, and in what it holds"
    DOWNSTREAM = "there, and wherever what the layer gives is used"
    UPSTREAM = "there, and where what it is called on comes from"
    ANYWHERE = "in the whole model"


class Thing(enum.Enum):
    """What one difference changes and another one shows, and where it can show."""

    OBJECTS = "which layers and weights are one and the same", Spread.AROUND
    BUILD = "how the weights of a layer are built and called", Spread.AROUND
    SETTINGS = "how a layer is set", Spread.HERE
    CONTENT = "what is in a layer that holds others", Spread.OUTWARDS
    RESULTS = "the shapes and dtypes of what a layer gives", Spread.DOWNSTREAM
    MASKS = "which masks are handed on", Spread.DOWNSTREAM
    WIRING = "which layer is called on what", Spread.DOWNSTREAM
    GIVERS = "which layers give an argument", Spread.UPSTREAM
    NESTING = "how inputs and outputs are nested", Spread.ANYWHERE
    LISTING = "in which order layers, calls and weights are listed", Spread.ANYWHERE
    COPYING = "which weights can be copied one by one", Spread.ANYWHERE

    @property
    def spread(self) -> Spread:
        return self.value[1]


class Link(NamedTuple):
    """What no rule says: differences in the one aspect lead to some in the other; "|" stands between several."""

    cause: str
    effect: str
    spread: Spread
    where: Callable[[Difference, Difference, Flow], bool] = lambda cause, effect, flow: True


class Turn(enum.IntEnum):
    """Which of the differences of one stage is looked at first, so that others may follow from it."""

    FIRST = 0  # a whole layer is another, or is called on something of another form
    SETTINGS = 1
    EARLY = 2  # what settings can change, and what changes much itself
    USUAL = 3
    VIEWS = 4  # what tells a setting once more
    LATE = 5
