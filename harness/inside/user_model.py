"""A model that a user brought: whether its file holds code, what it is, and what it takes.

Said before it is tried, so that inputs can be made that it accepts. Building it is left to a source, as in a trial.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import zipfile
from typing import IO, Any, Callable, Iterator

import numpy as np

from .build import BuiltModel, build, script
from .description import Description
from .failures import failure
from .frameworks.interface import Framework
from .observer import Observer
from .working_inputs import working_inputs

LARGEST_CONFIG = 64 * 1024 * 1024
"""What of a file's description of its model is read in search of code: more than any that was seen by far."""


def checked_model(
    request: dict[str, Any], framework: Framework, keep: Callable[[BuiltModel], None] | None = None
) -> dict[str, Any]:
    """What `ModelDescribed` declares on the wire. `request` has a `source`, and may have the `file` that it loads.

    A model that is as it was built is given to `keep`.
    """
    file = request.get("file")
    code, unread = ([], "") if file is None else searched(file)
    if (code or unread) and not request.get("unsafe"):
        return {"code": code, "unread": unread}
    framework.forget()
    framework.reseed(int(request.get("seed", 0)))
    kept = False
    with contextlib.ExitStack() as scope:
        scope.callback(lambda: None if kept else _forgotten(framework))
        with framework.on(request.get("device")):
            module = scope.enter_context(script(request["source"]))
            try:
                model = build(request["source"], module)
            except Exception as error:  # a file may be anything, and its loading end in anything
                return {"code": code, "refused": failure(error, below="build"), "saved_by": saved_by(file)}
            seen = described(model, framework, suited=True)
        if keep is not None and "refusals" not in seen.get("suited", {}):
            kept = True
            keep(BuiltModel(request, model, module, scope.pop_all()))
        del model
    return dict(seen, code=code)


def _forgotten(framework: Framework) -> None:
    framework.forget()
    # A model that was loaded to be looked at may be as large as the one that is tried after it.
    gc.collect()


def described(model: Any, framework: Framework, *, suited: bool) -> dict[str, Any]:
    """What a model is and takes, and inputs that are `suited` to it, where they are wanted.

    One that is no graph, or not built, has no inputs to tell.
    """
    seen: dict[str, Any] = {"kind": type(model).__name__, "module": type(model).__module__}
    seen["is_model"] = isinstance(model, framework.keras.models.Model)
    seen["is_graph"] = bool(seen["is_model"] and framework.is_graph(model))
    if not seen["is_graph"] or not framework.ends(model)[0]:
        return seen
    description = Description(model, Observer(framework, 0), values=False)
    shape = description.shape
    reach = vocabularies(shape["layers"], [vocabulary(place.layer) for place in description.layers.places])
    seen["inputs"] = [
        {
            "name": end["name"],
            "shape": end["shape"],
            "dtype": end["dtype"],
            "optional": end["optional"],
            "vocabulary": reach.get(end["tensor"][0]),
        }
        for end in shape["inputs"]
    ]
    seen["layers"] = len({layer["ident"] for layer in shape["layers"]})
    seen["parameters"] = sum(int(np.prod(weight["shape"], dtype=np.int64)) for weight in shape["weights"])
    if suited:
        seen["suited"] = working_inputs(description, seen["inputs"], framework)
    return seen


def vocabularies(layers: list[dict[str, Any]], sizes: list[int | None]) -> dict[int, int]:
    """For each input layer, by its place, the smallest vocabulary that its numbers are looked up in.

    Goes backwards from every layer that looks something up to the inputs that reach it, not past another such layer.
    """
    found: dict[int, int] = {}
    for start, size in enumerate(sizes):
        if size is None:
            continue
        waiting, seen = list(_before(start, layers)), {start}
        while waiting:
            number = waiting.pop()
            if number in seen or sizes[number] is not None:
                continue
            seen.add(number)
            if layers[number]["inside"] < 0 and layers[number]["kind"] == "InputLayer":
                found[number] = min(size, found.get(number, size))
            waiting.extend(_before(number, layers))
    return found


def vocabulary(layer: Any) -> int | None:
    """How many numbers from 0 on a layer knows; None where it looks nothing up."""
    names = {base.__name__ for base in type(layer).__mro__}
    size = None
    if "Embedding" in names:
        size = getattr(layer, "input_dim", None)
    elif "CategoryEncoding" in names:
        size = getattr(layer, "num_tokens", None)
    return size if isinstance(size, int) and size > 0 else None


def _before(number: int, layers: list[dict[str, Any]]) -> Iterator[int]:
    """The layers that give a layer what it takes; one that is called by its holder takes what that takes."""
    layer = layers[number]
    calls = layer.get("calls") or ()
    for call in calls:
        for tensor in _tensors([call["args"], call["kwargs"]]):
            yield tensor[0]
    if (not calls or layer["kind"] == "InputLayer") and layer["inside"] >= 0:
        yield layer["inside"]


def _tensors(value: Any) -> Iterator[list[int]]:
    if isinstance(value, dict):
        if isinstance(value.get("tensor"), list):
            yield value["tensor"]
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tensors(item)


# -- code in a file


def searched(path: str) -> tuple[list[str], str]:
    """The parts of a saved model that are code, and why it could not be searched to its end, "" where it could."""
    try:
        return code_in(path), ""
    except Exception as error:  # a file may be anything, and what cannot be read here, Keras may still read
        return [], "%s: %s" % (type(error).__name__, error)


def code_in(path: str) -> list[str]:
    """The parts of a saved model that are code, and would run when it is loaded; [] of what is no saved model."""
    found: list[str] = []
    for config in _configs(path):
        found += _code(json.loads(config), "")
    return list(dict.fromkeys(found))


def saved_by(path: str | None) -> str:
    """The version of Keras that a file says it was saved by, "" where it does not."""
    try:
        if path is not None and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive, archive.open("metadata.json") as file:
                return str(json.loads(file.read(LARGEST_CONFIG))["keras_version"])[:40]
    except Exception:  # as above
        pass
    return ""


def _configs(path: str) -> Iterator[bytes | str]:
    """Every description of a model that a Keras may read from a file: one can be a zip and HDF5 at the same time."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive, archive.open("config.json") as packed:
            yield _whole(packed)
    h5py: Any = importlib.import_module("h5py")
    # It may begin with something else, and the signature stand further on.
    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as tree:
            for name in ("model_config", "training_config"):
                if name in tree.attrs:
                    yield tree.attrs[name]


def _whole(file: IO[bytes]) -> bytes:
    text = file.read(LARGEST_CONFIG + 1)
    if len(text) > LARGEST_CONFIG:
        raise ValueError("its config.json has more than %d bytes" % LARGEST_CONFIG)
    return text


def _code(value: Any, layer: str) -> Iterator[str]:
    if isinstance(value, dict):
        config = value.get("config")
        name = str(config.get("name", "")) if isinstance(config, dict) else ""
        layer = name or layer
        # Keras 3 tells a Python function as a dict of its own, those before it as a list beside its type.
        if value.get("class_name") == "__lambda__" or "lambda" in (
            value.get("function_type"),
            value.get("mask_type"),
            value.get("output_shape_type"),
        ):
            yield "the layer %r" % (layer or "Lambda")
        for item in value.values():
            yield from _code(item, layer)
    elif isinstance(value, list):
        for item in value:
            yield from _code(item, layer)
