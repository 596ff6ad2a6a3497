"""Cases in which the right clone is undefined, each with where Keras says so. What cannot be done is none of them."""

from __future__ import annotations

from clonediff.strategies.program import Apply, Nest, Program, instructions, kinds


def why_undefined(program: Program) -> str:
    """Why the clone of a program's model is undefined; "" where it is defined."""
    done = {preparation.does for preparation in program.preparations}
    # tf_keras/src/layers/preprocessing/index_lookup.py:926 refuses it: the layer had another shape before.
    lookups = (step for step in program.body if isinstance(step, Apply) and "Lookup" in step.kind)
    if "adapt" in done and any("output_mode" in dict(lookup.arguments) for lookup in lookups):
        return "the width of what a lookup gives that has learned its vocabulary after it was called"
    # keras/src/layers/normalization/spectral_normalization.py:69 draws random numbers of the dtype of the kernel.
    if "quantize" in done and "SpectralNormalization" in kinds(program):
        return "a SpectralNormalization around a kernel that is quantized"
    arguments = program.clone_arguments.split()
    # keras/src/models/cloning.py: "In a Sequential model, layers aren't called at model-construction time".
    if "call_function" in arguments and program.sequential:
        return "the calls of a Sequential"
    # "input_tensors: optional list of input tensors" (tf_keras/src/models/cloning.py): no list in one.
    if "listed" in arguments and (program.generation != "keras" or len(program.inputs) > 1 or program.takes != "plain"):
        return "inputs in a list of their own"
    if "recursive" in arguments and not any(isinstance(step, Nest) for step in instructions(program.body)):
        return "recursion without a model in the model"
    return ""
