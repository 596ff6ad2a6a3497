"""What the lines are made of that run two models on the numbers of a trial and compare what they give.

The numbers are those that `harness/inside/values.py` draws, by its own functions in the same order, so that what
differed in the trial differs in the script. The lines are in `run.j2`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from clonediff.harness.inside.values import DEFAULT_BATCH, FILLS, WORDS, fill_for, shape_of
from clonediff.harness.observation import Case
from clonediff.reports.records import Difference

_WORDS = {
    "keras": {"tf": False, "tree": "keras.tree", "array": "keras.ops.convert_to_numpy"},
    "tf_keras": {"tf": True, "tree": "tf.nest", "array": "np.asarray"},
}


def run_facts(difference: Difference, sure: bool, dialect: str, case: Case) -> tuple[dict[str, Any], bool]:
    """What the lines are made of that fail where two models differ, and whether they compare just what differed."""
    functions: dict[str, str] = {}
    arrays = [_array(spec, case.batch or DEFAULT_BATCH, functions) for spec in case.inputs]
    facts = {**_WORDS[dialect], "sure": sure, "functions": functions.values(), "arrays": arrays}
    of_outputs = difference.run != "" and not difference.in_step
    return facts, difference.raised is not None or (of_outputs and sure)


def _array(spec: Mapping[str, Any], batch: int, functions: dict[str, str]) -> str:
    """The expression that draws an input. The functions that it calls are put among `functions`."""
    shape, dtype = shape_of(spec, batch), str(spec.get("dtype", "float32"))
    fill = spec.get("fill") or fill_for(dtype)
    if fill == "words":
        return f"np.array({json.dumps(WORDS)}, dtype=object)[rng.integers(0, {len(WORDS)}, {shape})]"
    array = f"rng.standard_normal({shape})"
    if fill != "normal":
        body = inspect.getsource(FILLS[fill]).partition("\n")[2]
        functions[fill] = f"def {fill}(random, shape, spec):\n{body}"
        array = f"{fill}(rng, {shape}, {{'high': {spec.get('high') and int(spec['high'])}}})"
    return f"{array}.astype({json.dumps('float32' if dtype == 'bfloat16' else dtype)})"
