"""What is done to a model before it is cloned, as a person would type it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from msgspec import structs

from clonediff.harness.source.functions import write_function
from clonediff.harness.source.words import dotted
from clonediff.strategies.graph import Function, Graph, Layer, MalformedGraph, Named, Preparation, Seq, Value
from clonediff.strategies.preparations import LEARNED
from clonediff.strategies.targets import Target, targets

_WIDEST = 100


def done_to(graph: Graph) -> list[tuple[Preparation, Target | None]]:
    """The preparations of a graph, each with the layer that it is done to, None for the model."""
    if not graph.preparations:
        return []
    there = targets(graph)
    kinds = {each.kind for each in graph.preparations if each.kind is not None}
    unknown = sorted(kinds.difference(there))
    if unknown:
        raise MalformedGraph(f"preparations: there is no layer of the kind {unknown[0]!r}")
    done = [(each, None if each.kind is None else there[each.kind]) for each in graph.preparations]
    if any(target is not None and target.attributes and each.does in _MADE_OTHERWISE for each, target in done):
        raise MalformedGraph("preparations: what a wrapper is given cannot be made otherwise")
    if [each.does for each in graph.preparations].count("objects") > 1:
        raise MalformedGraph("preparations: expected one function or class of one's own")
    return done


_MADE_OTHERWISE = ("adapt", "objects")
"""The preparations for which a layer is made with other arguments."""


def write_preparation(preparation: Preparation, target: str, value: Callable[[Value], str]) -> list[str]:
    """The lines of a preparation on what the expression `target` gives. `value` gives the text of an argument."""
    args = {dotted(name): value(each) for name, each in preparation.args}
    if preparation.does == "objects":
        return []
    if preparation.does == "session":
        return [_setting(name).format(text) for name, text in args.items()]
    try:
        return _LINES[preparation.does](target, args)
    except KeyError as missing:
        raise MalformedGraph(
            f"preparations: expected a preparation and its arguments, found {preparation.does!r} and no {missing}"
        ) from None


def built_within(preparation: Preparation, lines: list[str], custom_scope: str) -> list[str]:
    """The lines that build a model, within the `custom_scope` if a function is to be found there."""
    if preparation.does == "objects" and dict(preparation.args)["within"] in ("model", "both"):
        return [f"with {custom_scope}:", *(f"    {line}" for line in lines)]
    return lines


_SETTINGS = {
    "image_data_format": "keras.config.set_image_data_format({})",
    "floatx": "keras.config.set_floatx({})",
    "flash_attention": "keras.config.disable_flash_attention()",
    "unsafe_deserialization": "keras.config.enable_unsafe_deserialization()",
}
"""How the session is set."""


def _setting(name: str) -> str:
    if name not in _SETTINGS:
        raise MalformedGraph(
            f"preparations: expected a setting of the session, one of {', '.join(_SETTINGS)}, found {name!r}"
        )
    return _SETTINGS[name]


def with_custom_function(
    layer: Layer, preparation: Preparation, name: Callable[[str], str], found: Collection[str]
) -> tuple[Layer, str, str]:
    """A layer that takes a custom function: itself, or the name under which it is `found` in a scope.

    Beside it the definition of the function, and the scope.
    """
    said = dict(preparation.args)
    argument = str(said["takes"])
    written = write_function(Function(f"own {argument}", ()), name)
    its_name = written.expression
    whole = said["within"] == "clone" or argument not in found
    given: Value = Named(its_name) if whole else its_name
    others = tuple(pair for pair in layer.args if pair[0] != argument)
    return structs.replace(layer, args=(*others, (argument, given))), written.definition, scope_of(its_name)


def scope_of(name: str) -> str:
    """A scope in which a custom function or class is found by its name."""
    return f'keras.utils.custom_object_scope({{"{name}": {name}}})'


def cloned_in(preparation: Preparation, custom_scope: str) -> Iterator[str]:
    """The scopes in which the model is to be cloned, as expressions; in the `custom_scope` a function is found."""
    if preparation.does == "objects" and dict(preparation.args)["within"] in ("clone", "both"):
        yield custom_scope


def as_it_learns(layer: Layer) -> Layer:
    """A layer without what it learns later."""
    learned = LEARNED.get(layer.kind, ())
    args = tuple((key, value) for key, value in layer.args if key not in learned)
    bounds = layer.arg("bin_boundaries")
    if isinstance(bounds, Seq):
        args = (("num_bins", len(bounds.items) + 1), *args)
    return structs.replace(layer, args=args)


def _called(name: str, args: dict[str, str]) -> list[str]:
    """A call, on several lines where one is too long."""
    words = [f"{key}={text}" if key else text for key, text in args.items()]
    line = f"{name}({', '.join(words)})"
    return [line] if len(line) <= _WIDEST else [f"{name}(", *(f"    {word}," for word in words), ")"]


def _set(target: str, args: dict[str, str]) -> list[str]:
    return [f"{target}.{name} = {text}" for name, text in args.items()]


_LINES: dict[str, Callable[[str, dict[str, str]], list[str]]] = {
    "compile": lambda target, args: _called(f"{target}.compile", args),
    "trainable": lambda target, args: _set(target, args),
    "weight trainable": lambda target, args: _set(target, args),
    "adapt": lambda target, args: [
        f"{target}.adapt({args['data'] if args['data'].startswith('np.') else 'np.array(' + args['data'] + ')'})"
    ],
    "policy": lambda target, args: [f"keras.config.set_dtype_policy({args['name']})"],
    "hang": lambda target, args: [
        f"{target}.extra = {args['layer']}",
        *([f"{target}.extra.build((None, 4))"] if "built" in args else []),
    ],
    "lora": lambda target, args: _called(f"{target}.enable_lora", args),
    "quantize": lambda target, args: _called(f"{target}.quantize", {"": args["mode"]}),
}
