"""The process that builds, clones and compares models in Keras 2.2.4."""

import json
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import numpy as np

REPAIRS = {
    # Keras does not save the mask function of a Lambda in its config.
    "layer_map[layer] = new_layer": "vars(new_layer).update({k: v for k, v in vars(layer).items() if 'mask' in k}); "
    "layer_map[layer] = new_layer",
    # A layer with several outputs may return one mask for all, or None: `zip` dropped all outputs but the first.
    "# Update tensor_map.": "output_masks *= len(output_tensors) if len(output_masks) == 1 else 1",
}
"""Repairs of `clone_model`, by the line to replace. Keras 2.2.5 has the second one."""


class Keras224:
    """Keras 2.2.4 with its `clone_model` and a repaired or proposed one."""

    def __init__(self, *proposal: str) -> None:
        """Import Keras. A proposal's code runs in a copy of `keras.models`."""
        import v1_mode  # isort: skip
        import keras

        self.tf, self.keras = v1_mode.tf, keras
        text = repaired = Path(keras.models.__file__).read_text(encoding="utf-8")
        for old, new in REPAIRS.items():
            repaired = repaired.replace(old, new)
        self.cloners = {"proposal": (text, *proposal)} if proposal else {"upstream": (text,), "repaired": (repaired,)}

    def try_source(self, source: str) -> dict[str, Any]:
        """Why Keras refuses a model, or how its clones differ from it."""
        self.keras.backend.clear_session()
        config = self.tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.rewrite_options.disable_meta_optimizer = True  # takes longer than it saves
        self.keras.backend.set_session(self.tf.Session(config=config))
        try:
            namespace: dict[str, Any] = {}
            exec(compile(source, "<model>", "exec"), namespace)
            model = namespace["model"]
            random = np.random.RandomState(0)
            model.set_weights([random.normal(size=array.shape) for array in model.get_weights()])
            steps = np.array([[[1], [1], [0]], [[1], [1], [1]]])  # Masking skips the last step of the first example
            inputs = random.randint(0, 4, size=(2, 3, 4)) * steps
            expected = self._run(model, inputs)
        except Exception as error:
            return {"refused": _one_line(error)}
        clones = {name: self._difference(texts, model, inputs, expected) for name, texts in self.cloners.items()}
        return {"clones": clones}

    def _difference(self, texts: tuple[str, ...], model: Any, inputs: Any, expected: dict[str, Any]) -> Any:
        """A clone's first difference, if any: a key for its cause, and a message."""
        try:
            module = types.ModuleType("keras.models")
            module.__package__ = "keras"
            for text in texts:
                exec(compile(text, "keras/models.py", "exec"), vars(module))
            clone = module.clone_model(model)
            if {*map(id, clone.layers + clone.weights)} & {*map(id, model.layers + model.weights)}:
                return "weights: shared", "the clone has layers or weights of the original"
            weights = [[(w.name.rpartition("/")[2], w.shape.as_list()) for w in m.weights] for m in (model, clone)]
            if weights[0] != weights[1]:
                return "weights: others", f"the weights {weights[0]} became {weights[1]}"
            clone.set_weights(model.get_weights())
            results = self._run(clone, inputs)
        except BaseException as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return f"made: {type(error).__name__} in {frame.name}", _one_line(error)
        for name in [*expected, *results]:
            values = [str(arrays[name].tolist() if name in arrays else None) for arrays in (expected, results)]
            if values[0] != values[1]:
                return name.split(" (")[0], f"{name}: {values[0][:100]} became {values[1][:100]}"
        return None

    def _run(self, model: Any, inputs: Any) -> dict[str, Any]:
        """Run a model. Return its outputs, and its layers' masks, by name."""
        tensors: dict[str, Any] = {}
        for node in [node for depth in sorted(model._nodes_by_depth)[::-1] for node in model._nodes_by_depth[depth]]:
            layer, masks = node.outbound_layer, enumerate(node.output_masks)
            name = f"mask that a {type(layer).__name__} gives ({layer.name}, output"
            tensors |= {f"{name} {number})": mask for number, mask in masks if mask is not None}
        tensors |= {f"output (number {number})": tensor for number, tensor in enumerate(model.outputs)}
        return dict(self.keras.backend.get_session().run(tensors, {model.inputs[0]: inputs}))


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


if __name__ == "__main__":
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # code that prints must not break the protocol
    release = Keras224(*sys.argv[1:])
    print("ready", file=output, flush=True)
    for line in sys.stdin:
        print(json.dumps(release.try_source(json.loads(line))), file=output, flush=True)
