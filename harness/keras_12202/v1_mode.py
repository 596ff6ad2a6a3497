"""Keras 2.2.4 on the TensorFlow of today: its v1 mode, and the names that Keras imports, where they were in 2018.

Import this before `keras`. No behaviour is changed. The file lies beside Keras, in the folder where it is installed.
"""

import collections
import collections.abc
import sys
from typing import Any

modules: Any = sys.modules
modules["keras"] = None  # TensorFlow imports the Keras that it finds, and must not find this one.
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.framework import ops, tensor  # noqa: E402
from tensorflow.python.ops import cond, control_flow_case, control_flow_ops, while_loop  # noqa: E402

del modules["keras"]
tf.disable_v2_behavior()
modules["tensorflow"] = tf
for name in ("Callable", "Iterable", "Mapping", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
ops._TensorLike = tensor.Tensor
ops.is_dense_tensor_like = lambda x: isinstance(x, (tensor.Tensor, tf.Variable))
control_flow_ops.cond = cond.cond
control_flow_ops.case = control_flow_case.case
control_flow_ops.while_loop = while_loop.while_loop
