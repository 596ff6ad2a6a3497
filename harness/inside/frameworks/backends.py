"""The backends of Keras 3, one of them that of `tf_keras` too: tensors as arrays, and randomness."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np


def load_backend(name: str) -> Backend:
    return {"tensorflow": TensorFlow, "jax": Jax, "torch": Torch}.get(name, Backend)()


class Backend:
    """NumPy, and whatever gives arrays when asked to."""

    name = "numpy"
    version = str(np.__version__)
    process_wide: Sequence[tuple[Any, str]] = ()
    """The objects, and their attributes, that hold the backend's own generator."""
    draws_at_large = False
    """Whether Keras itself draws from the backend's own generator, and not from states of its layers alone."""

    def repeat_kernels(self) -> None:
        """Have the same kernel do the same arithmetic each time, in full precision. For a process of our own only."""

    def devices(self) -> list[str]:
        """The devices at hand: "cpu:0", "gpu:0", ..."""
        return ["cpu:0"]

    def reseed(self, seed: int) -> None:
        """Let the backend's own generator begin anew."""

    def forget_kernels(self) -> None:
        """Drop what the backend has cached. Costs time, and is asked for now and then only."""

    def tensor(self, array: Any) -> Any:
        return importlib.import_module("keras").ops.convert_to_tensor(array.copy())

    def concrete(self, value: Any) -> bool:
        """Whether it is a tensor with numbers in it."""
        return isinstance(value, (np.ndarray, np.generic))

    def array(self, tensor: Any) -> Any:
        return np.asarray(tensor)

    def write(self, value: Any, array: Any) -> bool:
        """Give what is behind a variable an array of its own shape and dtype; False where that is not for us to do."""
        return False


class TensorFlow(Backend):
    name = "tensorflow"

    def __init__(self) -> None:
        source: Any = importlib.import_module
        self.tf: Any = source("tensorflow")
        self.version = str(self.tf.__version__)
        self._context: Any = source("tensorflow.python.eager.context")
        self.process_wide = [(self._context.context(), name) for name in ("_seed", "_rng")]
        self._eager: Any = source("tensorflow.python.framework.ops").EagerTensor
        self._resources: Any = source("tensorflow.python.ops.gen_resource_variable_ops")
        self._resource: Any = source("tensorflow.python.ops.resource_variable_ops").ResourceVariable

    def devices(self) -> list[str]:
        return [device.name.split("device:")[-1].lower() for device in self.tf.config.list_logical_devices()]

    def reseed(self, seed: int) -> None:
        # Clears the cache of kernels, so that the next calls are several times as slow.
        self.tf.random.set_seed(seed)

    def forget_kernels(self) -> None:
        self.tf.compat.v1.reset_default_graph()
        self._context.context().clear_kernel_cache()

    def tensor(self, array: Any) -> Any:
        return self.tf.convert_to_tensor(array)

    def concrete(self, value: Any) -> bool:
        return isinstance(value, self._eager)

    def array(self, tensor: Any) -> Any:
        if type(tensor) is self._resource:
            # What its own methods do, less scopes and copies of tensors: a third of the time, thousands of times.
            tensor = self._resources.read_variable_op(tensor.handle, tensor.dtype)
        # `numpy` would copy the numbers, and a tensor never changes: a variable that is written to gets other memory.
        return np.asarray(tensor.__array__())

    def write(self, value: Any, array: Any) -> bool:
        if type(value) is not self._resource or value.dtype.as_numpy_dtype != array.dtype.type:
            return False
        if value.shape.rank is None or value.shape.as_list() != list(array.shape):
            return False
        self._resources.assign_variable_op(value.handle, self.tf.convert_to_tensor(array))
        return True


class Jax(Backend):
    name = "jax"

    def __init__(self) -> None:
        self.jax: Any = importlib.import_module("jax")
        self.version = str(self.jax.__version__)

    def devices(self) -> list[str]:
        # Some releases call the platform by the vendor's name.
        kinds = {"cuda": "gpu", "rocm": "gpu"}
        platforms = [(device.platform.lower(), device.id) for device in self.jax.devices()]
        names = [f"{kinds.get(platform, platform)}:{number}" for platform, number in platforms]
        return names if "cpu:0" in names else ["cpu:0", *names]

    def concrete(self, value: Any) -> bool:
        return isinstance(value, self.jax.Array) and not isinstance(value, self.jax.core.Tracer)


class Torch(Backend):
    name = "torch"
    # Dropout that carries no seed is torch's own, which takes none. To seed its generator costs next to nothing.
    draws_at_large = True

    def __init__(self) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.version = str(self.torch.__version__)

    def repeat_kernels(self) -> None:
        if self.torch.cuda.is_available():
            # What has no deterministic kernel warns, and is seen as a difference if it makes one.
            self.torch.use_deterministic_algorithms(True, warn_only=True)
            self.torch.backends.cudnn.benchmark = False
            self.torch.backends.cudnn.allow_tf32 = False
            self.torch.backends.cuda.matmul.allow_tf32 = False

    def devices(self) -> list[str]:
        return ["cpu:0", *(f"gpu:{number}" for number in range(self.torch.cuda.device_count()))]

    def reseed(self, seed: int) -> None:
        self.torch.manual_seed(seed)

    def concrete(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor) and value.device.type != "meta"

    def write(self, value: Any, array: Any) -> bool:
        if value.shape != array.shape:
            return False
        # `assign` would refuse a weight to which its initializer gave another shape than it declares.
        value.data.copy_(self.tensor(array))
        return True

    def array(self, tensor: Any) -> Any:
        tensor = tensor.detach().cpu()
        if tensor.dtype == self.torch.bfloat16:
            # NumPy has it from ml_dtypes, which Keras brings; the name is then that of every other backend.
            bfloat16 = importlib.import_module("ml_dtypes").bfloat16
            return tensor.contiguous().view(self.torch.int16).numpy().view(bfloat16).copy()
        # torch shares its memory with the array, and a variable is written in place.
        return tensor.numpy().copy()
