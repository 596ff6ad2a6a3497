"""Checks the objects in a clone, and the original after cloning.

own: the clone shares no variable, layer or other mutable object with the original, and each weight has a fresh value.
Changing the variables of one model does not affect the other. A clone is "a copy of the test model (with freshly
initialized weights)" (`clone_model`).

sharing: objects are shared within the clone exactly where they are in the original.

untouched: the original is unchanged, and so are its outputs. "Model cloning is similar to calling a model on new
inputs, except that it creates new layers" (`clone_model`).

again: a second clone is as faithful as the first, and shares nothing with it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from clonediff.harness.observation import Clone, LayerRecord, Observation, Structure, Variable
from clonediff.harness.trials.checks import facts, runs, structure, weights
from clonediff.harness.trials.checks.alignment import Alignment, Objects, Pair
from clonediff.harness.trials.checks.aspects import VARIABLES, Aspect, difference_of
from clonediff.harness.trials.checks.failures import failure_difference
from clonediff.harness.trials.checks.paths import path_and_place, path_of, place
from clonediff.reports.records import CRASH, OUTPUT, PROPERTY, TRAINING, Difference, Part

_shared = functools.partial(Aspect, "own", "replaced", TRAINING)
SHARED_PARTS = (
    _shared("layer", "shared", "{clone} holds {a} of the original itself", "layers", True),
    _shared(VARIABLES, "shared", "{clone} shares a {part} of {a} with the original", "listed", True),
)
_shared_by_clones = functools.partial(Aspect, "again", "replaced", TRAINING)
SHARED_BY_CLONES = (
    _shared_by_clones("layer", "shared by clones", "{clone} holds {a} of the first clone itself", "", True),
    _shared_by_clones(VARIABLES, "shared by clones", "{clone} shares a {part} of {a} with the first clone", "", True),
)
_SPLIT = "a shared {part} of {a} becomes two{inside}"
SHARING = (
    Aspect("sharing", "replaced", TRAINING, "layer", "unshared", "a shared {kind} becomes two{inside}", "", True),
    Aspect("sharing", "replaced", TRAINING, "layer", "merged", "two layers become one{inside}", "", True),
    Aspect("sharing", "chosen", TRAINING, VARIABLES, "unshared", _SPLIT, "", True),
    Aspect("sharing", "chosen", TRAINING, VARIABLES, "merged", "two {part}s become one{inside}", "", True),
)
_own = functools.partial(Aspect, "own")
_STALE_CHANGED_TITLE = "a weight of {a} begins with the original's value{inside}"
STALE_WEIGHT = _own("chosen", TRAINING, "", "not fresh", _STALE_CHANGED_TITLE, "", True)
_STALE_STATE_TITLE = "a state of {a} begins with the value that a run of the original left{inside}"
STALE_STATE = _own("chosen", OUTPUT, "state", "not fresh", _STALE_STATE_TITLE)
_SHARED_TITLE = "{clone} has a list, or another object, of the original itself"
SHARED_OBJECT = _own("quiet", PROPERTY, "object", "shared", _SHARED_TITLE, "apart", True)
_REACHED_TITLE = "{clone} refers to an object of the original, through {name}"
REACHED_OBJECT = _own("quiet", PROPERTY, "object reached", "", _REACHED_TITLE, "apart", True, "*")
_CLONE_TITLE = "{clone} computes something else once variables of the original change"
CLONE_DEPENDENT = _own("derived", OUTPUT, "", "clone dependent", _CLONE_TITLE)
_ORIGINAL_TITLE = "the original computes something else once variables of {clone} change"
ORIGINAL_DEPENDENT = _own("derived", OUTPUT, "", "original dependent", _ORIGINAL_TITLE)
_touched = functools.partial(Aspect, "untouched", "derived")
_CHANGED_TITLE = "a weight has another value{inside}"
CHANGED_WEIGHT = _touched(OUTPUT, "weight", "value", _CHANGED_TITLE, "weight values", True, exclusive=True)
REPLACED_OBJECT = _touched(PROPERTY, "", "touched", "an object in the model is replaced")
NO_CLONE = Aspect("again", "derived", CRASH, "", "no clone", "{clone} cannot be made")

OBJECTS: tuple[Part, ...] = ("layer", *VARIABLES)
_ATTRIBUTE = re.compile(r"\.([^\W\d]\w*)")
_FUNCTION_PARTS = ("__closure__", "cell_contents", "__defaults__", "__self__", "__func__", "func", "args", "keywords")
"""Attributes of functions, left out of fingerprints."""


def check_ownership(pair: Pair) -> list[Difference]:
    return [*_find_shared_parts(pair), *_find_stale_values(pair), *_find_leaks(pair), *_find_dependence(pair)]


def _find_shared_parts(pair: Pair) -> Iterator[Difference]:
    """The original's layers and variables in the clone, except kept inputs."""
    original, clone = pair.structures
    seen: set[int] = set()
    for part, index, item in _shared_objects(original, clone):
        if isinstance(item, LayerRecord):
            if item.ident in seen or (pair.original.keeps_inputs and item.kind == "InputLayer"):
                continue
            seen.add(item.ident)
        path, first = path_and_place(original, part, index)
        yield difference_of(SHARED_PARTS, part, "shared", path, "one of its own", "the original's", first)


