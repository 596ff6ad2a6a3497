"""The script of a finding as a test: in the style of Keras' own, or as a plain function of pytest.

Owns how an assertion of a script stands in a test, what a test is called, and what else it needs: a mark as long as it
fails, seeds, and the global settings put back. Nothing of clonediff is in it.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clonediff.harness.inside.cloners.users import is_users
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.rewritten import (
    Edit,
    Imported,
    ScriptSource,
    bound,
    dotted,
    indented,
    renamed,
    standing_alone,
    used,
    with_short_comments,
)
from clonediff.harness.scripts.run_alone import UNTOLD
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import Difference, Finding, cloner_said

WIDTH = 80
"""The columns of a line, in Keras' code."""

SOURCE_LACKS = re.compile(
    r"layers\.((Global)?(Avg|Max)Pool\dD|(Separable)?Convolution\w+|(Flax|Jax|TFSM)Layer)"
    r"|layers\.(GroupQueryAttention|TorchModuleWrapper)|ops\.(hard_swish|rearrange|swish)|tree\.MAP_TO_NONE"
    r"|models\.(load_model|save_model|model_from_json)"
)
"""What `keras` has under such a name, and `keras.src` has not."""

_OF_SOURCE = ("layers", "models", "ops", "testing", "tree")
_CLONING = "keras.src.models.cloning"
_OTHERWISE = {
    "Input": "layers.Input",
    "Model": "models.Model",
    "Sequential": "models.Sequential",
    "models.clone_model": "clone_model",
}
_REFUSALS = ("no error", "unclear error")
"""Aspects of a script whose clone is to be refused by a clear error."""
_CLEAR = "(TypeError, ValueError)"
_PUT_BACK = {
    "keras.config.set_dtype_policy": ("policy", "keras.config.dtype_policy()"),
    "keras.mixed_precision.set_global_policy": ("policy", "keras.mixed_precision.global_policy()"),
    "keras.config.set_floatx": ("floatx", "keras.config.floatx()"),
    "keras.backend.set_floatx": ("floatx", "keras.backend.floatx()"),
    "keras.config.set_image_data_format": ("data_format", "keras.config.image_data_format()"),
    "keras.backend.set_image_data_format": ("data_format", "keras.backend.image_data_format()"),
}
"""What sets something for all models, and what says how it was before, with a name for that."""
_UNDONE = {
    "keras.config.disable_flash_attention": "keras.config.enable_flash_attention",
    "keras.config.enable_unsafe_deserialization": "keras.utils.clear_session",
}
"""What else sets something for all models, and what undoes it."""
_OF_CHANCE = ("np.testing", "array_equal", "np.random", ".train_on_batch(", ".fit(")
"""Where one of these is in a script, what it shows may depend on random numbers."""
_COMPARED = {
    ast.Eq: "assertEqual",
    ast.NotEq: "assertNotEqual",
    ast.Is: "assertIs",
    ast.IsNot: "assertIsNot",
    ast.In: "assertIn",
    ast.NotIn: "assertNotIn",
}


class NoTestError(ValueError):
    """A script of which no test can be made; the message says why."""


@dataclass(frozen=True, slots=True)
class _Style:
    """Of Keras' own tests (`own`), or a plain function; what sets the seeds and numbers layers anew."""

    own: bool
    seeds: str
    anew: str = ""


def keras_test(script: Script, finding: Finding) -> str:
    """A file for `keras/src/models/` in a checkout of Keras: one test, which is to fail until the bug is mended."""
    if finding.generation != "keras":
        raise NoTestError(
            f"Keras' own tests are of Keras 3, and this is of {finding.generation}; --as-pytest writes a plain one"
        )
    return _written(script, finding, _Style(own=True, seeds="keras.utils.set_random_seed(0)"))


def pytest_test(script: Script, finding: Finding, subject: Subject | None = None) -> str:
    """A file with one function of pytest, for whatever project; it is to fail until the bug is mended.

    The script is written for the `subject`, the finding's own unless given.
    """
    if finding.generation == "keras2":
        raise NoTestError("Keras 2.2 and 2.3 need lines before they are imported, which no test can have")
    subject = subject or Subject.parse(finding.subject or finding.generation)
    of_tensorflow = subject.package == "tensorflow"
    seeds = "tf.random.set_seed(0)" if of_tensorflow else "keras.utils.set_random_seed(0)"
    return _written(script, finding, _Style(own=False, seeds=seeds, anew="keras.backend.clear_session()"))


