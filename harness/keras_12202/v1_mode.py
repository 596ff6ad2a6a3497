"""To import before Keras 2.2.4: the v1 mode of TensorFlow, and what Keras imports, where it was in 2018."""

import collections.abc
import sys

sys.modules["keras"] = None  # type: ignore[assignment]  # TensorFlow must not import this one
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
