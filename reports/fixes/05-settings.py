"""A clone gets the settings of its layer that configs omit.

These are its `trainable` flag and the flags of the layers inside it, its dtype
policy, autocast, support of masks, remat mode, and automatic config.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = ["frozen-attention", "frozen-conv-lstm", "layer-autocast", "spatial-dropout-policy"]
# [definitions]
# "keras/src/models/cloning.py" = ["_copy_settings", "_copy_own_settings"]
# ///

import copy

from keras.src.dtype_policies import DTypePolicyMap


def _copy_settings(layer, clone):
    """Copies the settings of a layer and of the layers inside it."""
    layers, clones = layer._flatten_layers(), clone._flatten_layers()
    if [type(x) for x in layers] != [type(x) for x in clones]:
        layers, clones = [layer], [clone]  # not built yet
    for old, new in zip(layers, clones):
        _copy_own_settings(old, new)


def _copy_own_settings(old, new):
    """Copies the settings of one layer, but not through its setters."""
    new._trainable = old._trainable
    new._supports_masking = old._supports_masking
    new._remat_mode = old._remat_mode
    new.autocast = old.autocast
    new.name = old.name
    new._auto_config = copy.deepcopy(getattr(old, "_auto_config", None))
    is_map = isinstance(old._dtype_policy, DTypePolicyMap)
    if old.quantization_mode == new.quantization_mode and not is_map:
        new._dtype_policy = old._dtype_policy
    variables = old._trainable_variables, new._trainable_variables
    if len(variables[0]) == len(variables[1]):
        for variable, new_variable in zip(*variables):
            new_variable.trainable = variable.trainable
