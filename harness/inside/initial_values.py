"""What each weight of a model begins with, and whether that is a constant.

A weight begins with a constant if it is made with the same value each time that the model is built, whatever the seed.
To know, the model is built once more, or twice where somebody sets a weight later: so this is asked only where a clone
gives cause to doubt.
"""

from __future__ import annotations

from typing import Any, Callable

from .description import Description
from .digests import same
from .frameworks.interface import Framework
from .observer import Observer

DRAWN = "drawn"
MANY = 64
"""As many numbers as chance hardly draws twice, be they whole ones."""


def doubtful(original: Description, clones: list[tuple[dict[str, Any], Description]], framework: Framework) -> bool:
    """Whether a weight of a clone may begin with another constant than the original's, or with one in its place."""
    pairs = [(seen, clone, dict(zip(_by_layer(original), _by_layer(clone)))) for seen, clone in clones]
    for number, ours in enumerate(original.initial):
        fresh = [(clone, its[number]) for seen, clone, its in pairs if number in its and seen["fresh"][its[number]]]
        unlike = [(clone, its) for clone, its in fresh if not same(ours, clone.initial[its])]
        # What several cloners have made anew, each with a value of its own, was drawn.
        drawn = len(unlike) == len(fresh) > 1
        if any(_is_doubtful(original, number, clone, its, framework, drawn) for clone, its in unlike):
            return True
    return False


def _by_layer(description: Description) -> list[int]:
    """The numbers of weights, a layer at a time: a model may list first what it trains, and its clone train others."""
    weights = description.shape["weights"]
    return sorted(range(len(weights)), key=lambda number: int(weights[number]["owner"]))


def _is_doubtful(
    original: Description, number: int, clone: Description, its: int, framework: Framework, drawn: bool
) -> bool:
    """Whether two values that a weight begins with may differ by more than by chance.

    What an initializer without a fixed seed gives was drawn, unless its numbers say that it was set. Of any other the
    value is known, or it takes a new model to know.
    """
    ours, theirs = original.initial[number], clone.initial[its]
    initializer = initializer_of(original, number)
    set_ = theirs.size > 1 and (looks_set(ours) or looks_set(theirs))
    if framework.was_drawn(original.weights[number], ours) and framework.was_drawn(clone.weights[its], theirs):
        return set_
    if draws(initializer):
        return set_ or draws(initializer_of(clone, its)) is False
    if initializer is None and drawn:
        return set_
    # A model that was trained, or was loaded, has left its constants behind: that is no doubt of a clone.
    constant = _constant_of(initializer, theirs, framework)
    return constant is None or not same(constant, theirs)


def _constant_of(initializer: Any, like: Any, framework: Framework) -> Any:
    """What an initializer of Keras' own that draws nothing gives for a weight, None where it is not to be asked.

    One of the user's own may count its calls.
    """
    package = type(initializer).__module__.partition(".")[0]
    if initializer is None or package not in ("keras", "tf_keras", "tensorflow"):
        return None
    try:
        return framework.array(initializer(like.shape, dtype=str(like.dtype)))[0]
    except Exception:  # what it says of this shape or dtype is no answer
        return None


def initial_constants(original: Description, build: Callable[[], Any], observer: Observer) -> list[str]:
    """For each weight the digest of the constant that it begins with, "drawn", or "" where that is not known.

    Leaves the framework as after a new model: nothing of the trial's models is to be asked any more.
    """
    framework = observer.framework
    values: list[list[Any]] = []
    with observer.clock.keras("build"):
        for turn in (1, 2):
            framework.forget()
            framework.reseed(observer.seed + 1000 * turn, backend=True)
            try:
                firsts, lasts = framework.first_values(build)
            except Exception:  # a source may be one that runs once only
                return []
            values.append(firsts)
            if turn == 1 and all(first is not None and same(first, last) for first, last in zip(firsts, lasts)):
                values.append(original.initial)  # which are the first that it had, as nobody sets a weight later
                break
    if any(len(each) != len(original.weights) for each in values):
        return []
    return [beginning(original, number, one, two, observer) for number, (one, two) in enumerate(zip(*values))]


def tell_initial_values(
    told: dict[str, Any],
    original: Description,
    clones: list[tuple[dict[str, Any], Description]],
    build: Callable[[], Any],
    observer: Observer,
) -> None:
    """What the weights of all models begin with. The last that is done: the models are of no use after it."""
    told["begins"] = constants = initial_constants(original, build, observer)
    with observer.clock.ours("digest"):
        for seen, clone in clones:
            seen["begins"] = begins = [observer.digests.digest(value) for value in clone.initial]
            for number, its in zip(_by_layer(original), _by_layer(clone)) if constants else ():
                # The original has had other values since it was built, so who has that one has not copied it.
                if same(clone.initial[its], original.initial[number]):
                    begins[its] = constants[number]


def beginning(original: Description, number: int, one: Any, two: Any, observer: Observer) -> str:
    if one is None or two is None:
        return ""
    initializer = initializer_of(original, number)
    if _is_quantized(original, number):
        constant = _constant_of(initializer, one, observer.framework)
        return observer.digests.digest(one) if constant is not None and same(constant, one) else ""
    if not same(one, two):
        return DRAWN
    drawn = draws(initializer)
    if drawn is not False and not same(one, original.initial[number]):
        return ""  # set by hand since
    # Of a few whole numbers, or of two signs, one may be drawn twice.
    by_chance = one.size < 2 or one.dtype.kind != "f"
    return "" if by_chance and drawn else observer.digests.digest(one)


def _is_quantized(original: Description, number: int) -> bool:
    """Whether the layer of a weight was quantized: it made numbers of others, which a new one has not."""
    owner = original.shape["weights"][number]["owner"]
    return owner >= 0 and getattr(original.layers.places[owner].layer, "quantization_mode", None) is not None


def initializer_of(description: Description, number: int) -> Any:
    """The initializer that the owner of a weight has for it, None where none is seen."""
    weight = description.shape["weights"][number]
    if weight["owner"] < 0:
        return None
    layer = description.layers.places[weight["owner"]].layer
    name = weight["name"].split("/")[-1].split(":")[0]
    # That of "recurrent_kernel" is called "recurrent_initializer".
    of_it = getattr(layer, name + "_initializer", None)
    return of_it or getattr(layer, name.rpartition("_")[0] + "_initializer", None)


def draws(initializer: Any) -> bool | None:
    """Whether an initializer draws other numbers each time, which one with a fixed seed does not; None if not told."""
    try:
        config = initializer.get_config()
        return "seed" in config and type(config["seed"]) is not int
    except Exception:  # no initializer, or one that has no config
        return None


def looks_set(value: Any) -> bool:
    """Whether an array has fewer numbers than chance would give it."""
    few = value.reshape(-1)[:MANY].tolist()
    return len(set(few)) * 2 <= len(few) if len(few) > 1 else few in ([0], [1])
