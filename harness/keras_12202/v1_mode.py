"""Prepares TensorFlow 2 for Keras 2.2.4: v1 mode, and names that Keras imports."""

import collections.abc
import sys

sys.modules["keras"] = None  # type: ignore[assignment]  # TensorFlow must not import it
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.framework import ops, tensor  # noqa: E402
from tensorflow.python.ops import cond, control_flow_case, control_flow_ops, while_loop  # noqa: E402

del sys.modules["keras"]
tf.disable_v2_behavior()
sys.modules["tensorflow"] = tf
for name in ("Callable", "Iterable", "Mapping", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
ops._TensorLike = tensor.Tensor
ops.is_dense_tensor_like = lambda x: isinstance(x, (tensor.Tensor, tf.Variable))
control_flow_ops.cond, control_flow_ops.case = cond.cond, control_flow_case.case
control_flow_ops.while_loop = while_loop.while_loop
