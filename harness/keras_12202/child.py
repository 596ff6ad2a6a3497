"""What runs beside Keras 2.2.4, by its path: it builds models, clones and compares. Lines of JSON in and out."""

import ctypes
import json
import os
import signal
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np

REPAIRS = {
    # The config of a Lambda lacks its mask function.
    "layer_map[layer] = new_layer": "vars(new_layer).update({k: v for k, v in vars(layer).items() if 'mask' in k}); "
    "layer_map[layer] = new_layer",
    # A layer with several outputs may give one mask for all, or None: `zip` dropped the outputs after the first.
    "# Update tensor_map.": "output_masks *= len(output_tensors) if len(output_masks) == 1 else 1",
}
"""What the repaired clone has in place of lines of Keras 2.2.4. Keras 2.2.5 has the second in other words."""


def models_of(text: str) -> Any:
    """A module like `keras.models`, made of that text."""
    module = types.ModuleType("keras.models")
    module.__package__ = "keras"
    exec(compile(text, "keras/models.py", "exec"), vars(module))
    return module


class Keras224:
    """Keras 2.2.4 in this process, with its own clone_model and a repaired one, or with a proposed one."""

    def __init__(self, proposal: str | None) -> None:
        """Import Keras; a proposal goes into a copy of `keras.models`."""
        import v1_mode  # isort: skip
        import keras

        self.tf = v1_mode.tf
        self.keras: Any = keras
        with open(keras.models.__file__, encoding="utf-8") as file:
            text = repaired = file.read()
        for old, new in REPAIRS.items():
            repaired = repaired.replace(old, new)
        self.cloners = {"upstream": keras.models.clone_model, "repaired": models_of(repaired).clone_model}
        if proposal is not None:
            models = models_of(text)
            exec(compile(proposal, "<proposal>", "exec"), vars(models))
            self.cloners = {"proposal": models.clone_model}

    def try_source(self, source: str) -> dict[str, Any]:
        """Why Keras refuses a model, or how its clones differ from it."""
        self.keras.backend.clear_session()
        config = self.tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.rewrite_options.disable_meta_optimizer = True  # it takes longer than the graph
        self.keras.backend.set_session(self.tf.Session(config=config))
        try:
            namespace: dict[str, Any] = {}
            exec(compile(source, "<model>", "exec"), namespace)
            model = namespace["model"]
            random = np.random.RandomState(0)
            model.set_weights([random.normal(size=array.shape) for array in model.get_weights()])
            steps = np.array([[[1], [1], [0]], [[1], [1], [1]]])  # Masking leaves out the last of the first example
            inputs = [random.randint(0, 4, size=(2, 3, 4)) * steps for _ in model.inputs]
            expected = self._run(model, inputs)
        except Exception as error:
            return {"refused": _in_a_line(error)}
        return {"clones": {name: self._difference(f, model, inputs, expected) for name, f in self.cloners.items()}}

    def _difference(
        self, clone_model: Callable[[Any], Any], model: Any, inputs: list[Any], expected: dict[str, Any]
    ) -> tuple[str, str] | None:
        """The first difference of a clone, from which the others follow: a key, the same for one cause, and a text."""
        try:
            clone = clone_model(model)
            if {*map(id, clone.layers + clone.weights)} & {*map(id, model.layers + model.weights)}:
                return "weights: shared", "the clone has layers or weights of the original"
            if _weights(clone) != _weights(model):
                return "weights: others", f"the weights {_weights(model)} became {_weights(clone)}"
            clone.set_weights(model.get_weights())
            results = self._run(clone, inputs)
        except BaseException as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return f"made: {type(error).__name__} in {frame.name}", _in_a_line(error)
        for place in [*expected, *results]:
            text = _unlike(expected.get(place), results.get(place))
            if text:
                return place.split(" of ")[0], f"{place}: {text}"
        return None

    def _run(self, model: Any, inputs: list[Any]) -> dict[str, Any]:
        """The masks of all layers of a model, each called once, then its outputs, as arrays."""
        tensors = {}
        for depth in sorted(model._nodes_by_depth, reverse=True):
            for node in model._nodes_by_depth[depth]:
                layer = node.outbound_layer
                for number, mask in enumerate(node.output_masks):
                    if mask is not None:
                        tensors[f"mask that a {type(layer).__name__} gives of {layer.name}, output {number}"] = mask
        tensors |= {f"output of the model, number {number}": tensor for number, tensor in enumerate(model.outputs)}
        return dict(self.keras.backend.get_session().run(tensors, dict(zip(model.inputs, inputs, strict=True))))


def _weights(model: Any) -> list[Any]:
    return [(w.name.split("/")[-1], w.shape.as_list(), w.dtype.base_dtype.name) for w in model.weights]


def _unlike(original: Any, clone: Any) -> str:
    """How two arrays differ, "" where they do not; None is an array that is not there."""
    if original is None or clone is None:
        return "the clone has none" if clone is None else "only the clone has one"
    same = original.dtype == clone.dtype and np.array_equal(original, clone, equal_nan=True)
    return "" if same else f"{original.dtype}{original.shape} became {clone.dtype}{clone.shape} with other values"


def _in_a_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def main() -> None:
    """Answer each line with a line, first one with a proposal or null. What code prints goes to standard error."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # end with the parent
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    keras: Keras224 | None = None
    for line in sys.stdin:
        try:
            if keras is None:
                keras = Keras224(json.loads(line)["proposal"])
                answer: dict[str, Any] = {"versions": [keras.keras.__version__, keras.tf.__version__]}
            else:
                answer = keras.try_source(json.loads(line)["source"])
        except BaseException as error:
            answer = {"refused": _in_a_line(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
