"""A model saved to a file and loaded from it. What two equal files give, they give alike: neither need be loaded.

What a run of the loaded model gives does not depend on what its layers are called, so files may differ in that.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import os
import re
import tempfile
import zipfile
from typing import Any

import numpy as np

from .description import Description
from .failures import failure
from .observer import Observer
from .run import run
from .variable_values import VariableValues

_SAYS_WHEN = "metadata.json"
"""The one part of a file that is another each time: it has the date."""
_SHARED = "shared_object_id"
_GRAPH = ("layers", "input_layers", "output_layers")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class SavedModels:
    """The models of one trial, saved: a clone whose file is the original's need not be loaded."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._first: SavedModel | None = None
        self._files: dict[int, SavedModel] = {}
        self._first_loaded: tuple[Description, VariableValues] | None = None

    def save(
        self, description: Description, folder: str, arrays: list[Any], packing: Any, known: dict[str, Any]
    ) -> dict[str, Any]:
        """What came of saving a model, and, of a clone whose file is not the original's, of loading both."""
        saved = self._files[id(description)] = SavedModel(description, folder, self._observer)
        if self._first is None:
            self._first = saved
        elif saved.equals(self._first):
            return self._first.told  # what comes of the one, perhaps for another clone, comes of the other
        else:
            for each in (self._first, saved):
                each.load(arrays, packing, known)
        return saved.told

    def loaded(
        self, description: Description, known: dict[str, Any]
    ) -> tuple[Any, tuple[Description, VariableValues]] | None:
        """A model once it is loaded, and the first one, described, with its values; None where one cannot be.

        They are one where their files are alike.
        """
        first, saved = self._first, self._files[id(description)]
        if first is None or first.loaded(known) is None:
            return None
        model = (first if saved.equals(first) else saved).loaded(known)
        if self._first_loaded is None:
            again, values = Description(first.loaded(known), self._observer), VariableValues(self._observer)
            for variable, value in zip([*again.weights, *again.states], [*again.initial, *again.first_states]):
                values.keep(variable, value)
            self._first_loaded = again, values
        return None if model is None else (model, self._first_loaded)

    def load_again(self) -> None:
        """Load anew what is asked for from now on: what was loaded is in a graph that the framework has forgotten."""
        self._first_loaded = None
        for each in filter(None, [self._first, *self._files.values()]):
            each.unload()


class SavedModel:
    """A model in a file of its own. `told` is what `Saved` declares on the wire."""

    def __init__(self, description: Description, folder: str, observer: Observer) -> None:
        self._path = os.path.join(tempfile.mkdtemp(dir=folder), "model.keras")
        self._observer = observer
        self._bytes: dict[str, bytes] | None = None
        self._parts: dict[str, Any] = {}
        self._loaded: Any = None
        self.told: dict[str, Any] = {}
        with observer.clock.keras("save"):
            try:
                description.model.save(self._path)
            except Exception as error:  # whatever a model raises is an observation
                self.told["saving"] = failure(error, below="__init__")
                return
        with observer.clock.ours("digest"):
            self._bytes = _bytes(self._path)

    def equals(self, other: SavedModel) -> bool:
        """Whether loading one of them gives what loading the other does."""
        ours, theirs = self._bytes, other._bytes
        if ours is None or theirs is None or set(ours) != set(theirs):
            return False
        with self._observer.clock.ours("digest"):
            return all(ours[name] == theirs[name] or self._part(name) == other._part(name) for name in ours)

    def _part(self, name: str) -> Any:
        """What a run of the loaded model depends on in a part of the file. Told only where two of them differ."""
        if name not in self._parts:
            with zipfile.ZipFile(self._path) as archive:
                self._parts[name] = _content(name, archive.read(name))
        return self._parts[name]

    def loaded(self, known: dict[str, Any]) -> Any:
        """What is loaded from the file, once and for all; None where that cannot be."""
        if self._loaded is None and "saving" not in self.told and "loading" not in self.told:
            with self._observer.clock.keras("load"):
                try:
                    self._loaded = self._observer.framework.load(self._path, known)
                except Exception as error:  # likewise
                    self.told["loading"] = failure(error, below="loaded")
        return self._loaded

    def unload(self) -> None:
        """Load it anew when it is asked for."""
        self._loaded = None

    def load(self, arrays: list[Any], packing: Any, known: dict[str, Any]) -> None:
        """Load it and run what comes, unless that has been done."""
        if self.told:
            return
        observer, loaded = self._observer, self.loaded(known)
        if loaded is None:
            return
        again = Description(loaded, observer, values=False)
        # Its layers are described nowhere: what each of them gave would be a name without a thing.
        self.told["run"] = dict(run(again, arrays, observer, packing, training=False), steps=[])


