"""Uses of clones, and of loaded models, from reports of users."""

from __future__ import annotations

import concurrent.futures
import gc
import pickle

import numpy as np
import pytest

from clonediff import clone_model
from tests.fixed.generations import KERAS, for_generations, load

BATCH = np.ones((2, 3), "float32")


@for_generations
def test_a_clone_with_another_input_can_be_saved_renamed_and_trained(generation, tmp_path):
    package, model = KERAS[generation], load(generation).arguments.dense_model()
    clone = clone_model(model, input_tensors=package.Input((3,), name="other"), weights=True)
    clone.save(tmp_path / "clone.keras")
    assert np.array_equal(package.models.load_model(tmp_path / "clone.keras")(BATCH), model(BATCH))
    for layer in clone.layers[1:]:
        setattr(layer, "name" if generation == "keras" else "_name", f"new_{layer.name}")
    clone.compile("sgd", "mse")
    clone.fit(BATCH, np.zeros((2, 2)), verbose=0)
    assert [clone.layers[-1].name, model.layers[-1].name] == ["new_dense", "dense"]
    assert not np.array_equal(clone(BATCH), model(BATCH))


@pytest.mark.parametrize("custom", [False, True])
def test_a_model_loaded_from_a_savedmodel_is_cloned(custom, tmp_path):
    package, models = KERAS["tf_keras"], load("tf_keras")
    layer = models.uses.WithoutOptions(2) if custom else package.layers.Dense(2)
    model = package.Sequential([package.Input((3,)), layer])
    model.save(tmp_path / "model", save_format="tf")
    loaded = package.models.load_model(tmp_path / "model")
    clone = clone_model(loaded, weights=True)
    assert np.array_equal(clone(BATCH), model(BATCH))
    clone.set_weights([weight * 2.0 for weight in clone.get_weights()])
    assert np.array_equal(loaded(BATCH), model(BATCH))


@for_generations
def test_cloning_in_a_loop_leaks_no_layers(generation):
    package, model = KERAS[generation], load(generation).graphs.nested()

    def count():
        clone_model(model, weights=True)
        gc.collect()
        return sum(isinstance(kept, package.layers.Layer) for kept in gc.get_objects())

    assert count() == count() == count()


@for_generations
def test_clones_can_be_pickled_and_made_in_threads(generation):
    model = load(generation).graphs.nested()
    model.compile("sgd", "mse")
    arrays = [np.ones([size or 2 for size in tensor.shape], "float32") for tensor in model.inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        clones = list(threads.map(lambda _: clone_model(model, weights=True), range(8)))
    clones.append(pickle.loads(pickle.dumps(clones[0])))
    expected = np.asarray(model(arrays))
    assert all(np.array_equal(clone(arrays), expected) for clone in clones)
    assert len({id(variable) for clone in clones for variable in clone.variables}) == 9 * len(model.variables)
    clones[0].fit(arrays, expected * 2.0, verbose=0)
    assert np.array_equal(model(arrays), expected)
