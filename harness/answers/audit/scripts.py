"""Scripts of plain Keras that fail where an argument is lost: written, and run where nothing of ours is."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.answers.audit.record import WORST_FIRST, ArgumentAudited, Audited, ClassAudited, plainness
from clonediff.harness.inside.try_call import ROWS
from clonediff.harness.inside.uses import USES
from clonediff.harness.scripts.run_alone import LIMIT, run_alone
from clonediff.harness.subjects.outcomes import Lost, WayOfCall
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject

_TURNS = 5
"""So many scripts are tried for an argument."""
_MOST = 2
"""So many differences of each sort are shown by a script."""
_EACH = 2.0
"""Seconds that a script may take beside the import of Keras."""

_REVIVED = "revived = type(made).from_config(made.get_config())"
_THROUGH_JSON = """\
written = json.loads(json.dumps(keras.saving.serialize_keras_object(made)))
revived = keras.saving.deserialize_keras_object(written, custom_objects={type(made).__name__: type(made)})"""

_COPIED = """\
rng = np.random.default_rng(1)
for one, other in zip(made.weights, revived.weights):
    if "float" in str(one.dtype):
        one.assign(rng.random(one.shape, "float32") + 0.5)
for one, other in zip({variables}):
    other.assign(one)"""
_COMPARED = """\
for one, other in zip({flatten}(expected), {flatten}(found)):
    assert (other.shape, str(other.dtype)) == (one.shape, str(one.dtype)), f"{{other}}, expected {{one}}"
    assert type(other) is type(one), f"{{type(other)}}, expected {{type(one)}}"
    np.testing.assert_array_equal({array}(other), {array}(one))"""
_ARRAY = {"keras": "keras.ops.convert_to_numpy", "tf_keras": "np.asarray"}
_FLATTEN = {"keras": "keras.tree.flatten", "tf_keras": "tf.nest.flatten"}


def prove(audited: Audited, subject: Subject, place: ReleasePlace) -> Audited:
    """The audit with a script for each lost argument that fails where nothing of ours can be imported.

    Where none does, with the first that was tried. Each has names of its own, but all are run by one process: most of
    the time of a script goes into importing Keras.
    """
    left = {id(each): list(dict.fromkeys(_scripts(kind, each, subject.generation))) for kind, each in audited.lost()}
    shown = {key: texts[0][0] for key, texts in left.items() if texts}
    proven: set[int] = set()
    for turn in range(_TURNS):
        tried = {key: texts[turn] for key, texts in left.items() if key not in proven and turn < len(texts)}
        raised = _raised([text for text, _ in tried.values()], subject, place)
        for (key, (text, ends_in)), name in zip(tried.items(), raised, strict=True):
            if name == ends_in:
                proven.add(key)
                shown[key] = text
    classes = []
    for kind in audited.classes:
        found = (
            replace(each, script=shown.get(id(each), each.script), proven=id(each) in proven) for each in kind.arguments
        )
        classes.append(replace(kind, arguments=tuple(found)))
    return replace(audited, classes=tuple(classes))


_RUNNER = """\
import sys

for number, text in enumerate({texts!r}):
    try:
        exec(compile(text, "script", "exec"), {{"__name__": "__main__"}})
    except BaseException as error:
        print("raised", number, type(error).__name__, file=sys.stderr, flush=True)
    if "keras" in sys.modules:
        sys.modules["keras"].utils.clear_session()
