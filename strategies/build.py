"""Instructions become lines of Python, and each line runs beside Keras as soon as it is written.

A line that Keras refuses raises, and its instruction is taken back. The lines that remain are the source of a model.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import keyword
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from clonediff.strategies.custom import CUSTOM_LAYERS, OWN_MODELS
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.functions import DEFINITIONS, REGISTERED
from clonediff.strategies.operations import expression, is_operation
from clonediff.strategies.program import (
    Again,
    Apply,
    Arrangement,
    Generation,
    Input,
    Instruction,
    Nest,
    Packed,
    Preparation,
    Program,
    Scope,
    Tensor,
)


class Refused(Exception):
    """An instruction that Keras does not accept, or that cannot be part of a model that is compared."""


class Undefined(Exception):
    """A program names a function that neither it nor `DEFINITIONS` has."""


class Output(NamedTuple):
    """A tensor: the text for it, its shape without the batch, its dtype, and whether it carries a mask."""

    word: str
    shape: tuple[int | None, ...]
    dtype: str
    mask: bool = False


class Keras(Protocol):
    """A Keras that runs the lines of a script, all in one module."""

    def run(self, text: str) -> None:
        """Run lines; whatever they raise, and what the methods below raise, is `Refused`."""

    def take(self, word: str, spec: Input, like: str = "") -> Output:
        """The input under that word. Its numbers are those of the tensor that it is `like`, or follow from its spec."""

    def test(self, text: str) -> None:
        """Run an expression on the numbers of its tensors."""

    def enter(self, scope: str) -> None:
        """Run what comes within a scope."""

    def call(self, word: str, text: str) -> list[Output]:
        """Call a layer or an operation, assign the result to the variable `word`, and return its tensors."""


_NAMES = re.compile(r"<(\w+)>")
_WORD = re.compile(r"\w+")
_RESERVED = frozenset(
    (
        *("model", "keras", "layers", "ops", "tf", "np", "functools", "math", "x", "sys", "importlib", "spec"),
        *("call_function", "clone_model", "clone"),
    )
)
_FIRST = frozenset(
    (
        *("units", "function", "activation", "target_shape", "dims", "n", "rate", "filters", "layer", "cell"),
        *("input_dim", "stddev", "layers", "scale"),
    )
)
"""Arguments that are usually passed by position if they come first: `Dense(4)`."""
_WIDEST = 120


class Call(NamedTuple):
    """How something was called: on this many tensors, passed so."""

    tensors: int
    packed: Packed


class Line(NamedTuple):
    """A line of the script, and whether it makes a layer or calls one."""

    text: str
    role: str = ""


@dataclass
class Level:
    """A model in the making: its inputs; of each instruction its tensors, the variable of its layer, and its call.

    In a `chain` each layer gives one tensor.
    """

    stem: str = ""
    chain: bool = False
    inputs: list[Output] = field(default_factory=list)
    specs: list[Input] = field(default_factory=list)
    nodes: list[list[Output]] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def output(self, tensor: Tensor) -> Output:
        """The output that a program means."""
        node, number = tensor
        if node < 0:
            return self.inputs[min(-1 - node, len(self.inputs) - 1)]
        outputs = self.nodes[min(node, len(self.nodes) - 1)]
        return outputs[number % len(outputs)]

    def tensors(self) -> list[Tensor]:
        """Every tensor, the newest first."""
        outputs = [(node, number) for node in range(len(self.nodes)) for number in range(len(self.nodes[node]))]
        return [*reversed(outputs), *((-1 - number, 0) for number in range(len(self.inputs)))]


class Builder:
    """Builds a model from instructions: runs each line in a Keras, and keeps those that it accepts as a script."""

    def __init__(self, generation: Generation, keras: Keras, scope: Scope | None = None) -> None:
        self.dialect = DIALECTS[generation]
        self.keras = keras
        self.scope = scope
        self.lines: list[Line] = []
        self._names: set[str] = set(_RESERVED)
        self._imported: set[str] = set()
        self._defined: dict[str, str] = {}
        """The name of each definition by its template; the text behind a name under "text of …" or "import of …"."""
        self._files: dict[str, str] = {}
        if scope is not None and scope.within != "clone":
            keras.enter(self.scope_text())

    # -- what may have to be taken back

    @contextlib.contextmanager
    def attempt(self, level: Level) -> Iterator[None]:
        """A scope in which an exception takes back the lines and names of the script, and the tensors of the level."""
        lines, names, defined, files = len(self.lines), set(self._names), dict(self._defined), dict(self._files)
        inputs, nodes = len(level.inputs), len(level.nodes)
        try:
            yield
        except Exception:
            del self.lines[lines:], level.inputs[inputs:], level.specs[inputs:]
            del level.nodes[nodes:], level.layers[nodes:], level.calls[nodes:]
            self._names, self._defined, self._files = names, defined, files
            raise

    def _name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._names or keyword.iskeyword(name) or hasattr(builtins, name):
            count += 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name

    def add(self, text: str, role: str = "") -> None:
        """Run a line, which then stands in the script."""
        self.keras.run(text)
        self.lines.append(Line(text, role))

    def _define(self, name: str, own: Mapping[str, str]) -> str:
        """The name of a function or class, once it is defined above the model."""
        template = own.get(name) or DEFINITIONS.get(name)
        if template is None:
            raise Undefined(f"<{name}> has no definition")
        if self.scope is not None and name == self.scope.name:
            template = template.removeprefix(REGISTERED)
        if template not in self._defined:
            chosen = self._name(name)
            text = template.replace(f"<{name}>", chosen)
            text = self.dialect.spell(_NAMES.sub(lambda match: self._define(match[1], own), text))
            self._import(text)
            self.keras.run(text)
            self._defined[template] = chosen
            self._defined[f"text of {chosen}"] = text
        return self._defined[template]

    def text(self, template: str, words: Sequence[str] = (), own: Mapping[str, str] | None = None) -> str:
        """The text of a value: with the words of tensors, and the names of what it needs, which is defined."""

        def word(match: re.Match[str]) -> str:
            return words[int(match[1]) % len(words)] if match[1].isdigit() else self._define(match[1], own or {})

        text = self.dialect.spell(_NAMES.sub(word, template))
        self._import(text)
        return text

    def _import(self, text: str) -> None:
        """Import what a text needs and is not there."""
        for line in self.dialect.head(text).splitlines():
            if line not in self._imported:
                self.keras.run(line)
                self._imported.add(line)

    # -- inputs and instructions

    def take(self, level: Level, spec: Input, like: str = "") -> Output:
        """Make an input, of a model in a model like a tensor."""
        word = self._name(f"{level.stem}inputs")
        self.add(self.text(f"{word} = keras.Input({input_arguments(spec)})"), "input")
        level.specs.append(spec)
        level.inputs.append(self.keras.take(word, spec, like))
        return level.inputs[-1]

    def do(self, level: Level, instruction: Instruction) -> None:
        """Follow an instruction; what Keras refuses of it raises `Refused`."""
        with self.attempt(level):
            match instruction:
                case Apply():
                    self._apply(level, instruction)
                case Again():
                    self._again(level, instruction)
                case Nest():
                    self._nest(level, instruction)

    def _apply(self, level: Level, apply: Apply) -> None:
        own = dict(apply.definitions)
        words = [level.output(tensor).word for tensor in apply.tensors]
        if level.chain and any("<0>" in text for _, text in apply.arguments):
            raise Refused("a layer of a chain is made before there is a tensor")
        arguments = tuple((name, self.text(text, words, own)) for name, text in apply.arguments)
        if is_operation(apply.kind):
            kind = apply.kind
            if "operator." not in kind:  # a dialect has some with the parenthesis: "ops.any("
                kind = self.text(f"{kind}(").removesuffix("(")
            text = expression(kind, arguments, words[: apply.count], apply.packed)
            variable = apply.kind.rpartition(".")[2]
            self._call(level, "", text, variable, Call(apply.count, apply.packed))
            return
        kind = self._class(apply.kind)
        passed = [text if not name or (not at and name in _FIRST) else f"{name}={text}"
                 for at, (name, text) in enumerate(arguments)]  # fmt: skip
        stem = snake_case(re.split("[.:]", apply.kind)[-1])
        layer = self._name(f"{stem}_layer")
        self.add(f"{layer} = {kind}({', '.join(passed)})", "make")
        for line in apply.after:
            self.keras.run(f"{layer}.{line.partition(' = ')[0]}")  # an attribute that is not there is refused
            self.add(f"{layer}.{self.text(line, words, own)}", "make")
        self._call(level, layer, f"{layer}({self._passed(apply, words)})", stem, Call(apply.count, apply.packed))

    def _passed(self, apply: Apply, words: Sequence[str]) -> str:
        taken = words[: apply.count]
        passed = [f"[{', '.join(taken)}]"] if apply.packed == "list" else list(taken)
        own = dict(apply.definitions)
        return ", ".join((*passed, *(f"{name}={self.text(text, words, own)}" for name, text in apply.call)))

    def _class(self, kind: str) -> str:
        """The class of a layer, which is Keras' own, custom, or the user's."""
        if kind in CUSTOM_LAYERS:
            return self._define(kind, {})
        if ":" not in kind and "." not in kind:
            return self.text(f"layers.{kind}(").removesuffix("(")
        file, _, name = kind.rpartition(":")
        module, name = (file, name) if file else kind.rsplit(".", 1)
        if module not in self._files:
            stem = os.path.splitext(os.path.basename(file))[0] if file else "_".join(module.split(".")[-2:])
            self._files[module] = variable = self._name(snake_case(stem))
            imported = f"import {module}\n" if variable == module else f"import {module} as {variable}\n"
            text = loading_lines(variable, file) if file else imported
            self._import(text)
            self.keras.run(text)
            self._defined[f"{'text' if file else 'import'} of {variable}"] = text
        return f"{self._files[module]}.{name}"

    def _call(self, level: Level, layer: str, text: str, stem: str, call: Call) -> None:
        """Call something, and have its tensors as those of a node."""
        word = self._name(f"{stem}_output" if hasattr(builtins, stem) else stem)
        outputs = self.keras.call(word, text)
        if level.chain and (not layer or [output.word for output in outputs] != [word]):
            raise Refused("it is no link of a chain")
        self.lines.append(Line(f"{word} = {text}", "call"))
        level.nodes.append(outputs)
        level.layers.append(layer)
        level.calls.append(call)

    def _again(self, level: Level, again: Again) -> None:
        layer = level.layers[again.layer] if again.layer < len(level.layers) else ""
        if not layer:
            raise Refused("there is no such layer")
        words = [level.output(tensor).word for tensor in again.tensors]
        call = level.calls[again.layer]
        listed = f"[{', '.join(words)}]" if call.packed == "list" else ", ".join(words)
        passed = ", ".join((listed, *(f"{name}={self.text(text, words)}" for name, text in again.call)))
        self._call(level, layer, f"{layer}({passed})", layer.removesuffix("_layer"), call)

    def _nest(self, level: Level, nest: Nest) -> None:
        inner, begin = self.open_nest(level, nest.tensors, nest.sequential)
        for instruction in nest.body:
            self.do(inner, instruction)
        self.close_nest(level, nest, inner, begin)

    def open_nest(self, level: Level, tensors: Sequence[Tensor], sequential: bool) -> tuple[Level, int]:
        """Make inputs like tensors, for a model in the model; where its lines begin."""
        inner, begin = Level("inner_", sequential), len(self.lines)
        for tensor in tensors[:1] if sequential else tensors:
            output = level.output(tensor)
            self.take(inner, Input(output.shape, output.dtype), output.word)
        return inner, begin

    def close_nest(self, level: Level, nest: Nest, inner: Level, begin: int) -> None:
        """Make the model of a body that was followed, and call it."""
        variable = self._name(nest.name or "inner_model")
        self.close(inner, variable, begin, nest)
        words = [level.output(tensor).word for tensor in nest.tensors]
        taken = words[: len(inner.inputs)]
        call = Call(len(taken), "list" if len(taken) > 1 else "one")
        listed = f"[{', '.join(taken)}]" if call.packed == "list" else taken[0]
        passed = ", ".join((listed, *(f"{name}={self.text(text, words)}" for name, text in nest.call)))
        self._call(level, variable, f"{variable}({passed})", "sequential" if nest.sequential else "inner", call)

    def close(self, level: Level, variable: str, begin: int, program: Program | Nest) -> None:
        """Make the model of a level, whose lines are those from `begin` on."""
        base = kind = "keras.Sequential" if program.sequential else "keras.Model"
        if program.own:
            title = base.replace("keras.", "Own")
            template = OWN_MODELS["plain" if program.sequential and program.own == "option" else program.own].format(
                base=base
            )
            kind = self._define(title, {title: template.replace("<own>", f"<{title}>")})
        named = "" if program.name is None else f', name="{program.name}"'
        if program.sequential:
            self._close_sequential(level, variable, begin, f"{kind}({{}}{named})")
        else:
            takes, gives = (program.takes, program.gives) if isinstance(program, Program) else ("plain", "plain")
            taken = arranged([tensor.word for tensor in level.inputs], takes, "in")
            passed = arranged([level.output(tensor).word for tensor in program.outputs], gives, "out")
            option = ", factor=2.0" if program.own == "option" else ""
            self.add(f"{variable} = {kind}({taken}, {passed}{named}{option})")
        if program.frozen:
            self.add(f"{variable}.trainable = False")

    def _close_sequential(self, level: Level, variable: str, begin: int, chain: str) -> None:
        """Write the layers of a chain without their calls, which say only what Keras takes."""
        if not level.layers or "" in level.layers or any(len(outputs) != 1 for outputs in level.nodes):
            raise Refused("no chain of layers")
        spec = level.specs[0]
        function = "keras.Input" if spec.name is None else "layers.InputLayer"
        first = self.text(f"{function}({input_arguments(spec)})")
        self.lines[begin:] = [line for line in self.lines[begin:] if line.role == "make"]
        listed = ", ".join((first, *level.layers))
        self.add(f"{variable} = {chain.format(f'[{listed}]')}")

    def prepare(self, level: Level, preparation: Preparation) -> None:
        """Run the lines of a preparation."""
        it = "model" if preparation.on is None else level.layers[preparation.on]
        for line in preparation.lines:
            if preparation.does == "set":
                self.keras.run(
                    f"{it}.{line.partition(' = ')[0].removeprefix('<it>.')}"
                )  # refused where it is not there
            self.add(self.text(line.replace("<it>", it)))

    def test(self, level: Level, program: Program) -> None:
        """Run the model on numbers, with what it regularizes."""
        words = [tensor.word for tensor in level.inputs]
        taken = words[0] if program.sequential else arranged(words, program.takes, "in")
        self.keras.test(f"[model({taken}), *model.losses]")

    # -- the script

    def source(self, more: str = "") -> str:
        """The script; it imports what `more` expressions need, too."""
        lines = _inlined(self.lines)
        if self.scope is not None and self.scope.within in ("model", "both"):
            lines = [f"with {self.scope_text()}:", *(f"    {line}" for line in lines)]
        definitions = [text for key, text in self._defined.items() if key.startswith("text of ")]
        imports = [text for key, text in self._defined.items() if key.startswith("import of ")]
        body = "".join(f"{line}\n" for line in lines)
        # Two empty lines before a definition, and one if it is a single line.
        above = "".join("\n" * min(2, text.count("\n")) + text for text in definitions)
        head = self.dialect.head("".join(definitions) + body + more + " keras.")  # a script always imports keras
        plain = "".join(line for line in head.splitlines(keepends=True) if line.startswith("import"))
        return plain + "".join(imports) + head.removeprefix(plain) + above + ("\n\n" if definitions else "\n") + body

    def scope_text(self) -> str:
        """The scope in which the custom function or class is found."""
        assert self.scope is not None
        name = self._define(self.scope.name, {})
        self._import("keras.")
        return f'keras.utils.custom_object_scope({{"{name}": {name}}})'


def _inlined(lines: Sequence[Line]) -> list[str]:
    """The lines, where a layer that is named once only stands where it is used."""
    texts = [line.text for line in lines]
    for line in lines:
        variable, _, layer = line.text.partition(" = ")
        if line.role == "make" and "." not in variable:
            uses = [text for text in texts if variable in text and variable in _WORD.findall(text)]
            if len(uses) == 2 and _WORD.findall(uses[1]).count(variable) == 1 and len(uses[1]) + len(layer) < _WIDEST:
                parts = (layer if part == variable else part for part in re.split(r"(\W+)", uses[1]))
                texts[texts.index(uses[1])] = "".join(parts)
                texts.remove(line.text)
    return texts


def loading_lines(variable: str, path: str) -> str:
    """The lines that load a file as a module, as Python's own documentation has them."""
    name = json.dumps(os.path.splitext(os.path.basename(path))[0])
    return (
        f"spec = importlib.util.spec_from_file_location({name}, {json.dumps(path)})\n"
        f"{variable} = importlib.util.module_from_spec(spec)\n"
        f"sys.modules[{name}] = {variable}\n"
        f"spec.loader.exec_module({variable})\n"
    )


