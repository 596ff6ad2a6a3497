"""An Embedding whose low rank was enabled with an alpha has another alpha in the clone.

keras/src/layers/core/embedding.py:167 enables the rank that a config tells without its alpha.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.16.0"
# fingerprint = "structure-config-lora-alpha-embedding-02614c59"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 6 }]
# [[match]]
# check = "structure"
# aspect = "config.lora_alpha"
# kind = "Embedding"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3,), dtype="int32")
embedding_layer = layers.Embedding(6, output_dim=1)
embedding = embedding_layer(inputs)
model = keras.Model(inputs, embedding)
embedding_layer.enable_lora(rank=1, lora_alpha=3)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("embedding").get_config().get("lora_alpha") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