"""


def _raised(texts: list[str], subject: Subject, place: ReleasePlace) -> list[str]:
    """The exception that each script ends in, "" for none."""
    if not texts:
        return []
    limit = LIMIT + _EACH * len(texts)
    said = run_alone(_RUNNER.format(texts=texts), subject, place, limit=limit).stderr
    found = {int(number): name for number, name in re.findall(r"^raised (\d+) (\w+)$", said, re.MULTILINE)}
    return [found.get(number, "") for number in range(len(texts))]


def _scripts(kind: ClassAudited, argument: ArgumentAudited, dialect: str) -> Iterator[tuple[str, str]]:
    """The scripts that may show it, the plainest of the worst first, each with the exception that it ends in."""
    by_how = (sorted((each for each in argument.lost if each.how == how), key=plainness) for how in WORST_FIRST)
    for lost in itertools.chain.from_iterable(each[:_MOST] for each in by_how):
        for called in (False, True) if lost.how in ("holds", "crashes") and argument.proposal is not None else (True,):
            yield _script(kind, argument, lost, dialect, called), _ends_in(lost)


def _ends_in(lost: Lost) -> str:
    if lost.how == "crashes":
        return lost.found.partition(":")[0]
    return "ValueError" if lost.how == "weights" else "AssertionError"


def _script(kind: ClassAudited, argument: ArgumentAudited, lost: Lost, dialect: str, called: bool) -> str:
    """The text of one script."""
    through_json = "JSON" in (lost.path, lost.found)
    imports = ["import json"] if through_json and lost.path != "get_config" else []
    lines = [_THROUGH_JSON if through_json else _REVIVED]
    calls = argument.proposal if called else None
    if calls is not None:
        imports.append("import numpy as np")
        lines += ["", *_inputs(calls, dialect), "", "", *_use(calls, lost, dialect), ""]
        lines += ["use(made)", "use(revived)"]
    if lost.how == "weights":
        lines.append("revived.set_weights(made.get_weights())")
    elif lost.how == "holds":
        lines += ["", *_held(lost)]
    elif lost.how == "computes" and calls is not None:
        lines += [_copied(dialect), "", "expected, found = use(made), use(revived)", *_compared(lost, dialect)]
    elif lost.how == "computes":
        imports.append("import numpy as np")
        use = USES[kind.sort][int(lost.path.partition(" ")[2])]
        lines += ["", "", use, "", "expected, found = use(made), use(revived)", *_compared(lost, dialect)]
    if dialect == "tf_keras" and any("tf." in line for line in lines):
        imports.append("import tensorflow as tf")
    head = [each for each in imports if each not in argument.script.splitlines()]
    return "\n".join((*head, argument.script.rstrip("\n"), *lines, ""))


def _held(lost: Lost) -> list[str]:
    """The lines that compare what is held."""
    expressions = [f"made{lost.path}", f"revived{lost.path}"]
    if not _is_literal(lost.made):
        expressions = [f"str({each})" for each in expressions]
    return [
        f"expected, found = {', '.join(expressions)}",
        'assert found == expected, f"{found!r} in the revived, {expected!r} in what was made"',
    ]


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _inputs(calls: WayOfCall, dialect: str) -> list[str]:
    lines = ["rng = np.random.default_rng(0)", "values = ["]
    for spec in calls.tensors:
        shape, dtype = (ROWS, *spec["shape"]), spec["dtype"]
        if dtype == "string":
            lines.append(f'    np.array(["red", "green", "blue"], object)[rng.integers(0, 3, {shape})],')
        elif "int" in dtype or dtype == "bool":
            lines.append(f'    rng.integers(0, 2, {shape}).astype("{dtype}"),')
        else:
            lines.append(f'    rng.standard_normal({shape}).astype("{dtype}"),')
    return [*lines, "]", *([f"values = list(map({_TENSOR[dialect]}, values))"] if dialect in _TENSOR else ())]


_TENSOR = {"keras": "keras.ops.convert_to_tensor", "tf_keras": "tf.convert_to_tensor"}


def _use(calls: WayOfCall, lost: Lost, dialect: str) -> list[str]:
    pack = "keras.tree" if dialect == "keras" else "tf.nest"
    given = {"one": "values[0]", "list": "values", "each": "*values"}.get(
        calls.given, f"{pack}.pack_sequence_as(it.input, values)"
    )
    training = ", training=True" if lost.path.startswith("training") else ""
    gives = f"it({given}{training})"
    lines = ["def use(it):", "    keras.utils.set_random_seed(0)"]
    if lost.path.endswith("losses"):
        return [*lines, f"    {gives}", "    return list(it.losses)"]
    return [*lines, f"    return {gives}"]


def _copied(dialect: str) -> str:
    return _COPIED.format(variables="made.variables, revived.variables")


def _compared(lost: Lost, dialect: str) -> list[str]:
    family = "keras" if dialect == "keras" else "tf_keras"
    lines = _COMPARED.format(flatten=_FLATTEN[family], array=_ARRAY[family]).splitlines()
    if lost.path.endswith("masks"):
        masks = '[getattr(each, "_keras_mask", None) for each in {}({})]'
        both = [masks.format(_FLATTEN[family], each) for each in ("expected", "found")]
        return [f"expected, found = {', '.join(both)}", "assert str(found) == str(expected), (found, expected)"]
    return lines