def _shared_objects(model: Structure, other: Structure) -> Iterator[tuple[Part, int, LayerRecord | Variable]]:
    """Layers and variables in both models, with part and index in `model`."""
    for part in OBJECTS:
        idents = {item.ident for item in getattr(other, f"{part}s")}
        items = enumerate(getattr(model, f"{part}s"))
        yield from ((part, index, item) for index, item in items if item.ident in idents)


def _find_stale_values(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.structures
    for index in [number for number, fresh in enumerate(pair.clone_observation.fresh_weights) if not fresh]:
        owner = clone.weights[index].owner if index < len(clone.weights) else -1
        first = place(original, pair.layers.originals.get(owner, -1))
        yield STALE_WEIGHT.difference(f"weights[{index}].value", "a fresh value", "the original's", first)
    for index in [number for number, fresh in enumerate(pair.clone_observation.fresh_states) if not fresh]:
        path, first = path_and_place(original, "state", index)
        texts = "as before the first batch", "as the original's run has left it"
        yield STALE_STATE.difference(f"{path}.value", *texts, first)


def _find_leaks(pair: Pair) -> Iterator[Difference]:
    original = pair.structures[0]
    for leak in pair.clone_observation.leaks:
        layer = pair.layers.originals.get(leak.layer, -1)
        attributes = _ATTRIBUTE.findall(facts.INDEX.sub("", leak.path))
        names = [name for name in attributes if name not in _FUNCTION_PARTS]
        path = f"{path_of(original, layer)}.attribute{leak.path}"
        other = f", {leak.original_path}" if layer == leak.original_layer else ""
        found = f"the original's {leak.class_name}{other}"
        texts = "an object of its own", found
        first = place(original, layer)
        is_public = names == attributes and not any(name[0] == "_" for name in names)
        if leak.class_name == "ndarray" and not is_public:
            continue  # a call keeps this argument
        if not is_public:
            name = names[-1] if names else leak.class_name
            yield REACHED_OBJECT.difference(path, *texts, first, name=name, expression=leak.path)
        else:
            yield SHARED_OBJECT.difference(path, *texts, first, expression=leak.path)


def _find_dependence(pair: Pair) -> Iterator[Difference]:
    for row, run, new_run in (
        (CLONE_DEPENDENT, pair.clone_observation.inference, pair.clone.clone_rerun),
        (ORIGINAL_DEPENDENT, pair.original.inference, pair.clone.original_rerun),
    ):
        if run is not None and new_run is not None:
            yield row.difference("", "the same outputs as before", "different outputs", None)


def check_sharing(pair: Pair) -> list[Difference]:
    found = [item for objects in pair.objects for item in _sharing(pair, *objects)]
    return [*found, *facts.check_shared_facts(pair)]


def _sharing(pair: Pair, part: Part, expected: Objects, found: Objects, alignment: Alignment) -> Iterator[Difference]:
    """Compare first places of objects: if they differ, the sharing differs."""
    model = pair.structures[0]
    first_places: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for index, counterpart in alignment.pairs:
        original = first_places[0].setdefault(expected[index].ident, index)
        clone = first_places[1].setdefault(found[counterpart].ident, index)
        path, first = path_and_place(model, part, index)
        if original != clone and original != index:
            expected_text = f"the same as {path_and_place(model, part, original)[0]}"
            yield difference_of(SHARING, part, "unshared", path, expected_text, "one of its own", first)
        elif original != clone:
            found_text = f"the same as {path_and_place(model, part, clone)[0]}"
            yield difference_of(SHARING, part, "merged", path, "one of its own", found_text, first)


def check_original(pair: Pair) -> list[Difference]:
    """Find all changes to the original, even if cloning failed."""
    original, clone = pair.original, pair.clone
    after = clone.original_after or original.structure
    observation = Observation(after, copied_weights=original.copied_weights)
    changed = Pair(original, Clone(observation=observation))
    differences: list[Difference] = []
    if clone.original_after is not None:
        differences += [*structure.check_structure(changed), *weights.check_weights(changed), *check_sharing(changed)]
        for index, number in changed.weights.pairs:
            if changed.structures[1].weights[number].value == "changed":
                path, first = path_and_place(original.structure, "weight", index)
                differences.append(CHANGED_WEIGHT.difference(f"{path}.value", "as before", "changed", first))
        if not differences and not original.keeps_inputs:
            first = place(original.structure, -1)
            differences.append(REPLACED_OBJECT.difference("model", "as before", "changed", first))
    if clone.inference_after is not None and original.inference is not None:
        run = original.inference, clone.inference_after, "inference"
        differences += [*runs.output_differences(changed, *run), *runs.mask_differences(changed, *run)]
    return [replace(item, check="untouched", model="original") for item in differences]


def check_second_clone(pair: Pair, checks: Sequence[Callable[[Pair], Iterable[Difference]]]) -> list[Difference]:
    """Find differences in a second clone that the first does not have."""
    clone, original = pair.clone, pair.original
    failure = clone.second_clone_failure
    if failure is not None:
        return [failure_difference(NO_CLONE, "", "a second clone", failure, original.structure, model="again")]
    if clone.second_clone is None:
        return []
    repeated = {(item.path, item.aspect) for check in checks for item in check(pair)}
    second = Pair(original, Clone(observation=clone.second_clone))
    found = [item for check in checks for item in check(second)]
    new = [item for item in found if (item.path, item.aspect) not in repeated]
    differences = [replace(item, check="again", model="again") for item in new]
    return [*differences, *_find_shared_by_clones(pair, clone.second_clone.structure)]


def _find_shared_by_clones(pair: Pair, second_clone: Structure) -> Iterator[Difference]:
    """Find objects that only the two clones share."""
    original, first = pair.structures
    seen = {item.ident for _, _, item in _shared_objects(original, original)}
    for part, index, item in _shared_objects(first, second_clone):
        if item.ident not in seen:
            seen.add(item.ident)
            layer = pair.layers.originals.get(item.owner if isinstance(item, Variable) else index, -1)
            path = path_of(original, layer) if part == "layer" else f"{part}s[{index}]"
            texts = "one of its own", "the first clone's"
            owner = place(original, layer)
            yield difference_of(SHARED_BY_CLONES, part, "shared by clones", path, *texts, owner, model="again")
