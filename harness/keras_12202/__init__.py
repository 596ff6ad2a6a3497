"""keras#12202, the bug that clonediff began with, in the release that has it: Keras 2.2.4 on the TensorFlow of today.

Keras 2.2.4 cannot clone a model in which a `Lambda` without a mask has several outputs.
"""

RELEASE = "keras==2.2.4"
