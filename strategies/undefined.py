"""Models whose correct clone is undefined, each with the line of Keras that shows it."""

from __future__ import annotations

from clonediff.strategies.program import Apply, Nest, Program, instructions


def why_undefined(program: Program) -> str:
    """Why the clone of a program's model is undefined, or ""."""
    preparations = {preparation.does for preparation in program.preparations}
    steps = list(instructions(program.body))
    kinds = {step.kind for step in steps if isinstance(step, Apply)}
    # tf_keras/src/layers/preprocessing/index_lookup.py:926 raises: the output shape changes after the first call.
    lookups = (step for step in program.body if isinstance(step, Apply) and "Lookup" in step.kind)
    if "adapt" in preparations and any("output_mode" in dict(lookup.arguments) for lookup in lookups):
        return "the output width of a lookup that learned its vocabulary after its first call"
    # keras/src/layers/normalization/spectral_normalization.py:69 draws random numbers of the dtype of the kernel.
    if "quantize" in preparations and "SpectralNormalization" in kinds:
        return "a SpectralNormalization around a kernel that is quantized"
    arguments = program.clone_arguments.split()
    # keras/src/models/cloning.py: "In a Sequential model, layers aren't called at model-construction time".
    if "call_function" in arguments and program.sequential:
        return "the calls of a Sequential"
    # "input_tensors: optional list of input tensors" (tf_keras/src/models/cloning.py): not a nested list.
    if "listed" in arguments and (program.generation != "keras" or len(program.inputs) > 1 or program.takes != "plain"):
        return "input tensors in a nested list"
    # keras/src/ops/operation.py:24: an input without a name gets the next automatic name.
    if {"fresh", "listed", "layers"} & {*arguments} and any(spec.name is None for spec in program.inputs):
        return "the names of inputs that replace inputs without a name"
    if "recursive" in arguments and not any(isinstance(step, Nest) for step in steps):
        return "recursion without a nested model"
    return ""
