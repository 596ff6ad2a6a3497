"""The backends of Keras: conversion between tensors and arrays, and random generators."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np


def load_backend(name: str) -> Backend:
    return {"tensorflow": TensorFlow, "jax": Jax, "torch": Torch}.get(name, Backend)()


class Backend:
    """The NumPy backend, and the defaults for other backends."""

    name = "numpy"
    version = str(np.__version__)
    global_state: Sequence[tuple[Any, str]] = ()
    """The objects and attributes that hold the backend's own generator."""
    uses_own_generator = False
    """Whether Keras also draws from the backend's own generator, as for a layer without a seed."""

    def make_deterministic(self) -> None:
        """Make kernels deterministic and precise. For child processes."""

    def devices(self) -> list[str]:
        """The available devices: "cpu:0", "gpu:0", ..."""
        return ["cpu:0"]

    def reseed(self, seed: int) -> None:
        """Seed the backend's own generator."""

    def clear_kernel_cache(self) -> None:
        """Clear the kernel cache of the backend, which is slow."""

    def tensor(self, array: Any) -> Any:
        return importlib.import_module("keras").ops.convert_to_tensor(array.copy())

    def is_concrete(self, value: Any) -> bool:
        """Whether a value is a tensor with numbers, not a symbolic one."""
        return isinstance(value, (np.ndarray, np.generic))

    def array(self, tensor: Any) -> Any:
        return np.asarray(tensor)

    def write(self, value: Any, array: Any) -> bool:
        """Write an array to a variable if shape and dtype fit; return whether they do."""
        return False


class TensorFlow(Backend):
    name = "tensorflow"

    def __init__(self) -> None:
        load: Any = importlib.import_module
        self.tf: Any = load("tensorflow")
        self.version = str(self.tf.__version__)
        self._context: Any = load("tensorflow.python.eager.context")
        self.global_state = [(self._context.context(), name) for name in ("_seed", "_rng")]
        self._eager_class: Any = load("tensorflow.python.framework.ops").EagerTensor
        self._resource_ops: Any = load("tensorflow.python.ops.gen_resource_variable_ops")
        self._resource_class: Any = load("tensorflow.python.ops.resource_variable_ops").ResourceVariable

    def devices(self) -> list[str]:
        return [device.name.split("device:")[-1].lower() for device in self.tf.config.list_logical_devices()]

    def reseed(self, seed: int) -> None:
        # This clears the kernel cache: for a while, calls are several times slower.
        self.tf.random.set_seed(seed)

    def clear_kernel_cache(self) -> None:
        self.tf.compat.v1.reset_default_graph()
        self._context.context().clear_kernel_cache()

    def tensor(self, array: Any) -> Any:
        return self.tf.convert_to_tensor(array)

    def is_concrete(self, value: Any) -> bool:
        return isinstance(value, self._eager_class)

    def array(self, tensor: Any) -> Any:
        if type(tensor) is self._resource_class:
            # Methods of a variable take three times as long.
            tensor = self._resource_ops.read_variable_op(tensor.handle, tensor.dtype)
        # `numpy()` would copy numbers that never change: a write allocates new memory.
        return np.asarray(tensor.__array__())

    def write(self, value: Any, array: Any) -> bool:
        if type(value) is not self._resource_class or value.dtype.as_numpy_dtype != array.dtype.type:
            return False
        if value.shape.rank is None or value.shape.as_list() != list(array.shape):
            return False
        self._resource_ops.assign_variable_op(value.handle, self.tf.convert_to_tensor(array))
        return True


class Jax(Backend):
    name = "jax"

    def __init__(self) -> None:
        self.jax: Any = importlib.import_module("jax")
        self.version = str(self.jax.__version__)

    def devices(self) -> list[str]:
        # Some releases of JAX name the platform after the GPU's vendor.
        device_types = {"cuda": "gpu", "rocm": "gpu"}
        platforms = [(device.platform.lower(), device.id) for device in self.jax.devices()]
        names = [f"{device_types.get(platform, platform)}:{number}" for platform, number in platforms]
        return names if "cpu:0" in names else ["cpu:0", *names]

    def is_concrete(self, value: Any) -> bool:
        return isinstance(value, self.jax.Array) and not isinstance(value, self.jax.core.Tracer)


class Torch(Backend):
    name = "torch"
    # If a layer has no seed, Keras uses torch's dropout. Seeding torch is fast.
    uses_own_generator = True

    def __init__(self) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.version = str(self.torch.__version__)

    def make_deterministic(self) -> None:
        if self.torch.cuda.is_available():
            # `warn_only`: an operation without a deterministic kernel still runs.
            self.torch.use_deterministic_algorithms(True, warn_only=True)
            self.torch.backends.cudnn.benchmark = False
            self.torch.backends.cudnn.allow_tf32 = False
            self.torch.backends.cuda.matmul.allow_tf32 = False

    def devices(self) -> list[str]:
        return ["cpu:0", *(f"gpu:{number}" for number in range(self.torch.cuda.device_count()))]

    def reseed(self, seed: int) -> None:
        self.torch.manual_seed(seed)

    def is_concrete(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor) and value.device.type != "meta"

    def write(self, value: Any, array: Any) -> bool:
        if value.shape != array.shape:
            return False
        # `assign` would refuse a value of another shape, as from an initializer.
        value.data.copy_(self.tensor(array))
        return True

    def array(self, tensor: Any) -> Any:
        tensor = tensor.detach().cpu()
        if tensor.dtype == self.torch.bfloat16:
            # The dtype of ml_dtypes has the same name on every backend.
            bfloat16 = importlib.import_module("ml_dtypes").bfloat16
            return tensor.contiguous().view(self.torch.int16).numpy().view(bfloat16).copy()
        # The array would share its memory with the variable.
        return tensor.numpy().copy()