def example(finding: Finding) -> str:
    """The lines that have a test of `@given(functional_graphs())` try the graph of a finding each time."""
    graph = json.dumps(json.loads(bytes(finding.graph)), separators=(",", ":"), ensure_ascii=False)
    return (
        "# from hypothesis import example\n"
        "# from clonediff.strategies import from_json\n"
        f"@example(from_json({graph!r}))  # {' '.join(finding.title.split())}\n"
    )


def name_of_test(finding: Finding) -> str:
    """What the test is called: what a good clone does."""
    words = re.sub(r"\W", "_", _promised(finding), flags=re.ASCII).split("_")
    return textwrap.shorten(" ".join(["test", *words]), _LONGEST_NAME, placeholder="").replace(" ", "_")


_LONGEST_NAME = WIDTH - len("    def (self):")
_NAMES = {
    "own": "clone_has_own_{what}_of_{kind}",
    "sharing": "clone_shares_{kind}",
    "outputs": "clone_gives_same_outputs_with_{kind}",
    "masks": "clone_keeps_mask_of_{kind}",
    "functions": "clone_function_with_{kind}",
    "untouched": "cloning_keeps_{what}_of_original",
    "again": "second_clone_keeps_{what}_of_{kind}",
    "training": "clone_trains_alike_with_{kind}",
    "together": "clone_trains_beside_original_with_{kind}",
    "warned": "cloning_warns_of_nothing_with_{kind}",
    "often": "cloning_often_leaves_nothing_behind_with_{kind}",
    "saved": "saved_clone_keeps_{what}_of_{kind}",
}
_AT_THE_END = re.compile(r"( (missing|extra|added|lost|shared|type|value))+$")


def _promised(finding: Finding) -> str:
    root = finding.root
    if root is None:
        return "clone"
    kind = _snake(root.first.kind) if root.first is not None else ""
    kind = "model" if kind in ("", "functional", "sequential") else kind
    if root.check == "made":
        if root.aspect in _REFUSALS:
            return "clone_model_refuses_invalid_arguments"
        return f"clone_model_{finding.known.removeprefix('tf-')}" if finding.known else f"clone_model_with_{kind}"
    what = _AT_THE_END.sub("", root.aspect.removeprefix("config.").removeprefix("attribute.").removeprefix("compiled."))
    return _NAMES.get(root.check, "clone_keeps_{what}_of_{kind}").format(what=_snake(what), kind=kind)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _written(script: Script, finding: Finding, style: _Style) -> str:
    root = finding.root
    if root is None or not script.raises:
        raise NoTestError("its script shows the model only and compares nothing")
    if "from clonediff import " in script.text:
        raise NoTestError("its script clones with clonediff's own cloner")
    if style.own and is_users(finding.cloner):
        raise NoTestError(f"its script clones with {cloner_said(finding.cloner)}, which is none of Keras'")
    if script.raises in UNTOLD or not script.raises.isidentifier() or script.raises.isupper():
        raise NoTestError(f"its script does not end in an exception ({script.raises}), so that a test cannot fail")
    source = ScriptSource(script.text)
    names = set(bound(source.tree))
    edits = renamed(source, lambda parts: _spelled(parts, names)) if style.own else []
    alone = [node for node in standing_alone(source) if not style.own or node.lineno > _cloned_at(source)]
    body = _Body(source, style, edits, root).text(alone)
    top = "\n\n\n".join(source.whole(node, edits).strip("\n") for node in alone)
    head = f"def {name_of_test(finding)}({'self' if style.own else 'request' if 'request.' in body else ''}):\n"
    test = _mark(script, finding, style) + head + indented(body, 4)
    if style.own:
        test = "class CloneModelTest(testing.TestCase):\n" + indented(test, 4)
    text = "\n\n\n".join(filter(None, (top, test)))
    text = f"{_imports(source.imports, text, style)}\n\n{text}\n"
    return formatted(with_short_comments(text, WIDTH))


