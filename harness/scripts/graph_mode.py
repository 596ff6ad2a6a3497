"""What a script for Keras 2.2 and 2.3 has to say otherwise: no model there is called eagerly, and masks are symbolic.

Owns the lines of its comparisons, and where the versions stand that a script was seen on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from clonediff.harness.inside.v1 import LINES
from clonediff.harness.scripts import running
from clonediff.harness.scripts.comments import named
from clonediff.reports.records import Difference

if TYPE_CHECKING:
    from clonediff.harness.scripts.reproducer import Script
    from clonediff.harness.subjects.case import Case

COMPARED = ("outputs", "masks", "untouched", "weights")
"""The checks whose differences are compared by the lines below."""

_NODES = "[node for depth in sorted(model._nodes_by_depth) for node in model._nodes_by_depth[depth]]"

_PREDICTED = """
one, other = model.predict(values), clone.predict(values)
for one, other in zip(*(each if isinstance(each, list) else [each] for each in (one, other))):
    np.testing.assert_array_equal(one, other)"""

_TRAINING = """
from keras import backend as K


def in_training(model):
    return K.function(model.inputs + [K.learning_phase()], model.outputs)(values + [1])


for one, other in zip(in_training(model), in_training(clone)):
    np.testing.assert_array_equal(one, other)"""

_MASKS = f"""

def masks(model):
    nodes = {_NODES}
    return [[mask is not None for mask in node.output_masks] for node in nodes]


assert masks(clone) == masks(model)"""

_BEFORE = f"""
def arguments(model):
    nodes = {_NODES}
    return [sorted(node.arguments or {{}}) for node in nodes]


before = arguments(model)"""

WEIGHTS = "[[K.int_shape(each) for each in some] for some in ({0}.trainable_weights, {0}.non_trainable_weights)]"


def before_clone(difference: Difference) -> list[str]:
    """What has to be noted before the clone is made."""
    return _BEFORE.splitlines() if _of_arguments(difference) else []


def compared(difference: Difference, case: Case | None = None) -> tuple[list[str], bool]:
    """The lines that compare what two models give, and whether they compare just what differed."""
    if _of_arguments(difference):
        return ["assert arguments(model) == before"], True
    if difference.check == "masks":
        return _MASKS.splitlines()[1:], difference.aspect in ("mask lost", "mask added")
    if difference.check == "weights":
        text = f"\nfrom keras import backend as K\n\nassert {WEIGHTS.format('clone')} == {WEIGHTS.format('model')}"
        return text.splitlines(), True
    lines = ["", *running.imported(case, "keras2"), "", *running.drawn(case, "keras2"), *running.weighted(case)]
    lines.append("clone.set_weights(model.get_weights())")
    return [*lines, *(_TRAINING if "training" in difference.path else _PREDICTED).splitlines()], False


def _of_arguments(difference: Difference) -> bool:
    return difference.check == "untouched" and ".kwargs" in difference.path


def with_versions(script: Script, versions: Mapping[str, str]) -> Script:
    """The script with the versions it was seen on: last, or first where it takes them, with what v1 mode needs."""
    if not versions:
        return script
    stack = versions.get("stack")
    if stack is None:
        return replace(script, text=f"{script.text}{named(versions)}\n")
    above = f"{named(versions)}\n" + (LINES + "\n" if stack == "v1 mode" else "\n")
    return replace(script, text=above + script.text)
