"""Which statements of Keras' own cloning code trials ran, and which ones no trial can run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from clonediff.harness.subjects.outcomes import Statement
from clonediff.reports.records import FileReached, MissedStatement


class OutOfReach(NamedTuple):
    """Why no trial runs a function of a file, or what of it stands from a statement like `first` to one like `last`.

    Without a `last`, each statement like `first` is meant.
    """

    file: str
    function: str
    why: str
    first: str = ""
    last: str = ""


_NNX = "with JAX's NNX only"
_OLD = "reads a config that Keras 2 wrote"
_HDF5 = "writes the config for an HDF5 file"
_QUANTIZING = "quantizing"
_SAVING = "weights that are saved or loaded on their own"
_STATELESS = "in a scope without state, as JAX trains"
_SEVERAL = "a Sequential called on several tensors, of which Keras' merging layers cannot tell the shape there"
_WRONG = "refuses what no well-formed model asks for"
_ERROR = "makes an error for those who raise it"
OUT_OF_REACH = (
    OutOfReach("models/functional.py", "deserialize_node.convert_revived_tensor", _OLD),
    OutOfReach("models/functional.py", "deserialize_node", _OLD, "input_tensors = []", "return [unpack_singleton("),
    OutOfReach("models/functional.py", "functional_from_config.process_layer", _OLD, "layer = saving_utils."),
    OutOfReach("models/functional.py", "Functional.get_config", _HDF5, "serialize_obj_fn = legacy_serialization."),
    OutOfReach("models/functional.py", "Functional._standardize_inputs", _WRONG, "raise_exception = True"),
    OutOfReach("models/sequential.py", "Sequential._is_layer_name_unique", _WRONG, "return False"),
    OutOfReach("models/sequential.py", "Sequential.call", _SEVERAL, "for layer in self.layers:", "return outputs"),
    OutOfReach("models/sequential.py", "Sequential.compute_output_spec", _SEVERAL, "for layer", "return outputs"),
    OutOfReach("models/sequential.py", "Sequential.from_config", _OLD, "layer = saving_utils."),
    OutOfReach("models/sequential.py", "Sequential.get_config", _HDF5, "serialize_fn = legacy_serialization."),
    OutOfReach("models/sequential.py", "Sequential.pop", "a layer taken away once the model is made"),
    OutOfReach("ops/function.py", "Function.__init__", _NNX, "self._setup_nnx_op_mapping()"),
    OutOfReach("ops/function.py", "Function._setup_nnx_op_mapping", _NNX),
    OutOfReach("ops/function.py", "Function._get_operation_for_node", _NNX),
    OutOfReach("ops/function.py", "Function.call", "a Functional has a call of its own"),
    OutOfReach("ops/function.py", "Function._assert_input_compatibility", "a Functional has a check of its own"),
    OutOfReach("layers/layer.py", "Layer.__new__.quantize_wrapper", _QUANTIZING),
    OutOfReach("layers/layer.py", "Layer.quantize", _QUANTIZING),
    OutOfReach("layers/layer.py", "Layer.quantized_build", _QUANTIZING),
    OutOfReach("layers/layer.py", "Layer.quantized_call", _QUANTIZING),
    OutOfReach("layers/layer.py", "Layer._check_quantize_args", _QUANTIZING),
    OutOfReach("layers/layer.py", "Layer._quantization_mode_error", _QUANTIZING),
    OutOfReach("layers/layer.py", "Layer._not_implemented_error", _ERROR),
    OutOfReach("layers/layer.py", "Layer.save_own_variables", _SAVING),
    OutOfReach("layers/layer.py", "Layer.load_own_variables", _SAVING),
    OutOfReach("layers/layer.py", "Layer._check_load_own_variables", _SAVING),
    OutOfReach("layers/layer.py", "Layer.stateless_call", "a call without state, which no model makes"),
    OutOfReach("layers/layer.py", "Layer.add_loss", _STATELESS, "scope = ", "self._loss_ids.add("),
    OutOfReach("layers/layer.py", "Layer._get_own_losses", _STATELESS, "losses = []", "return losses"),
    OutOfReach("layers/layer.py", "Layer._get_regularization_losses", _STATELESS, "v = backend.get_stateless_scope()"),
    OutOfReach("layers/layer.py", "Layer._clear_losses", _STATELESS, "scope", "scope.losses[:] = ["),
    OutOfReach("layers/layer.py", "get_arguments_dict", "called by nothing"),
)
"""What no trial can run, and why. The first that says so counts."""


def file_reached(file: str, statements: Sequence[Statement], lines: Collection[int]) -> FileReached:
    """What `lines` are of a file's statements. One ran that has a line among them."""
    ran = 0
    missed: list[MissedStatement] = []
    aside: Counter[str] = Counter()
    reasons = _reasons(file, statements)
    for number, each in enumerate(statements):
        if any(line in lines for line in range(each.first, each.last + 1)):
            ran += 1
        elif number in reasons:
            aside[reasons[number]] += 1
        elif each.refuses:
            aside[_WRONG] += 1
        else:
            missed.append(MissedStatement(each.first, each.function, each.text))
    return FileReached(file, ran + len(missed), ran, tuple(missed), dict(aside))


def _reasons(file: str, statements: Sequence[Statement]) -> dict[int, str]:
    """Why statements are out of reach, by their number."""
    found: dict[int, str] = {}
    for one in (one for one in OUT_OF_REACH if file.endswith(one.file)):
        within = [
            number for number, each in enumerate(statements) if f"{each.function}.".startswith(f"{one.function}.")
        ]
        for number in _part(within, [statements[number].text for number in within], one):
            found.setdefault(number, one.why)
    return found


def _part(numbers: Sequence[int], texts: Sequence[str], one: OutOfReach) -> Sequence[int]:
    """Of the statements of a function those from the first to the last that is meant; none where one is not there."""
    if not one.first:
        return numbers
    begins = next((at for at, text in enumerate(texts) if text.startswith(one.first)), None)
    if begins is None:
        return ()
    if not one.last:
        return [number for number, text in zip(numbers, texts, strict=True) if text.startswith(one.first)]
    ends = next((at for at in range(begins, len(texts)) if texts[at].startswith(one.last)), None)
    return () if ends is None else numbers[begins : ends + 1]