def input_arguments(spec: Input) -> str:
    """The arguments that make an input."""
    parts = [f"shape={spec.shape}"]
    parts += [f'dtype="{spec.dtype}"'] if spec.dtype != "float32" else []
    parts += ["optional=True"] if spec.optional else []
    parts += [f'name="{spec.name}"'] if spec.name is not None else []
    return ", ".join(parts)


def snake_case(name: str) -> str:
    """A class name in snake_case case, as a variable is named."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z0-9][A-Za-z])", "_", re.sub(r"\W", "_", name)).lower()
    return word if re.fullmatch(r"[a-z_]\w*", word) else f"t_{word}"


def arranged(words: Sequence[str], how: Arrangement, stem: str) -> str:
    """Words nested as an arrangement says."""
    listed = ", ".join(words)
    match how:
        case "plain":
            return words[0] if len(words) == 1 else f"[{listed}]"
        case "tuple":
            return f"({listed}{',' if len(words) == 1 else ''})"
        case "dict":
            pairs = ", ".join(f'"{stem}_{place}": {word}' for place, word in enumerate(words))
            return f"{{{pairs}}}"
        case "nested" if len(words) > 1:
            rest = words[1:]
            return f"[{words[0]}, ({', '.join(rest)}{',' if len(rest) == 1 else ''})]"
    return f"[{listed}]"
