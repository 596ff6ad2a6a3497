"""How far into a release's own cloning code trials came, and what of it nothing that is tried here can reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from harness.subjects.outcomes import Statement
from reports.records import FileReached, MissedStatement

_ASKED = "asks for another way to clone than clone_model(model)"
_QUANTIZING = "quantizing"
_SAVING = "weights that are saved or loaded on their own"
OUT_OF_REACH = (
    ("models/cloning.py", "_wrap_clone_function", _ASKED),
    ("models/functional.py", "deserialize_node.convert_revived_tensor", "reads a config that Keras 2 wrote"),
    ("models/sequential.py", "Sequential.pop", "a layer taken away once the model is made"),
    ("ops/function.py", "Function._setup_nnx_op_mapping", "with JAX's NNX only"),
    ("ops/function.py", "Function._get_operation_for_node", "with JAX's NNX only"),
    ("layers/layer.py", "Layer.__new__.quantize_wrapper", _QUANTIZING),
    ("layers/layer.py", "Layer.quantize", _QUANTIZING),
    ("layers/layer.py", "Layer.quantized_build", _QUANTIZING),
    ("layers/layer.py", "Layer.quantized_call", _QUANTIZING),
    ("layers/layer.py", "Layer._check_quantize_args", _QUANTIZING),
    ("layers/layer.py", "Layer.save_own_variables", _SAVING),
    ("layers/layer.py", "Layer.load_own_variables", _SAVING),
    ("layers/layer.py", "Layer._check_load_own_variables", _SAVING),
    ("layers/layer.py", "Layer.stateless_call", "a call without state, which no model makes"),
)
"""The end of a file's name, a function, and why no trial runs it."""
_WRONG = "refuses what no well-formed model asks for"


def file_reached(file: str, statements: Iterable[Statement], lines: Collection[int]) -> FileReached:
    """What `lines` are of a file's statements. One ran that has a line among them."""
    ran = 0
    missed: list[MissedStatement] = []
    aside: Counter[str] = Counter()
    for each in statements:
        if any(line in lines for line in range(each.first, each.last + 1)):
            ran += 1
        elif reason := _why_not(file, each):
            aside[reason] += 1
        else:
            missed.append(MissedStatement(each.first, each.function, each.text))
    return FileReached(file, ran + len(missed), ran, tuple(missed), dict(aside))


def _why_not(file: str, statement: Statement) -> str:
    within = f"{statement.function}."
    for end, function, why in OUT_OF_REACH:
        if file.endswith(end) and within.startswith(f"{function}."):
            return why
    return _WRONG if statement.text.startswith("raise ") else ""
