"""The harness that a user would write first, run on the same source in the same process, for its speed.

Builds, clones with the release's `clone_model`, copies the weights, calls `predict` on both and compares with
`allclose`. Nothing here is clever on purpose.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .build import build, script
from .failures import failure
from .frameworks.interface import Framework
from .housekeeping import tidy
from .structure import leaves
from .values import input_arrays


def bench(request: dict[str, Any], framework: Framework) -> dict[str, Any]:
    """The seconds of each step, whether it raised, and whether it saw a difference."""
    seconds: dict[str, float] = {}
    answer: dict[str, Any] = {"seconds": seconds, "crashed": None, "equal": None}
    arrays = input_arrays(request["inputs"], request.get("batch"), int(request.get("seed", 0)))
    tidy(framework)
    framework.remove_hooks()
    with script(request["source"]) as module:
        since = perf_counter()

        def done(step: str) -> None:
            nonlocal since
            now = perf_counter()
            seconds[step] = now - since
            since = now

        try:
            model = build(request["source"], module)
            done("build")
            clone = framework.clone(model)
            done("clone")
            clone.set_weights(model.get_weights())
            done("weights")
            inputs = framework.packed(model, arrays)
            ours = model.predict(inputs, verbose=0)
            theirs = clone.predict(inputs, verbose=0)
            done("predict")
            pairs = list(zip(leaves(ours), leaves(theirs)))
            answer["equal"] = all(bool(np.allclose(left, right)) for left, right in pairs)
            done("compare")
        except Exception as error:  # an exception is one of the outcomes
            answer["crashed"] = failure(error, below="bench")
    seconds["total"] = sum(seconds.values())
    return answer
