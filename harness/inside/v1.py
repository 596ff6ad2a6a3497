"""Keras 2.2 on a TensorFlow of today, in v1 mode: the names that it imports, given back. No behaviour is changed.

The lines are kept as text, since a script that shows a bug in this mode has to begin with them.
"""

from __future__ import annotations

LINES = """\
# Keras 2.2 on the TensorFlow of today: its v1 mode, and names that Keras 2.2 imports, where they were then.
import collections
import collections.abc
import sys

sys.modules["keras"] = None  # TensorFlow imports the Keras that it finds, and this one is not for it
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import ops, tensor
from tensorflow.python.ops import cond, control_flow_case, control_flow_ops, while_loop

del sys.modules["keras"]
tf.disable_v2_behavior()
sys.modules["tensorflow"] = tf
for name in ("Callable", "Iterable", "Mapping", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
ops._TensorLike, ops.is_dense_tensor_like = tensor.Tensor, lambda x: isinstance(x, (tensor.Tensor, tf.Variable))
control_flow_ops.cond, control_flow_ops.case = cond.cond, control_flow_case.case
control_flow_ops.while_loop = while_loop.while_loop
"""


def give_names_back() -> None:
    """Do what the lines say, before Keras is imported."""
    exec(compile(LINES, "<v1 mode>", "exec"), {"__name__": "v1"})  # noqa: S102 - one text for us and for scripts
