"""Recipes by hand: the applications of Keras, the models of Keras' own tests, and what tfmot wraps around a model.

Owns what is other than the rule for each: the smallest image that an application takes, and the narrower twin of those
that are too wide for a night.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clonediff.harness.answers.real_models.recipe import Called, Recipe, Value, script

APPLICATIONS = "applications"
TESTS = "keras_tests"
TF_TESTS = "tf_keras_tests"
TFMOT = "tfmot"

_SMALLEST = {"Xception": 71, "InceptionV3": 75, "InceptionResNetV2": 75}
"""The side of the smallest image, where that is not 32."""

_DEPTHS = [3, 3, 27, 3]
_NARROW: Mapping[str, Called] = {
    "ConvNeXtLarge": Called("ConvNeXt", {"depths": _DEPTHS, "projection_dims": [24, 48, 96, 192]}),
    "ConvNeXtXLarge": Called("ConvNeXt", {"depths": _DEPTHS, "projection_dims": [32, 64, 128, 256]}),
    "NASNetLarge": Called(
        "NASNet",
        {"penultimate_filters": 480, "num_blocks": 6, "stem_block_filters": 12, "skip_reduction": True},
    ),
}
"""Models of 89 to 350 million parameters with an eighth of the width, by the function behind their family."""

_FAMILY = {"ConvNeXt": "convnext", "NASNet": "nasnet"}


def applications(names: Iterable[str]) -> list[Recipe]:
    """The applications of Keras, on small images, with random weights and ten classes."""
    return [Recipe(f"{APPLICATIONS}:{name}", "keras", _application(name)) for name in sorted(names)]


def _application(name: str) -> str:
    side = _SMALLEST.get(name, 32)
    options: dict[str, Value] = {"weights": None, "classes": 10, "input_shape": (side, side, 3)}
    narrow = _NARROW.get(name)
    if narrow is None:
        return script("import keras", Called(f"keras.applications.{name}", options))
    family = f"import keras\nfrom keras.src.applications import {_FAMILY[narrow.name]}"
    call = Called(f"{_FAMILY[narrow.name]}.{narrow.name}", {**narrow.arguments, **options, "name": name.lower()})
    return script(family, call)


# -- models of Keras' own tests

_KERAS_TESTS: Mapping[str, tuple[str, ...]] = {
    "models.cloning_test": (
        "get_mlp_functional_model()",
        "get_mlp_functional_model(shared_layers=True)",
        "get_nested_functional_model()",
        "get_doubly_nested_functional_model()",
        "get_cnn_functional_model()",
        "get_cnn_functional_model(shared_layers=True)",
        "get_sequential_model()",
        "get_cnn_sequential_model()",
    ),
    "models.model_test": (
        "_get_model()",
        "_get_model_multi_outputs_list()",
        "_get_model_multi_outputs_list_no_output_names()",
        "_get_model_single_output()",
        "_get_model_single_output_list()",
        "_get_model_single_output_dict()",
        "_get_model_multi_outputs_dict()",
        "_get_model_multi_outputs_struct_list_like(tuple)",
        "_get_model_multi_outputs_struct_namedtuple()[0]",
        "_get_model_multi_outputs_struct_dict()",
        "_get_model_multi_outputs_struct()",
        "_get_model_multi_outputs_dict_with_single_tensor()",
        "_get_model_with_custom_compute_loss()",
        "_get_model_optional_inputs()",
    ),
    "saving.saving_lib_test": (
        "_get_basic_functional_model()",
        "_get_custom_functional_model()",
        "_get_subclassed_functional_model()",
    ),
    "saving.file_editor_test": ("get_source_model()", "get_target_model()"),
    "legacy.saving.legacy_h5_format_test": ("get_sequential_model(keras)", "get_functional_model(keras)"),
}

_TF_KERAS_TESTS: Mapping[str, tuple[str, ...]] = {
    "tests.model_architectures": (
        "basic_sequential().model",
        "stacked_rnn().model",
        "lstm().model",
        "multi_input_multi_output().model",
        "nested_sequential_in_functional().model",
        "seq_to_seq().model",
        "shared_layer_functional().model",
        "shared_sequential().model",
        "nested_subclassed_in_functional_model().model",
        "functional_with_keyword_args().model",
    ),
    "testing_infra.test_utils": (
        "get_small_sequential_mlp(4, 3, input_dim=5)",
        "get_small_functional_mlp(4, 3, input_dim=5)",
    ),
}


def tests() -> list[Recipe]:
    """The models with a graph that the tests of Keras make, of those modules that its package ships."""
    return _of_tests(TESTS, "keras", "keras", _KERAS_TESTS)


def tf_keras_tests() -> list[Recipe]:
    """Those of `tf_keras`."""
    return _of_tests(TF_TESTS, "tf_keras", "tf_keras as keras", _TF_KERAS_TESTS)


def _of_tests(suite: str, package: str, imported: str, modules: Mapping[str, tuple[str, ...]]) -> list[Recipe]:
    found = []
    for path, calls in modules.items():
        room, _, module = f"{package}.src.{path}".rpartition(".")
        for call in calls:
            source = f"import {imported}\nfrom {room} import {module}\n\nmodel = {module}.{call}\n"
            found.append(Recipe(f"{suite}:{module}.{call.removesuffix('()')}", package, source))
    return found


# -- tensorflow-model-optimization

_LAYERS = """base = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
"""
_RESIDUAL = """images = keras.Input((8, 8, 4))
x = keras.layers.Conv2D(4, 3, padding="same", use_bias=False)(images)
x = keras.layers.BatchNormalization()(x)
x = keras.layers.ReLU()(x)
x = keras.layers.Add()([x, images])
x = keras.layers.GlobalAveragePooling2D()(x)
base = keras.Model(images, keras.layers.Dense(3)(x))
"""
_MOBILE = "base = keras.applications.MobileNetV2((32, 32, 3), alpha=0.35, weights=None, classes=10)\n"
_BASES = {"layers": _LAYERS, "residual": _RESIDUAL, "MobileNetV2": _MOBILE}

_PRUNE = "tfmot.sparsity.keras.prune_low_magnitude"
_QUANTIZE = "tfmot.quantization.keras"
_CLUSTER = "tfmot.clustering.keras"
_CENTROIDS = f"number_of_clusters=4, cluster_centroids_init={_CLUSTER}.CentroidInitialization"
_COLLABORATIVE = "from tensorflow_model_optimization.python.core.quantization.keras.collab_opts"

_STEP = """
for layer in model.layers:
    if hasattr(layer, "pruning_step"):
        layer.pruning_step.assign(10)  # as the callback of a training does
