"""Layers that turn numbers, categories and words into numbers that a model can learn from.

What they would learn from data (a vocabulary, a mean) is given in the constructor. Ids stay below six, so that they can
be encoded again, or embedded.
"""

from __future__ import annotations

from collections.abc import Mapping

from strategies.graph import Array, Layer, Seq, Value
from strategies.kinds.arguments import more
from strategies.kinds.kind import IDS, LEFT_OUT, Kind, Spec, Specs, alike, computed, floats, number, plain


def ids(specs: Specs) -> bool:
    """Whole numbers in a row."""
    return all(spec.dtype in IDS and spec.rank == 1 and not spec.large for spec in specs)


def words(specs: Specs) -> bool:
    """Texts in a row."""
    return all(spec.dtype == "string" and spec.rank == 1 for spec in specs)


def ids_or_words(specs: Specs) -> bool:
    """Either of the two."""
    return ids(specs) or words(specs)


def _each_one(specs: Specs) -> bool:
    return ids_or_words(specs) and specs[0].shape == (1,)


def _whole(specs: Specs) -> Spec:
    return Spec(specs[0].shape, "int64")


def _counted(size: int) -> Specs:
    return (Spec((size,)),)


# -- numbers


def _statistics(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    """A mean and a variance for all, or for each place of the last dimension."""
    size = specs[0].shape[-1]
    each = drawn["mean"] == "each" or isinstance(drawn["mean"], Array)
    if size is None or not each:
        return {**drawn, "mean": 0.5 if each else drawn["mean"]}
    return {**drawn, "axis": LEFT_OUT, "mean": Array((size,)), "variance": Array((size,))}


def _normalized(specs: Specs, layer: Layer) -> Specs | None:
    for name in ("mean", "variance"):
        value = layer.arg(name)
        if isinstance(value, Array) and value.shape != specs[0].shape[-1:]:
            return None
    return (Spec(specs[0].shape, computed(layer)),)


def _binned(specs: Specs, layer: Layer) -> Specs | None:
    bounds = layer.arg("bin_boundaries")
    assert isinstance(bounds, Seq)
    if layer.arg("output_mode", "int") == "int":
        return (_whole(specs),)
    return _counted(len(bounds.items) + 1) if specs[0].rank == 1 else None


# -- categories


def _encoded(specs: Specs, layer: Layer) -> Specs | None:
    if layer.arg("output_mode") == "one_hot" and specs[0].shape != (1,):
        return None
    return _counted(number(layer, "num_tokens"))


def _mask_of_a_dtype(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    if drawn["mask_value"] == LEFT_OUT:
        return dict(drawn)
    return {**drawn, "mask_value": "" if specs[0].dtype == "string" else 0}


def _hashed(specs: Specs, layer: Layer) -> Specs | None:
    mask = layer.arg("mask_value")
    if mask is not None and isinstance(mask, str) != (specs[0].dtype == "string"):
        return None
    return (_whole(specs),) if layer.arg("output_mode", "int") == "int" else _counted(number(layer, "num_bins"))


_WEIGHED = {"output_mode=tf_idf": "idf_weights"}


def _looked_up(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    """Weights for each word where they are needed; for what is turned round, an unknown that is a small number."""
    args = {key: value for key, value in drawn.items() if key not in ("idf_weights", "oov_token")}
    if args["output_mode"] == "tf_idf":
        return {**args, "invert": LEFT_OUT, "idf_weights": Array((3,))}
    if args["invert"] == LEFT_OUT:
        return args
    return {**args, "mask_token": LEFT_OUT, "oov_token": 5}


def _words_looked_up(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    """Ids are turned into words, words into ids."""
    if specs[0].dtype != "string":
        return {**drawn, "mask_token": LEFT_OUT, "output_mode": LEFT_OUT, "invert": True}
    args: dict[str, Value] = {key: value for key, value in drawn.items() if key not in ("invert", "idf_weights")}
    return {**args, "idf_weights": Array((2,))} if args["output_mode"] == "tf_idf" else args


def _found(specs: Specs, layer: Layer) -> Specs | None:
    vocabulary = layer.arg("vocabulary")
    assert isinstance(vocabulary, Seq)
    back = layer.arg("invert") is True
    text = layer.kind == "StringLookup"
    if (specs[0].dtype == "string") != (text and not back):
        return None
    if layer.arg("output_mode", "int") != "int":
        return _counted(len(vocabulary.items) + number(layer, "num_oov_indices", 1))
    return (Spec(specs[0].shape, "string"),) if text and back else (_whole(specs),)


# -- words


def _vectorized(specs: Specs, layer: Layer) -> Specs:
    return (Spec((number(layer, "output_sequence_length"),), "int64"),)


_COUNTS: tuple[Value, ...] = (LEFT_OUT, "multi_hot", "count")
_SOME: tuple[Value, ...] = (LEFT_OUT, 2)

KINDS = (
    Kind(
        "Normalization",
        options={
            "axis": (LEFT_OUT, None),
            "mean": (0.5, "each"),
            "variance": (2.0,),
            "invert": (LEFT_OUT, True),
        },
        fits=plain(floats(1, 3, masked=False)),
        arrange=_statistics,
        gives=_normalized,
    ),
    Kind(
        "Discretization",
        options={"bin_boundaries": (Seq((-0.5, 0.0, 0.5)),), "output_mode": _COUNTS},
        fits=plain(floats(1, 2, masked=False)),
        gives=_binned,
        takes_trainable=False,
    ),
    Kind(
        "CategoryEncoding",
        options={"num_tokens": (6,), "output_mode": (LEFT_OUT, "count", "one_hot")},
        weight=2,
        fits=ids,
        gives=_encoded,
    ),
    Kind(
        "Hashing",
        options={"num_bins": (3, 6), "mask_value": (LEFT_OUT, 0), "salt": (LEFT_OUT, 7), "output_mode": _COUNTS},
        weight=2,
        fits=ids_or_words,
        arrange=_mask_of_a_dtype,
        gives=_hashed,
    ),
    Kind(
        "HashedCrossing",
        options={"num_bins": (3, 6), "output_mode": (LEFT_OUT, "one_hot")},
        takes=(2, 2),
        pass_as="list",
        weight=3,
        fits=alike(_each_one),
        gives=_hashed,
        takes_trainable=False,
    ),
    Kind(
        "IntegerLookup",
        options={
            "vocabulary": (Seq((1, 2, 4)),),
            "num_oov_indices": _SOME,
            "mask_token": (LEFT_OUT, 0),
            "output_mode": (LEFT_OUT, "tf_idf"),
            "invert": (LEFT_OUT, True),
        },
        more=more("max_tokens", "oov_method"),
        weight=2,
        fits=ids,
        arrange=_looked_up,
        needs=_WEIGHED,
        gives=_found,
    ),
    Kind(
        "StringLookup",
        options={
            "vocabulary": (Seq(("red", "green")),),
            "num_oov_indices": _SOME,
            "mask_token": (LEFT_OUT, ""),
            "output_mode": (LEFT_OUT, "tf_idf"),
        },
        more=more("max_tokens", "encoding"),
        weight=2,
        fits=ids_or_words,
        arrange=_words_looked_up,
        needs=_WEIGHED,
        gives=_found,
    ),
    Kind(
        "TextVectorization",
        options={
            "vocabulary": (Seq(("red", "green", "a")),),
            "output_sequence_length": (3, 4),
            "standardize": (LEFT_OUT, "lower", None),
            "split": (LEFT_OUT, "character"),
            "ngrams": _SOME,
        },
        more=more("max_tokens", "encoding"),
        weight=2,
        fits=lambda specs: words(specs) and specs[0].shape == (1,),
        gives=_vectorized,
    ),
)