def _cloned_at(source: ScriptSource) -> int:
    """The line where the clone is made.

    In Keras' own tests, what the model is made of stays within the test: Keras finds a class by its name in a module of
    its own, and would so be spared what it breaks with the classes of anybody else.
    """
    names = (node for node in ast.walk(source.tree) if isinstance(node, ast.Name) and node.id == "clone")
    return min((node.lineno for node in names), default=0)


def _spelled(parts: list[str], names: set[str]) -> str:
    """How Keras' own tests spell a name; `names` are those that the script gives to something else."""
    as_it_is = ".".join(parts)
    own = as_it_is.removeprefix("keras.")
    if parts[0] not in ("keras", "layers", "ops") or parts[0] in names:
        return as_it_is
    if SOURCE_LACKS.fullmatch(own):
        return f"keras.{own}"
    own = _OTHERWISE.get(own, own)
    head = own.partition(".")[0]
    return own if head in (*_OF_SOURCE, "clone_model") and head not in names else as_it_is


def _mark(script: Script, finding: Finding, style: _Style) -> str:
    raises = _raised_in_the_test(script, finding, style)
    lines = ["@pytest.mark.xfail(", "    strict=True,", *([f"    raises={raises},"] if raises else [])]
    notes = [each.removeprefix("See ") for each in finding.notes if each.startswith("See http")]
    parts = _parts(f"{' '.join(finding.title.split())}{''.join(f': {each}' for each in notes)}", WIDTH - 18)
    if len(parts) == 1:
        lines.append(f"    reason={_quoted(parts[0])},")
    else:
        lines += ["    reason=(", *(f"        {_quoted(each)}" for each in parts), "    ),"]
    return "\n".join((*lines, ")", ""))


def _raised_in_the_test(script: Script, finding: Finding, style: _Style) -> str:
    """The exception in which the test ends; "" where it has no name that every Python knows."""
    assert finding.root is not None
    if finding.root.aspect in _REFUSALS:
        return "AssertionError" if style.own and script.raises in ("AssertionError", "TypeError", "ValueError") else ""
    known = getattr(builtins, script.raises, None)
    return script.raises if isinstance(known, type) and issubclass(known, Exception) else ""


