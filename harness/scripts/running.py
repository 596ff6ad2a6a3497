"""The variables of `run.j2`: the lines of a script that run both models on the inputs of a trial.

The script calls the functions of `harness/inside/values.py` in the same order, so its inputs are those of the trial.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from clonediff.harness.inside.values import DEFAULT_BATCH, FILLS, WORDS, fill_for, shape_of
from clonediff.harness.observation import Case
from clonediff.reports.records import Difference

_BY_DIALECT = {
    "keras": {"tf": False, "tree": "keras.tree", "array": "keras.ops.convert_to_numpy"},
    "tf_keras": {"tf": True, "tree": "tf.nest", "array": "np.asarray"},
}


def variables_of_run(difference: Difference, sure: bool, dialect: str, case: Case) -> tuple[dict[str, Any], bool]:
    """The variables of `run.j2`, and whether its lines compare exactly what differed."""
    functions: dict[str, str] = {}
    arrays = [_array(spec, case.batch or DEFAULT_BATCH, functions) for spec in case.inputs]
    variables = {**_BY_DIALECT[dialect], "sure": sure, "functions": functions.values(), "arrays": arrays}
    is_output = difference.run != "" and not difference.in_step
    return variables, difference.raised is not None or (is_output and sure)


def _array(spec: Mapping[str, Any], batch: int, functions: dict[str, str]) -> str:
    """The expression that draws an input; adds the functions that it calls to `functions`."""
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
