"""Proposed fixes for keras#12202, like those in forums and pull requests."""

from __future__ import annotations

CORRECT_FIX = """\
def _clone_functional_model(model, input_tensors=None):
    layers, tensors = {}, {}
    for layer, old in zip(model._input_layers, model.inputs):
        new = Input(batch_shape=layer.batch_input_shape, dtype=layer.dtype, name=layer.name)
        layers[layer], tensors[old] = new._keras_history[0], new
    for depth in sorted(model._nodes_by_depth, reverse=True):
        for node in model._nodes_by_depth[depth]:
            old = node.outbound_layer
            if isinstance(old, InputLayer):
                continue
            if old not in layers:
                layers[old] = type(old).from_config(old.get_config())
            operands = [tensors[tensor] for tensor in node.input_tensors]
            results = layers[old](operands if len(operands) > 1 else operands[0], **(node.arguments or {}))
            tensors.update(zip(node.output_tensors, to_list(results)))
    return Model([tensors[old] for old in model.inputs], [tensors[old] for old in model.outputs], name=model.name)
"""
"""A correct fix: it lets Keras compute the masks. `Lambda` still loses its mask function."""

CONFUSED_TENSORS = CORRECT_FIX.replace("= new._keras_history[0], new", "= new, new").replace(
    "if isinstance(old, InputLayer):", "if 0:"
)
"""Confuses the tensor of an input with its layer, and calls it."""

UNDEFINED_NAMES = """\
def _clone_functional_model(model, input_tensors=None):
    # a comment that the diff must not change
    return Model(input_tensors, [tensors[old] for old in model.outputs], name=model.name)
"""
NO_MASK_FIX = CORRECT_FIX.replace("node.arguments or {}", "{'mask': None} if has_arg(layers[old].call, 'mask') else {}")
"""Fixes the reported model, but the layers of a clone get no masks."""

SHARED_MODEL = "def clone_model(model, input_tensors=None):\n    return model\n"
CLEARS_THE_TERMINAL = 'def clone_model(model, input_tensors=None):\n    raise ValueError("\\x1b[2J")\n'
HANGS_ON_THREE_LAYERS = SHARED_MODEL.replace("    return", "    while len(model.layers) > 2:\n        pass\n    return")
ENDS_ON_THREE_LAYERS = HANGS_ON_THREE_LAYERS.replace("pass", "__import__('os')._exit(3)")
ANSWER = """\
The mask is one `None`, so `zip` drops the second output:
```python
    for x, y, mask in zip(reference_output_tensors, output_tensors, output_masks):
```
The corrected function, which can be used as it is:
```python
{}```
"""
"""A text that contains code, like an answer in a forum."""
