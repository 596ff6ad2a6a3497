"""The paths of a clone are those of its model.

A path is that of the scope in which a layer was built, and a clone is built in
another.
"""

# /// clonediff
# generation = "keras"
# root = "paths and names"
# mends = []
# [places]
# "keras/src/models/cloning.py" = ["_copy_settings", "_copy_paths"]
# ///

from keras.src.models.cloning import _copy_own_settings


def _copy_settings(layer, clone):
    """Copies what is set on a layer, and on the layers inside it."""
    layers, clones = layer._flatten_layers(), clone._flatten_layers()
    if [type(x) for x in layers] != [type(x) for x in clones]:
        layers, clones = [layer], [clone]  # it is not built yet
    for old, new in zip(layers, clones):
        _copy_own_settings(old, new)
        if new.built:
            new._path = old._path
    _copy_paths(layer.variables, clone.variables)


def _copy_paths(variables, new_variables):
    """Names variables as those in their places, where these are alike."""
    shapes = [(variable.shape, variable.dtype) for variable in variables]
    if shapes == [(x.shape, x.dtype) for x in new_variables]:
        for old, new in zip(variables, new_variables):
            new._name, new._path = old._name, old._path
