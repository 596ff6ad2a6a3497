"""What follows from what, case by case: how a difference explains another one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from clonediff.harness.trials.checks.roots import roots
from clonediff.reports.records import Difference, Place, Raised, Severity

from .making import altered, chain, gives, layer, observed


def test_a_gradient_that_is_summed_in_another_order_follows_from_the_order_of_calls() -> None:
    calls = Difference("structure", "p", "call order", "0, 1", "1, 0", Severity.PROPERTY, Place("dense_1", "Dense", 1))
    for number, follows in ((1, True), (2, False)):
        first = Place(f"dense_{number}", "Dense", number)
        gradient = Difference("training", "trained.gradients[0]", "gradient value", "a", "b", Severity.TRAINS, first)
        found = roots(chain("Dense", "Dense"), [calls, gradient])
        assert found == ([(calls, [gradient])] if follows else [(calls, []), (gradient, [])])


@pytest.mark.parametrize(
    ("kind", "aspect", "causes"),
    [
        *(("Normalization", "shape", 1), ("Normalization", "value", 2), ("Dense", "shape", 2)),
        *(("Minimum", "raises", 1), ("Dense", "raises", 2)),
    ],
)
def test_what_is_built_for_its_first_call_fails_otherwise_where_another_call_is_the_first(
    kind: str, aspect: str, causes: int
) -> None:
    place = Place("x_1", kind, 1)
    calls = Difference("structure", "p", "call order", "0, 1", "1, 0", Severity.PROPERTY, place)
    path = "inference.steps['x_1'][1].outputs[0]"
    given = Difference("outputs", path, aspect, "[2, 1, 2]", "[1, 1, 2, 1, 2]", Severity.COMPUTES, place)
    assert len(roots(chain(kind), [given, calls])) == causes


@pytest.mark.parametrize(("lost", "causes"), [("config.sparse", 1), ("config.optional", 2)])
def test_what_an_operation_makes_of_a_sparse_input_is_sparse_as_long_as_that_is(lost: str, causes: int) -> None:
    of_input = Difference("structure", "p", lost, "True", "False", Severity.COMPUTES, Place("input", "InputLayer", 0))
    end = Place("divide", "Divide", 1)
    given = Difference("structure", "outputs[0].sparse", "output sparse", "true", "false", Severity.PROPERTY, end)
    assert len(roots(chain("Divide"), [given, of_input])) == causes


def test_what_cannot_be_called_as_a_regularizer_was_lost_in_a_config() -> None:
    place = Place("dense_1", "Dense", 1)
    lost = Difference("structure", "p", "config.kernel_regularizer", "L2", "'l2'", Severity.TRAINS, place)
    frame = "tf_keras/src/engine/base_layer.py:_loss_for_variable"
    said = "TypeError: 'str' object is not callable"
    fails = Difference("outputs", "inference", "raises", "it runs", said, Severity.CRASHES, place)
    fails = replace(fails, raised=Raised("TypeError", said, frame))
    assert roots(chain("Dense"), [lost, fails]) == [(lost, [fails])]
    other = replace(fails, raised=Raised("TypeError", said, "tf_keras/src/engine/base_layer.py:call"))
    assert len(roots(chain("Dense"), [lost, other])) == 2
    of_what_it_gives = replace(lost, aspect="config.activity_regularizer")
    assert len(roots(chain("Dense"), [of_what_it_gives, fails])) == 2


@pytest.mark.parametrize("lost", ["attribute.autocast", "attribute.dtype_policy", "config.dtype"])
@pytest.mark.parametrize(
    ("argument", "value", "follows"), [("training", "false", True), ("mask", "null", True), ("mask", "true", False)]
)
def test_where_nothing_is_cast_any_more_some_arguments_are_written_down(
    argument: str, value: str, follows: bool, lost: str
) -> None:
    """`Layer.__call__` of Keras 3 notes it in the arguments it was given, and of what it casts it makes others."""
    cast = Difference("structure", "p", lost, "one", "another", Severity.PROPERTY, Place("dense_1", "Dense", 1))
    path = f"layers['dense_2'].calls[0].kwargs['{argument}']"
    noted = Difference(
        "structure", path, "call.kwargs extra", "nothing", value, Severity.PROPERTY, Place("d", "Dense", 2)
    )
    found = roots(chain("Dense", "Dense"), [noted, cast])
    assert ((cast, [noted]) in found) is follows


@pytest.mark.parametrize("lost", ["attribute.autocast", "attribute.dtype_policy"])
def test_a_layer_that_casts_what_it_is_given_gives_another_dtype(lost: str) -> None:
    cast = Difference("structure", "p", lost, "False", "True", Severity.PROPERTY, Place("flatten", "Flatten", 1))
    end = Place("flatten", "Flatten", 1)
    given = Difference("structure", "outputs[0].dtype", "output dtype", "float64", "float32", Severity.PROPERTY, end)
    assert roots(chain("Flatten"), [given, cast]) == [(cast, [given])]


@pytest.mark.parametrize(("frozen", "causes"), [([3], 1), ([0, 1, 2, 3], 1), ([0], 2), ([], 2)])
def test_a_model_that_is_not_frozen_lists_its_weights_in_another_order(frozen: list[int], causes: int) -> None:
    """Before Keras 3, those that are trained come first; what stands otherwise in the original has another cause."""
    original = altered(chain("Dense", "Dense"), *((f"shape.weights.{each}.trainable", False) for each in frozen))
    model = Difference("structure", "p", "trainable", "False", "True", Severity.TRAINS, Place("dense_2", "Dense", 2))
    moved = Difference("weights", "weights", "weight order", "[0, 1, 2, 3]", "[0, 2, 1, 3]", Severity.PROPERTY)
    assert len(roots(original, [moved, model])) == causes


@pytest.mark.parametrize(
    ("calling", "aspect", "causes"), [("f", "config.mask", 1), ("", "config.mask", 2), ("f", "name", 2)]
)
def test_a_layer_that_is_called_on_something_else_may_warn_of_it(calling: str, aspect: str, causes: int) -> None:
    severity = Severity.NAME if aspect == "name" else Severity.PROPERTY
    lost = Difference("structure", "p", aspect, "one", "another", severity, Place("dense_1", "Dense", 1))
    warning = Raised("UserWarning", "no mask", "keras/src/layers/layer.py:__call__", calling)
    place = Place("dense_2", "Dense", 2)
    warns = Difference("warned", "warned[0]", "raises", "none", "one", Severity.PROPERTY, place, raised=warning)
    assert len(roots(chain("Dense", "Dense"), [warns, lost])) == causes


@pytest.mark.parametrize(("layer", "causes"), [(1, 1), (2, 2)])
def test_a_layer_that_is_no_longer_quantized_lists_its_weights_in_another_order(layer: int, causes: int) -> None:
    place = Place("dense_1", "Dense", 1)
    policy = Difference("structure", "p", "config.dtype", "int8", "float32", Severity.COMPUTES, place)
    first = Place(f"dense_{layer}", "Dense", layer)
    moved = Difference("weights", "weights", "weight order", "[0, 1]", "[1, 0]", Severity.COMPUTES, first)
    assert len(roots(chain("Dense", "Dense"), [moved, policy])) == causes


def test_a_weight_of_another_dtype_holds_another_value_once_it_is_set() -> None:
    place = Place("dense_1", "Dense", 1)
    dtype = Difference("weights", "weights[0].dtype", "weight dtype", "float32", "float64", Severity.PROPERTY, place)
    value = Difference("weights", "weights[0].copied", "copied value", "one", "another", Severity.PROPERTY, place)
    assert roots(chain("Dense"), [value, dtype]) == [(dtype, [value])]


@pytest.mark.parametrize("broken", ["asked again", "not what it gave"])
@pytest.mark.parametrize("shows", ["value", "output count", "raises"])
def test_what_a_clone_function_is_asked_otherwise_shows_in_what_the_clone_computes(broken: str, shows: str) -> None:
    place = Place("dense_1", "Dense", 1)
    asked = Difference("functions", "layers['dense_1']", broken, "once", "twice", Severity.TRAINS, place)
    model = Place("model", "Functional", container=True)
    computed = Difference("functions", "by_hand.outputs[0]", shows, "one", "another", Severity.COMPUTES, model)
    assert roots(chain("Dense"), [computed, asked]) == [(asked, [computed])]


@pytest.mark.parametrize(("check", "causes"), [("untouched", 1), ("structure", 2)])
def test_calls_of_the_original_on_an_input_that_is_another_follow_from_that(check: str, causes: int) -> None:
    """Of a clone, they tell how it is wired."""
    first = Place("input", "InputLayer", 0)
    of_input = Difference(check, "inputs[0].tensor", "input tensor", "[0, 0, 0]", "[1, 0, 0]", Severity.COMPUTES, first)
    path, place = "layers['dense_1'].calls[0].args[0]", Place("dense_1", "Dense", 1)
    called = Difference(check, path, "call.args value", "1", "2", Severity.PROPERTY, place)
    assert len(roots(chain("Dense", "Dense"), [called, of_input])) == causes


@pytest.mark.parametrize(
    ("inside", "name", "causes"), [(1, "mirror/dense", 1), (-1, "dense", 2)], ids=["within it", "beside it"]
)
def test_the_config_of_what_holds_a_layer_has_what_that_of_the_layer_has(inside: int, name: str, causes: int) -> None:
    layers = [layer("input", "InputLayer", 0), layer("mirror", "Mirror", 1), layer("dense", "Dense", 2, inside=inside)]
    dense, mirror = Place(name, "Dense", 2), Place("mirror", "Mirror", 1, container=True)
    lost = Difference("structure", "p", "config.bias_regularizer", "own", "'own'", Severity.TRAINS, dense)
    held = Difference("structure", "q", "config.layer", "a", "b", Severity.PROPERTY, mirror)
    assert len(roots(observed(layers, outputs=[1]), [held, lost])) == causes


@pytest.mark.parametrize("other", ["attribute.compute_dtype", "attribute.autocast"])
def test_that_a_layer_takes_no_masks_any_more_follows_from_nothing_else_that_it_holds(other: str) -> None:
    place = Place("dense_1", "Dense", 1)
    lost = Difference("structure", "p", other, "one", "another", Severity.PROPERTY, place)
    masks = Difference("structure", "q", "attribute.supports_masking", "True", "False", Severity.PROPERTY, place)
    assert len(roots(chain("Dense"), [lost, masks])) == 2


def test_another_tensor_explains_that_layers_come_in_another_order() -> None:
    """An operation that is called on a tensor further up has another depth, by which layers are sorted."""
    ends = [layer("input", "InputLayer", 0), layer("d", "Dense", 1, gives([0, 0, 0]))]
    original = observed(
        [*ends, layer("e", "Dense", 2, gives([1, 0, 0])), layer("f", "Dense", 3, gives([2, 0, 0]))], [3]
    )
    other = Difference(
        "structure", "p", "call.args tensor", "d#0.0", "input#0.0", Severity.PROPERTY, Place("e", "Dense", 2)
    )
    order = Difference(
        "structure", "model.layers", "layer order", "x", "y", Severity.PROPERTY, Place("m", "Model", -1, container=True)
    )
    assert roots(original, [order, other]) == [(other, [order])]


def test_weights_cannot_be_set_since_one_is_missing_and_not_since_calls_changed_places() -> None:
    first = Place("dense_1", "Dense", 1)
    calls = Difference("structure", "p", "call order", "0, 1", "1, 0", Severity.PROPERTY, first)
    missing = Difference("weights", "weights[2]", "weight missing", "x", "nothing", Severity.COMPUTES, first)
    raised = Difference("weights", "set_weights", "raises", "4 weights", "3 weights", Severity.CRASHES)
    found = roots(chain("Dense", "Dense"), [calls, missing, raised])
    assert found == [(calls, []), (missing, [raised])]