def _bytes(path: str) -> dict[str, bytes] | None:
    """The digest of each part of a file; None where it has none."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name != _SAYS_WHEN]
        return {name: hashlib.blake2b(archive.read(name)).digest() for name in names}


def _content(name: str, part: bytes) -> Any:
    if name == "config.json":
        return _Plain().config(json.loads(part))
    return _arrays(part) if name.endswith(".h5") else hashlib.blake2b(part).digest()


def _arrays(part: bytes) -> dict[str, Any]:
    """Every array of an HDF5 file by its path, in which layers go by their classes, and what else is said there."""
    h5py: Any = importlib.import_module("h5py")
    found: dict[str, Any] = {}

    def see(path: str, item: Any) -> None:
        said = [(key, str(item.attrs[key])) for key in item.attrs if key != "name"]
        value = item[()] if isinstance(item, h5py.Dataset) else None
        digest = None if value is None else hashlib.blake2b(np.asarray(value).tobytes()).digest()
        about = None if value is None else (str(item.dtype), tuple(item.shape), digest)
        found[path] = (said, about)

    with h5py.File(io.BytesIO(part), "r") as tree:
        tree.visititems(see)
    return found


class _Plain:
    """Configs without what may be another where the models are one: addresses, and the names of layers in a graph."""

    def __init__(self) -> None:
        self._shared: dict[Any, int] = {}

    def config(self, value: Any, names: dict[str, str] | None = None) -> Any:
        """A config. `names` are those of the graph around it, which its calls go by."""
        names = names or {}
        if isinstance(value, list):
            if len(value) > 2 and type(value[0]) is str and value[0] in names and type(value[1]) is int:
                return [names[value[0]], *(self.config(item, names) for item in value[1:])]
            return [self.config(item, names) for item in value]
        if not isinstance(value, dict):
            return value
        told = {key: self.config(item, names) for key, item in value.items() if key not in (_SHARED, *_GRAPH)}
        if isinstance(value.get("layers"), list):
            names = _numbered(value["layers"])
        told.update((key, self.config(value[key], names)) for key in _GRAPH if key in value)
        for layer in told["layers"] if names and "layers" in told else ():
            for each in (layer, layer.get("config")):
                if isinstance(each, dict) and type(each.get("name")) is str and each["name"] in names:
                    each["name"] = names[each["name"]]
        # A policy is a name: it makes no difference whether two layers hold one, or each its own.
        if _SHARED in value and value.get("class_name") != "DTypePolicy":
            told[_SHARED] = self._shared.setdefault(value[_SHARED], len(self._shared))
        return told


def _numbered(layers: list[Any]) -> dict[str, str]:
    """The names of the layers of a graph by their places; {} where they are none that any release takes."""
    names = [layer["config"].get("name") for layer in layers if isinstance(layer, dict) and "config" in layer]
    plain = all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)
    unique = len(names) == len(layers) == len(set(names)) if plain else False
    return {name: "layer %d" % number for number, name in enumerate(names)} if unique else {}
