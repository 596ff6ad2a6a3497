"""keras#12202 as reported. `clonediff fuzz --subject keras==2.2.4` prints the PYTHONPATH to run it."""

import v1_mode  # noqa: F401 - before Keras
from keras.layers import Add, Input, Lambda
from keras.models import Model
from keras.utils import multi_gpu_model, multi_gpu_utils

multi_gpu_utils._get_available_devices = lambda: ["/cpu:0", "/gpu:0", "/gpu:1"]

inputs = Input(shape=(1,))
model = Model(inputs, Add()(Lambda(lambda x: [x, x])(inputs)))
multi_gpu_model(model, gpus=2, cpu_relocation=True)
