"""The ideas of five proposed fixes for the bug of Keras 2.2.4, each as a cloner for Keras 2.2 and 2.3.

None of the proposals, as it was written, clones any model. What is here is what each author was after: the one choice
that sets the idea apart, made in a cloner that is faithful otherwise, so that what breaks is the idea. Nothing here
imports Keras before a cloner is called.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from .. import TrialContext


def _cloner(kind: str) -> Callable[[Any, TrialContext], Any]:
    def clone(model: Any, context: TrialContext) -> Any:
        ideas: Any = importlib.import_module(".ideas", __name__)
        return ideas.clone_by(getattr(ideas, kind), model)

    return clone


PROPOSED: dict[str, Callable[[Any, Any], Any]] = {
    "inputs_by_shape": _cloner("InputsByShape"),
    "always_lists": _cloner("AlwaysLists"),
    "masks_dropped": _cloner("MasksDropped"),
    "layer_by_layer": _cloner("LayerByLayer"),
    "final_check": _cloner("FinalCheck"),
}
"""The ideas by the name of their cloner, in the order of the proposals, 000 to 004."""
