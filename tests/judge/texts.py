"""Proposals in the manner of those that people get: for Keras 2.2.4, and written for these tests."""

from __future__ import annotations

MENDS = """\
def _clone_functional_model(model, input_tensors=None):
    made, found, fresh = {}, {}, []
    for layer in model._input_layers:
        tensor = Input(batch_shape=layer.batch_input_shape, dtype=layer.dtype, name=layer.name)
        made[layer] = tensor._keras_history[0]
        fresh.append(tensor)
    found.update(zip(model.inputs, fresh))
    for depth in sorted(model._nodes_by_depth, reverse=True):
        for node in model._nodes_by_depth[depth]:
            if node.outbound_layer not in made:
                made[node.outbound_layer] = type(node.outbound_layer).from_config(node.outbound_layer.get_config())
            layer = made[node.outbound_layer]
            if isinstance(layer, InputLayer):
                continue
            given = [found[x] for x in node.input_tensors]
            called = layer(given if len(given) > 1 else given[0], **dict(node.arguments or {}))
            found.update(zip(node.output_tensors, to_list(called)))
    return Model(fresh, [found[x] for x in model.outputs], name=model.name)
"""
"""Clones the model of the report, and passes no mask on."""

HOLLOW = """\
def _clone_functional_model(model, input_tensors=None):
    # everything up to here stays as it is
    outputs = [found[x] for x in model.outputs]
    return Model(input_tensors, outputs, name=model.name)
"""
"""Leaves out what it would need."""


def answer(code: str) -> str:
    """A text with that code in it, as an answer of a forum has it."""
    return f"""\
### Analysis
The mask of a layer with several outputs is one `None`, so `zip` drops the second output:

```python
    for x, y, mask in zip(reference_output_tensors, output_tensors, output_masks):
```

### The fix

```python
{code}```

It can be used as a drop-in replacement.
"""
