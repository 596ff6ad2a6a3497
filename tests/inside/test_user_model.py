"""What the child says of a model that somebody brought."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import h5py  # type: ignore[import-untyped]  # it comes without types
import keras
import pytest
from keras import layers

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.user_model import (
    LARGEST_CONFIG,
    checked_model,
    code_in,
    described,
    searched,
    vocabularies,
)


def seen(model: Any) -> dict[str, Any]:
    return described(model, framework("keras"), suited=False)


def vocabulary_of(model: Any) -> dict[str, int | None]:
    return {each["name"]: each["vocabulary"] for each in seen(model)["inputs"]}


def test_inputs_are_told_in_the_order_of_the_model() -> None:
    inputs = {"b": keras.Input((3,), name="b"), "a": keras.Input((None, 2), dtype="int32", name="a", batch_size=4)}
    model = keras.Model(inputs, [layers.Dense(1)(inputs["b"]), layers.Flatten()(inputs["a"])])
    told = seen(model)
    assert [(each["name"], each["shape"], each["dtype"]) for each in told["inputs"]] == [
        ("a", [4, None, 2], "int32"),
        ("b", [None, 3], "float32"),
    ]
    assert (told["kind"], told["is_model"], told["is_graph"], told["parameters"]) == ("Functional", True, True, 4)


def test_a_vocabulary_reaches_back_through_layers_to_its_input_only() -> None:
    ids, other = keras.Input((4,), dtype="int32", name="ids"), keras.Input((2,), dtype="int32", name="other")
    looked = layers.GlobalAveragePooling1D()(layers.Embedding(7, 3)(layers.Reshape((-1,))(ids)))
    model = keras.Model([ids, other], layers.Concatenate()([looked, other]))
    assert vocabulary_of(model) == {"ids": 7, "other": None}


def test_the_smallest_vocabulary_counts() -> None:
    ids = keras.Input((4,), name="ids")
    model = keras.Model(ids, layers.Add()([layers.Embedding(9, 3)(ids), layers.Embedding(5, 3)(ids)]))
    assert vocabulary_of(model) == {"ids": 5}


def test_a_vocabulary_is_seen_in_a_nested_model_and_in_a_wrapper() -> None:
    inner = keras.Sequential([keras.Input((4,)), layers.Embedding(6, 2)])
    ids, steps = keras.Input((4,), name="ids"), keras.Input((2, 4), name="steps")
    model = keras.Model([ids, steps], [inner(ids), layers.TimeDistributed(layers.Embedding(8, 2))(steps)])
    assert vocabulary_of(model) == {"ids": 6, "steps": 8}


def test_what_comes_out_of_a_vocabulary_is_not_looked_up_in_the_next() -> None:
    chain = [{"kind": "InputLayer", "inside": -1}]
    chain += [{"kind": "Embedding", "inside": -1, "calls": [_call(before)]} for before in (0, 1)]
    assert vocabularies(chain, [None, 9, 3]) == {0: 9}


def _call(layer: int) -> dict[str, Any]:
    return {"args": [{"tensor": [layer, 0, 0]}], "kwargs": {}}


class Sub(keras.Model):
    def call(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("made", "is_model", "is_graph"),
    [
        pytest.param(lambda: None, False, False, id="nothing"),
        pytest.param(lambda: layers.Dense(2), False, False, id="layer"),
        pytest.param(Sub, True, False, id="subclassed"),
        pytest.param(lambda: keras.Sequential([layers.Dense(2)]), True, True, id="unbuilt"),
    ],
)
def test_what_has_no_inputs_says_what_it_is(made: Any, is_model: bool, is_graph: bool) -> None:
    told = seen(made())
    assert (told["is_model"], told["is_graph"], "inputs" in told) == (is_model, is_graph, False)


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_code_in_a_file_is_told_before_it_is_loaded(name: str, tmp_path: Path) -> None:
    x = keras.Input((2,))
    path = str(tmp_path / name)
    keras.Model(x, layers.Lambda(lambda t: t * 2, name="double")(layers.Dense(2)(x))).save(path)
    assert code_in(path) == ["the layer 'double'"]
    marker = tmp_path / "ran"
    source = f"open({str(marker)!r}, 'w').close()\nmodel = None\n"
    refused = {"code": ["the layer 'double'"], "unread": ""}
    assert checked_model({"source": source, "file": path}, framework("keras")) == refused
    assert not marker.exists()
    allowed = checked_model({"source": source, "file": path, "unsafe": True}, framework("keras"))
    assert allowed["kind"] == "NoneType"
    assert marker.exists()


def test_code_nested_deep_in_a_config_is_found(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    function = {"class_name": "__lambda__", "config": {"code": "4wEAAA"}}
    layer = {"class_name": "Lambda", "config": {"name": "inner", "function": function}}
    config = {"class_name": "TimeDistributed", "config": {"name": "outer", "layer": layer}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps({"config": {"layers": [config]}}))
    assert code_in(str(path)) == ["the layer 'inner'"]


CODE = {"class_name": "Lambda", "config": {"name": "hidden", "function_type": "lambda"}}
HARMLESS = {"class_name": "Dense", "config": {"name": "seen"}}


def zipped(path: Path, config: bytes, mode: Literal["w", "a"] = "w") -> None:
    with zipfile.ZipFile(path, mode) as archive:
        archive.writestr("config.json", config)


def after_something_else(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        file.attrs["model_config"] = json.dumps(CODE)


def before_a_zip(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(CODE)
    zipped(path, json.dumps(HARMLESS).encode(), "a")


def in_what_it_is_trained_with(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(HARMLESS)
        file.attrs["training_config"] = json.dumps({"loss": CODE})


def in_another_encoding(path: Path) -> None:
    zipped(path, json.dumps(CODE).encode("utf-16"))


@pytest.mark.parametrize("hide", [after_something_else, before_a_zip, in_what_it_is_trained_with, in_another_encoding])
def test_code_is_found_wherever_a_keras_would_read_it(hide: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "model.h5"
    hide(path)
    assert searched(str(path)) == (["the layer 'hidden'"], "")


UNREAD = {
    "a cut HDF5": b"\x89HDF\r\n\x1a\n cut",
    "no config": {"other.json": b"{}"},
    "no JSON": {"config.json": b"{"},
    "no text": {"config.json": b'{"name": "\xff"}'},
    "too deep": {"config.json": b"[" * 200_000},
    "too long": {"config.json": json.dumps(CODE).encode() + b" " * LARGEST_CONFIG},
}


@pytest.mark.parametrize("content", UNREAD.values(), ids=UNREAD)
def test_a_file_that_cannot_be_searched_is_not_loaded(content: bytes | dict[str, bytes], tmp_path: Path) -> None:
    path, marker = tmp_path / "model.keras", tmp_path / "ran"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    source = f"open({str(marker)!r}, 'w').close()\nmodel = None\n"
    told = checked_model({"source": source, "file": str(path)}, framework("keras"))
    assert (told["code"], bool(told["unread"]), marker.exists()) == ([], True, False)
    checked_model({"source": source, "file": str(path), "unsafe": True}, framework("keras"))
    assert marker.exists()


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut"])
def test_a_file_that_no_keras_reads_holds_no_code(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    path.write_bytes(content)
    assert searched(str(path)) == ([], "")


def test_a_refusal_is_told_with_its_exception() -> None:
    told = checked_model({"source": "raise RuntimeError('no')"}, framework("keras"))
    assert told["refused"]["type"] == "RuntimeError"
