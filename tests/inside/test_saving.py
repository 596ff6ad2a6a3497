"""Two saved models: whether what comes of loading one comes of loading the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import pytest
import tf_keras

from clonediff import clone_model
from clonediff.harness.inside.description import Description
from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.observer import Observer
from clonediff.harness.inside.saving import SavedModel, SavedModels


def nested(library: Any) -> Any:
    """A model with inputs that have no name of their own, a nested one, a Sequential, and a layer that is shared."""
    kind = library.layers
    inside = library.Input((4,))
    inner = library.Model(inside, kind.Dense(3, name="dense")(inside), name="inner")
    x = library.Input((4,))
    sequential = library.Sequential([kind.Dense(4), kind.BatchNormalization()])
    shared = kind.Dense(3, name="shared")
    return library.Model(x, [kind.Add()([inner(sequential(x)), shared(x)]), shared(sequential(x))])


def saved(model: Any, folder: Path, generation: str = "keras") -> SavedModel:
    observer = Observer(framework(generation), 0)
    found = SavedModel(Description(model, observer), str(folder), observer)
    assert found.told == {}
    return found


def pair(library: Any, cloner: Callable[[Any], Any]) -> tuple[Any, Any]:
    model = nested(library)
    clone = cloner(model)
    clone.set_weights(model.get_weights())
    return model, clone


@pytest.mark.parametrize("library", [keras, tf_keras], ids=["keras", "tf_keras"])
@pytest.mark.parametrize("ours", [True, False], ids=["fixed", "upstream"])
def test_a_clone_with_other_names_is_saved_as_the_same_model(library: Any, ours: bool, tmp_path: Path) -> None:
    model, clone = pair(library, clone_model if ours else library.models.clone_model)
    generation = library.__name__
    assert saved(clone, tmp_path, generation).equals(saved(model, tmp_path, generation))


def one_weight(clone: Any) -> None:
    clone.weights[-1].assign(clone.weights[-1] + 1)


def one_setting(clone: Any) -> None:
    clone.get_layer("shared").activation = keras.activations.relu


def two_calls(clone: Any) -> None:
    """The shared layer's two calls in the other order."""
    clone.get_layer("shared")._inbound_nodes.reverse()


def one_name_twice(clone: Any) -> None:
    clone.get_layer("shared").name = clone.get_layer("inner").name


@pytest.mark.parametrize("change", [one_weight, one_setting, two_calls, one_name_twice])
def test_another_model_is_saved_as_another(change: Callable[[Any], None], tmp_path: Path) -> None:
    model, clone = pair(keras, clone_model)
    change(clone)
    assert not saved(clone, tmp_path).equals(saved(model, tmp_path))


def test_what_cannot_be_saved_equals_nothing(tmp_path: Path) -> None:
    model, clone = pair(keras, clone_model)
    clone.get_layer("shared").get_config = None
    observer = Observer(framework("keras"), 0)
    refused = SavedModel(Description(clone, observer), str(tmp_path), observer)
    assert {*refused.told} == {"saving"}
    assert not refused.equals(saved(model, tmp_path))
    assert not refused.equals(refused)


def test_what_was_loaded_is_loaded_anew_once_the_framework_has_forgotten_it(tmp_path: Path) -> None:
    observer = Observer(framework("keras"), 0)
    model, files = Description(nested(keras), observer), SavedModels(observer)
    files.save(model, str(tmp_path), [], None, {})

    def loaded() -> tuple[Any, Any]:
        found = files.loaded(model, {})
        assert found is not None
        return found[0], found[1][0].model

    before = loaded()
    assert loaded() == before
    files.load_again()
    assert all(one is not other for one, other in zip(loaded(), before, strict=True))
