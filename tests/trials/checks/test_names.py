"""A name is compared where it says something."""

from __future__ import annotations

import msgspec
import pytest

from clonediff.harness.subjects.observation import LayerSeen, Observation, Variable
from clonediff.harness.trials.checks.pairing import Pair, pair_layers
from clonediff.harness.trials.checks.structure import structure
from clonediff.harness.trials.checks.weights import weights

from .making import faithful, gives, layer, observed


def _model(inner: str) -> Observation:
    inside: tuple[LayerSeen, ...] = (
        layer(inner, "InputLayer", 2, inside=1),
        layer("dense", "Dense", 3, gives([2, 0, 0]), inside=1),
    )
    return observed([layer("input", "InputLayer", 0), layer("scale", "Sequential", 1, gives([0, 0, 0])), *inside], [1])


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        pytest.param("input_layer_2", "input_layer_3", True, id="of inputs"),
        pytest.param("input_1", "input_2", True, id="of inputs before Keras 3"),
        pytest.param("keras_tensor_2CLONE", "keras_tensor_30CLONE", True, id="of inputs around tensors"),
        pytest.param("keras_tensor_3", "input_layer", False, id="made otherwise"),
        pytest.param("given_1", "given_2", False, id="that somebody chose"),
    ],
)
def test_the_number_in_the_name_of_an_input_says_nothing_in_a_model_made_by_hand(
    expected: str, found: str, same: bool
) -> None:
    original, clone = _model(expected), faithful(_model(found))
    by_hand = msgspec.structs.replace(original, cloned=original.shape)
    assert {each.aspect for each in structure(Pair(by_hand, clone))} == (set() if same else {"name"})
    assert {each.aspect for each in structure(Pair(original, clone))} == {"name"}


def _with(name: str, kind: str, path: str = "") -> Observation:
    one = layer(name, kind, 1, gives([0, 0, 0]))
    if kind != "Cast":
        one = msgspec.structs.replace(one, config={**one.config, "trainable": "True"})
    model = observed([layer("input", "InputLayer", 0), one], [1])
    weights = (Variable(path, 1, (2,), "float32", True, 9),) if path else ()
    return msgspec.structs.replace(model, shape=msgspec.structs.replace(model.shape, weights=weights))


@pytest.mark.parametrize(
    ("name", "kind", "found", "same"),
    [
        pytest.param("cast", "Cast", "cast_1", True, id="of an operation"),
        pytest.param("tf.cast", "TFOpLambda", "tf.cast_1", True, id="of a layer that tf_keras makes of one"),
        pytest.param("multi_head_attention_2", "MultiHeadAttention", "multi_head_attention", True, id="of a layer"),
        pytest.param("model", "Functional", "model_1", True, id="of a model"),
        pytest.param("conv_lst_m2d", "ConvLSTM2D", "conv_lst_m2d_1", True, id="as tf_keras spells it"),
        pytest.param("cast", "Cast", "cost", False, id="another name"),
        pytest.param("part_1", "Dense", "part_2", False, id="that somebody chose"),
        pytest.param("dense_1", "Dense", "dense_1_copy", False, id="that a function made of it"),
    ],
)
def test_the_number_in_a_name_that_nobody_chose_says_nothing_in_a_model_made_by_hand(
    name: str, kind: str, found: str, same: bool
) -> None:
    original, clone = _with(name, kind), faithful(_with(found, kind))
    by_hand = msgspec.structs.replace(original, cloned=original.shape)
    assert {each.aspect for each in structure(Pair(by_hand, clone))} == (set() if same else {"name"})
    assert {each.aspect for each in structure(Pair(original, clone))} == {"name"}


@pytest.mark.parametrize(
    ("name", "path", "found", "aspect"),
    [
        ("dense_1", "dense_1/kernel", "dense_2/kernel", ""),
        ("dense_1", "dense_1/seed_generator_2/state", "dense/seed_generator/state", ""),
        ("dense_1", "dense_1/variable", "dense/variable_2", ""),
        ("dense_1", "dense_1/kernel", "outer/dense_1/kernel", "weight scope"),
        ("dense_1", "dense_1/kernel", "dense_1/bias", "weight name"),
        ("dense_1", "dense_1/kernel_1", "dense_1/kernel_2", "weight name"),
        ("part_1", "part_1/kernel", "part_2/kernel", "weight scope"),
    ],
)
def test_nor_does_it_in_the_path_of_a_weight(name: str, path: str, found: str, aspect: str) -> None:
    original, clone = _with(name, "Dense", path), faithful(_with(name, "Dense", found))
    by_hand = msgspec.structs.replace(original, cloned=original.shape)
    assert {each.aspect for each in weights(Pair(by_hand, clone))} == ({aspect} if aspect else set())
    assert weights(Pair(original, clone))


def test_operations_of_a_model_made_by_hand_are_paired_in_their_order_and_layers_by_their_names() -> None:
    """An operation may be numbered as a layer of the same name is, and as another operation was."""
    ends = layer("input", "InputLayer", 0)
    added = layer("add", "Add", 1, gives([0, 0, 0]))
    twice = (layer(name, "Add", ident, gives([1, 0, 0])) for name, ident in (("add_1", 2), ("add_2", 3)))
    first, second = (msgspec.structs.replace(each, config={}) for each in twice)
    expected = observed([ends, added, first, second], [2, 3]).shape
    found = msgspec.structs.replace(expected, layers=(ends, added, second, first))
    assert pair_layers(expected, found, by_hand=True).pairs == ((0, 0), (1, 1), (2, 2), (3, 3))
    assert pair_layers(expected, found).pairs == ((0, 0), (1, 1), (2, 3), (3, 2))
