"""Instructions become lines of Python, and each line runs beside Keras as soon as it is written.

A line that Keras refuses raises, and everything is as it was before. What stands at the end is the source of a model.
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

from .custom import CUSTOM_LAYERS, OWN_MODELS
from .dialects import DIALECTS
from .functions import DEFINITIONS, REGISTERED
from .operations import expression, is_operation
from .program import (
    Again,
    Apply,
    Arrangement,
    Generation,
    Input,
    Instruction,
    Nest,
    Preparation,
    Program,
    Scope,
    Tensor,
)


class Refused(Exception):
    """Keras accepts a line, but what it gives cannot stand in a model that is compared."""


class Output(NamedTuple):
    """A tensor: the text for it, its shape without the batch, its dtype, and whether it carries a mask."""

    word: str
    shape: tuple[int | None, ...]
    dtype: str
    mask: bool = False


class Keras(Protocol):
    """The Keras that runs lines, in the module of a script."""

    def run(self, text: str) -> None:
        """Run lines; whatever they raise is a refusal."""

    def feed(self, word: str, spec: Input, like: str = "") -> Output:
        """Have numbers for an input that was made: those of a tensor that it is `like`, or new ones."""

    def enter(self, scope: str) -> None:
        """Run what comes within a scope."""

    def call(self, word: str, text: str) -> list[Output]:
        """Call something on symbolic tensors and on numbers, and leave the result under that word: its tensors."""


_NAMES = re.compile(r"<(\w+)>")
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
"""Arguments that people give without their name, where they come first."""
_WIDEST = 100


class Line(NamedTuple):
    """A line of the script, and whether it makes a layer or calls one."""

    text: str
    role: str = ""


@dataclass
class Level:
    """A model in the making: its inputs, the tensors of each instruction, and the variable of its layer.

    In a `chain` each layer gives one tensor.
    """

    stem: str = ""
    chain: bool = False
    inputs: list[Output] = field(default_factory=list)
    specs: list[Input] = field(default_factory=list)
    nodes: list[list[Output]] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)

    def output(self, tensor: Tensor) -> Output:
        """The output that a program means."""
        node, number = tensor
        if node < 0:
            return self.inputs[min(-1 - node, len(self.inputs) - 1)]
        outputs = self.nodes[min(node, len(self.nodes) - 1)]
        return outputs[number % len(outputs)]

    def tensors(self) -> list[Tensor]:
        """Every tensor, the newest first."""
        made = [(node, number) for node in range(len(self.nodes)) for number in range(len(self.nodes[node]))]
        return [*reversed(made), *((-1 - number, 0) for number in range(len(self.inputs)))]


class Builder:
    """The script so far."""

    def __init__(self, generation: Generation, keras: Keras, scope: Scope | None = None) -> None:
        self.dialect = DIALECTS[generation]
        self.keras = keras
        self.scope = scope
        self.lines: list[Line] = []
        self.early: dict[int | None, str] = {}
        self._names: set[str] = set(_RESERVED)
        self._defined: dict[str, str] = {}
        self._files: dict[str, str] = {}
        if scope is not None and scope.within != "clone":
            keras.enter(self.scope_text())

    # -- what may have to be taken back

    @contextlib.contextmanager
    def attempt(self, level: Level) -> Iterator[None]:
        """A scope that leaves nothing behind where it raises."""
        lines, names, defined, files = len(self.lines), set(self._names), dict(self._defined), dict(self._files)
        inputs, nodes = len(level.inputs), len(level.nodes)
        try:
            yield
        except Exception:
            del self.lines[lines:], level.inputs[inputs:], level.specs[inputs:]
            del level.nodes[nodes:], level.layers[nodes:]
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
        template = own.get(name) or DEFINITIONS[name]
        if self.scope is not None and name == self.scope.name:
            template = template.removeprefix(REGISTERED)
        if template not in self._defined:
            chosen = self._name(name)
            text = template.replace(f"<{name}>", chosen)
            text = self.dialect.spell(_NAMES.sub(lambda found: self._define(found[1], own), text))
            self.keras.run(self.dialect.head(text) + text)
            self._defined[template] = chosen
            self._defined[f"text of {chosen}"] = text
        return self._defined[template]

    def text(self, template: str, words: Sequence[str] = (), own: Mapping[str, str] | None = None) -> str:
        """The text of a value: with the words of tensors, and the names of what it needs, which is defined."""

        def word(found: re.Match[str]) -> str:
            return words[int(found[1]) % len(words)] if found[1].isdigit() else self._define(found[1], own or {})

        text = self.dialect.spell(_NAMES.sub(word, template))
        self.keras.run(self.dialect.head(text))
        return text

    # -- inputs and instructions

    def take(self, level: Level, spec: Input, like: str = "") -> Output:
        """Make an input."""
        word = self._name(f"{level.stem}inputs")
        self.add(f"{word} = {self._input(spec)}", "input")
        level.specs.append(spec)
        level.inputs.append(self.keras.feed(word, spec, like))
        return level.inputs[-1]

    def _input(self, spec: Input, function: str = "keras.Input") -> str:
        parts = [f"shape={spec.shape}"]
        parts += [f'dtype="{spec.dtype}"'] if spec.dtype != "float32" else []
        parts += ["optional=True"] if spec.optional else []
        parts += [f'name="{spec.name}"'] if spec.name is not None else []
        return self.text(f"{function}({', '.join(parts)})")

    def do(self, level: Level, instruction: Instruction) -> None:
        """Follow an instruction; what Keras refuses of it raises."""
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
            kind = self.text(f"{apply.kind}(").removesuffix("(") if "operator." not in apply.kind else apply.kind
            text = expression(kind, arguments, words[: apply.count], apply.packed)
            variable = apply.kind.rpartition(".")[2]
            self._call(level, "", text, variable)
            return
        kind = self._class(apply.kind)
        given = [text if not name or (not at and name in _FIRST) else f"{name}={text}"
                 for at, (name, text) in enumerate(arguments)]  # fmt: skip
        stem = snake(re.split("[.:]", apply.kind)[-1])
        layer = self._name(f"{stem}_layer")
        self.add(f"{layer} = {kind}({', '.join(given)})", "make")
        if not level.stem and len(level.nodes) in self.early:
            self.keras.run(self.text(self.early[len(level.nodes)].replace("<it>", layer)))
        for line in apply.after:
            self.keras.run(f"{layer}.{line.partition(' = ')[0]}")  # an attribute that is not there is refused
            self.add(f"{layer}.{self.text(line, words, own)}", "make")
        self._call(level, layer, f"{layer}({self._passed(apply, words)})", stem)

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
        path, _, name = kind.rpartition(":")
        if not path:
            module, _, name = kind.rpartition(".")
            return f"{self._module(module)}.{name}"
        if path not in self._files:
            self._files[path] = variable = self._name(snake(os.path.splitext(os.path.basename(path))[0]))
            text = write_loading(variable, path)
            self.keras.run(self.dialect.head(text) + text)
            self._defined[f"text of {variable}"] = text
        return f"{self._files[path]}.{name}"

    def _module(self, module: str) -> str:
        if module not in self._files:
            self._files[module] = variable = self._name("_".join(module.split(".")[-2:]))
            text = f"import {module}\n" if variable == module else f"import {module} as {variable}\n"
            self.keras.run(text)
            self._defined[f"import of {module}"] = text
        return self._files[module]

    def _call(self, level: Level, layer: str, text: str, stem: str) -> None:
        """Call something, and have its tensors as those of a node."""
        word = self._name(f"{stem}_output" if hasattr(builtins, stem) else stem)
        outputs = self.keras.call(word, text)
        if level.chain and (not layer or [output.word for output in outputs] != [word]):
            raise Refused("it is no link of a chain")
        self.lines.append(Line(f"{word} = {text}", "call"))
        level.nodes.append(outputs)
        level.layers.append(layer)

    def _again(self, level: Level, again: Again) -> None:
        layer = level.layers[again.layer] if again.layer < len(level.layers) else ""
        if not layer:
            raise Refused("there is no such layer")
        words = [level.output(tensor).word for tensor in again.tensors]
        listed = f"[{', '.join(words)}]" if len(words) > 1 else words[0]
        first = self.first_call(layer)
        if len(words) > 1 and f"{layer}([" not in first:
            listed = ", ".join(words)
        elif len(words) == 1 and f"{layer}([" in first:
            listed = f"[{words[0]}]"
        given = ", ".join((listed, *(f"{name}={self.text(text, words)}" for name, text in again.call)))
        self._call(level, layer, f"{layer}({given})", layer.removesuffix("_layer"))

    def first_call(self, layer: str) -> str:
        """The line that calls a layer first."""
        return next(line.text for line in self.lines if line.role == "call" and f" = {layer}(" in line.text)

    def _nest(self, level: Level, nest: Nest) -> None:
        inner = Level("inner_", nest.sequential)
        taken = [level.output(tensor) for tensor in nest.tensors]
        for output in taken[:1] if nest.sequential else taken:
            self.take(inner, Input(output.shape, output.dtype), output.word)
        begin = len(self.lines) - len(inner.inputs)
        for instruction in nest.body:
            self.do(inner, instruction)
        outputs = [inner.output(tensor) for tensor in nest.outputs]
        self.close_nest(level, nest, inner, begin, outputs)

    def close_nest(self, level: Level, nest: Nest, inner: Level, begin: int, outputs: Sequence[Output]) -> None:
        """Make the model of a body that was followed, and call it."""
        variable = self._name(nest.name or "inner_model")
        self.close(inner, variable, begin, outputs, nest)
        words = [level.output(tensor).word for tensor in nest.tensors]
        taken = words[: len(inner.inputs)]
        listed = f"[{', '.join(taken)}]" if len(taken) > 1 else taken[0]
        given = ", ".join((listed, *(f"{name}={self.text(text, words)}" for name, text in nest.call)))
        self._call(level, variable, f"{variable}({given})", "sequential" if nest.sequential else "inner")

    def close(self, level: Level, variable: str, begin: int, outputs: Sequence[Output], made: Program | Nest) -> None:
        """Make the model of a level, whose lines are those from `begin` on."""
        base = kind = "keras.Sequential" if made.sequential else "keras.Model"
        if made.own:
            title = base.replace("keras.", "Own")
            template = OWN_MODELS["plain" if made.sequential else made.own].format(base=base)
            kind = self._define(title, {title: template.replace("<own>", f"<{title}>")})
        named = "" if made.name is None else f', name="{made.name}"'
        if made.sequential:
            self._close_sequential(level, variable, begin, f"{kind}({{}}{named})")
        else:
            takes, gives = (made.takes, made.gives) if isinstance(made, Program) else ("plain", "plain")
            taken = arranged([each.word for each in level.inputs], takes, "in")
            given = arranged([each.word for each in outputs], gives, "out")
            option = ", factor=2.0" if made.own == "option" else ""
            self.add(f"{variable} = {kind}({taken}, {given}{named}{option})")
        if made.frozen:
            self.add(f"{variable}.trainable = False")

    def _close_sequential(self, level: Level, variable: str, begin: int, chain: str) -> None:
        """Write the layers of a chain without their calls: they were called to see what Keras takes, and are anew."""
        if not level.layers or "" in level.layers or any(len(each) != 1 for each in level.nodes):
            raise Refused("no chain of layers")
        spec = level.specs[0]
        first = self._input(spec) if spec.name is None else self._input(spec, "layers.InputLayer")
        made = [line for line in self.lines[begin:] if line.role == "make"]
        del self.lines[begin:]
        for line in made:
            self.add(line.text, line.role)
        listed = ", ".join((first, *level.layers))
        self.add(f"{variable} = {chain.format(f'[{listed}]')}")

    def prepare(self, level: Level, preparation: Preparation) -> None:
        """Run the lines of a preparation."""
        it = "model" if preparation.on is None else level.layers[preparation.on]
        if not it:
            raise Refused("an operation is no layer")
        for line in preparation.lines:
            self.add(self.text(line.replace("<it>", it)))

    # -- the script

    def source(self, more: str = "") -> str:
        """The script; it imports what `more` expressions need, too."""
        lines = _inlined(self.lines)
        if self.scope is not None and self.scope.within in ("model", "both"):
            lines = [f"with {self.scope_text()}:", *(f"    {line}" for line in lines)]
        definitions = [text for key, text in self._defined.items() if key.startswith("text of ")]
        imports = [text for key, text in self._defined.items() if key.startswith("import of ")]
        body = "".join(f"{line}\n" for line in lines)
        above = "".join("\n" * min(2, text.count("\n")) + text for text in definitions)
        head = self.dialect.head("".join(definitions) + body + more + " keras.")
        plain = "".join(line for line in head.splitlines(keepends=True) if line.startswith("import"))
        return plain + "".join(imports) + head.removeprefix(plain) + above + ("\n\n" if definitions else "\n") + body

    def scope_text(self) -> str:
        """The scope in which the custom function or class is found."""
        assert self.scope is not None
        name = self._define(self.scope.name, {})
        self.keras.run(self.dialect.head("keras."))
        return f'keras.utils.custom_object_scope({{"{name}": {name}}})'


def _inlined(lines: Sequence[Line]) -> list[str]:
    """The lines, where a layer that is named once only stands where it is used."""
    texts = [line.text for line in lines]
    for line in lines:
        variable, _, made = line.text.partition(" = ")
        uses = [text for text in texts if re.search(rf"\b{re.escape(variable)}\b", text)]
        if line.role == "make" and "." not in variable and len(uses) == 2:
            pattern = rf"\b{re.escape(variable)}\b"
            if len(re.findall(pattern, uses[1])) == 1 and len(uses[1]) + len(made) < _WIDEST + 20:
                at = texts.index(uses[1])
                texts[at] = re.sub(pattern, lambda found, made=made: made, uses[1])  # type: ignore[misc]
                texts.remove(line.text)
    return texts


def write_loading(variable: str, path: str) -> str:
    """The lines that load a file as a module, as Python's own documentation has them."""
    name = json.dumps(os.path.splitext(os.path.basename(path))[0])
    return (
        f"spec = importlib.util.spec_from_file_location({name}, {json.dumps(path)})\n"
        f"{variable} = importlib.util.module_from_spec(spec)\n"
        f"sys.modules[{name}] = {variable}\n"
        f"spec.loader.exec_module({variable})\n"
    )


def snake(name: str) -> str:
    """The name as a variable has it."""
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