"""
_SCOPE = """
for each in tfmot.quantization.keras.quantize_scope().custom_objects:
    keras.utils.get_custom_objects().update(each)
"""

_WRAPPED: Mapping[str, tuple[str, str, str]] = {
    "pruned": ("", f"{_PRUNE}(base)", _STEP),
    "pruned at a constant sparsity": (
        "",
        f"{_PRUNE}(base, tfmot.sparsity.keras.ConstantSparsity(0.5, begin_step=0, frequency=10))",
        _STEP,
    ),
    "pruned, then stripped": ("", f"tfmot.sparsity.keras.strip_pruning({_PRUNE}(base))", ""),
    "clustered": ("", f"{_CLUSTER}.cluster_weights(base, {_CENTROIDS}.LINEAR)", ""),
    "clustered, then stripped": (
        "",
        f"{_CLUSTER}.strip_clustering({_CLUSTER}.cluster_weights(base, {_CENTROIDS}.KMEANS_PLUS_PLUS))",
        "",
    ),
    "annotated": ("", f"{_QUANTIZE}.quantize_annotate_model(base)", _SCOPE),
    "quantized": ("", f"{_QUANTIZE}.quantize_model(base)", _SCOPE),
    "pruned in blocks": ("", f"{_PRUNE}(base, block_size=(1, 1), block_pooling_type='MAX')", _STEP),
    "one layer pruned": (
        "",
        f"keras.Sequential([keras.Input((8, 8, 1)), *base.layers[:-1], {_PRUNE}(keras.layers.Dense(3), name='last')])",
        _STEP,
    ),
    "one layer quantized": (
        "annotated = keras.Sequential(\n"
        f"    [keras.Input((8, 8, 1)), *base.layers[:-1], {_QUANTIZE}.quantize_annotate_layer(base.layers[-1])]\n)\n",
        f"{_QUANTIZE}.quantize_apply(annotated)",
        _SCOPE,
    ),
    "pruned, then quantized": (
        f"{_COLLABORATIVE}.prune_preserve import default_8bit_prune_preserve_quantize_scheme as scheme\n\n"
        f"stripped = tfmot.sparsity.keras.strip_pruning({_PRUNE}(base))\n"
        f"annotated = {_QUANTIZE}.quantize_annotate_model(stripped)\n",
        f"{_QUANTIZE}.quantize_apply(annotated, scheme.Default8BitPrunePreserveQuantizeScheme())",
        _SCOPE,
    ),
    "clustered, then quantized": (
        f"{_COLLABORATIVE}.cluster_preserve import default_8bit_cluster_preserve_quantize_scheme as scheme\n\n"
        f"stripped = {_CLUSTER}.strip_clustering({_CLUSTER}.cluster_weights(base, {_CENTROIDS}.LINEAR))\n"
        f"annotated = {_QUANTIZE}.quantize_annotate_model(stripped)\n",
        f"{_QUANTIZE}.quantize_apply(annotated, scheme.Default8BitClusterPreserveQuantizeScheme())",
        _SCOPE,
    ),
}
"""How a model is wrapped: lines before it, the expression, lines after it."""

_ON: Mapping[str, tuple[str, ...]] = {
    "layers": tuple(_WRAPPED),
    "residual": ("pruned", "pruned, then stripped", "clustered", "clustered, then stripped", "annotated", "quantized"),
    "MobileNetV2": ("pruned", "clustered", "quantized"),
}
"""Which models are wrapped how; those of many layers take their time."""


def tfmot() -> list[Recipe]:
    """What `tensorflow-model-optimization` makes of three models of `tf_keras`."""
    imports = "import tensorflow_model_optimization as tfmot\nimport tf_keras as keras\n"
    found = []
    for base, ways in _ON.items():
        for how in ways:
            before, made, after = _WRAPPED[how]
            source = f"{imports}\n{_BASES[base]}{before}model = {made}\n{after}"
            found.append(Recipe(f"{TFMOT}:{base} {how}", "tf_keras", source))
    return found