def _parts(text: str, width: int) -> list[str]:
    """A text as strings that stand one below the other."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [*(f"{each} " for each in lines[:-1]), *lines[-1:]]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class _Body:
    """The statements of a script as those of a test."""

    def __init__(self, source: ScriptSource, style: _Style, edits: Sequence[Edit], root: Difference) -> None:
        self._source = source
        self._style = style
        self._edits = list(edits)
        self._root = root
        self._used = used(source.tree)

    def text(self, alone: Sequence[ast.stmt]) -> str:
        """The lines, without the definitions that stand `alone`."""
        own = [node for node in self._source.tree.body if node not in alone and not self._source.is_movable(node)]
        changed = [each for node in own for each in self._changed(node)]
        edits = [*changed, *(each for each in self._edits if not any(_within(each, other) for other in changed))]
        parts = [self._source.whole(node, edits) for node in own if not _is_no_error(node)]
        written = "\n".join(parts)
        return "\n".join((*self._before(written), written.strip("\n")))

    def _before(self, written: str) -> Iterator[str]:
        """What is said before anything else: the seeds, and what is put back at the end."""
        if self._style.anew:
            yield self._style.anew
        if any(each in self._source.text for each in _OF_CHANCE):
            yield self._style.seeds
        cleanup = "self.addCleanup" if self._style.own else "request.addfinalizer"
        for set_, (name, was) in _PUT_BACK.items():
            if f"{set_}(" not in written:
                continue
            if self._style.own:
                yield f"{cleanup}({set_}, {was})"
            else:
                yield f"{name}_before = {was}"
                yield f"{cleanup}(lambda: {set_}({name}_before))"
        yield from (f"{cleanup}({undone})" for set_, undone in _UNDONE.items() if f"{set_}(" in written)

    def _changed(self, node: ast.stmt) -> Iterator[Edit]:
        """The statements within one that stand otherwise in a test."""
        start, end = self._source.span(node)
        text = self._otherwise(node)
        if text is not None:
            yield Edit(start, end, text)
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef):
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.stmt):
                    yield from self._changed(each)

    def _otherwise(self, node: ast.stmt) -> str | None:
        """The text of a statement in a test; None where it is the same."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = self._text(node.value)
            if node.targets[0].id == "clone" and self._root.aspect in _REFUSALS:
                return self._refused(value, node)
            return value if node.targets[0].id not in self._used else None
        if not self._style.own:
            return None
        if isinstance(node, ast.Assert):
            return self._asserted(node)
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and dotted(call.func) == ["np", "testing", "assert_array_equal"]:
            return f"self.assertAllEqual({', '.join(map(self._array, call.args))})"
        return None

    def _refused(self, clone: str, node: ast.Assign) -> str:
        words = [each.arg for each in ast.walk(node.value) if isinstance(each, ast.keyword) and each.arg]
        said = _quoted("|".join(words) or "model")
        clear = self._root.aspect == "no error"
        if self._style.own:
            scope = f"self.assertRaises({_CLEAR})" if clear else f"self.assertRaisesRegex({_CLEAR}, {said})"
        else:
            scope = f"pytest.raises({_CLEAR}{'' if clear else f', match={said}'})"
        blanks = " " * node.col_offset
        return f"with {scope}:\n{blanks}    {clone}"

    def _asserted(self, node: ast.Assert) -> str:
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            name, [other] = _COMPARED.get(type(test.ops[0]), ""), test.comparators
            one = self._text(test.left)
            if name in ("assertIs", "assertIsNot") and isinstance(other, ast.Constant) and other.value is None:
                return f"self.{name}None({one})"
            if name:
                return f"self.{name}({one}, {self._text(other)})"
        said = f", {self._text(node.msg)}" if node.msg is not None else ""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return f"self.assertFalse({self._text(test.operand)}{said})"
        return f"self.assertTrue({self._text(test)}{said})"

    def _array(self, node: ast.expr) -> str:
        """An argument of `assertAllEqual`, which makes arrays of them itself."""
        convert = ["keras", "ops", "convert_to_numpy"]
        if isinstance(node, ast.Call) and dotted(node.func) == convert:
            return self._text(node.args[0])
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Call) and dotted(node.value.func) == ["map"]:
            function, *given = node.value.args
            if dotted(function) == convert and len(given) == 1:
                return f"*{self._text(given[0])}"
        return self._text(node)

    def _text(self, node: ast.expr) -> str:
        return self._source.written(node, self._edits)


def _within(one: Edit, other: Edit) -> bool:
    return other.start <= one.start and one.end <= other.end


def _is_no_error(node: ast.stmt) -> bool:
    """Whether it is the line that is reached where no error was raised."""
    return (
        isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and dotted(node.exc.func) == ["AssertionError"]
    )


def _imports(there: Iterable[Imported], text: str, style: _Style) -> str:
    """The lines that import what a text needs, in the order of Keras' own: one a line, Python's, others', Keras'."""
    needed = used(ast.parse(text))
    lines = {each.name: each.line for each in there}
    if style.own:
        lines |= {"keras": "import keras", "clone_model": f"from {_CLONING} import clone_model"}
        lines |= {name: f"from keras.src import {name}" for name in _OF_SOURCE}
    lines |= {"pytest": "import pytest"}
    lines |= {} if "tf" in lines else {"tf": "import tensorflow as tf"}
    chosen = sorted({lines[name] for name in needed if name in lines}, key=_order)
    groups = [[line for line in chosen if _group(line, style) == group] for group in range(3)]
    return "\n\n".join("\n".join(group) for group in groups if group) + "\n"


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


def _group(line: str, style: _Style) -> int:
    root = re.split(r"[ .]", line)[1]
    return 0 if root in sys.stdlib_module_names else 2 if root == "keras" and style.own else 1


def formatted(text: str) -> str:
    """Text as ruff formats Keras' code, where there is a ruff; otherwise as it is."""
    program = shutil.which("ruff")
    command = [program] if program else [sys.executable, "-m", "ruff"] if importlib.util.find_spec("ruff") else None
    if command is None:
        return text
    options = ["format", "--isolated", f"--line-length={WIDTH}", "--stdin-filename=clone_test.py", "-"]
    try:
        done = subprocess.run([*command, *options], input=text.encode(), capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return text
    return done.stdout.decode() if done.returncode == 0 and done.stdout else text
