"""Builds a model: writes instructions as lines of Python, and runs each in Keras.

If Keras refuses a line, its instruction is removed. The lines that remain are the source of the model.
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

from clonediff.strategies.custom import CUSTOM_LAYERS, CUSTOM_MODELS
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.functions import DEFINITIONS, REGISTRATION
from clonediff.strategies.operations import expression, is_operation
from clonediff.strategies.program import (
    Again,
    Apply,
    Arrangement,
    Generation,
    Input,
    Instruction,
    Nest,
    Packing,
    Preparation,
    Program,
    Scope,
    Tensor,
)


class Refused(Exception):
    """Keras refuses an instruction, or a model with it cannot be compared."""


class UndefinedName(Exception):
    """A program uses a function that neither it nor `DEFINITIONS` defines."""


class Output(NamedTuple):
    """A symbolic tensor: its expression, shape without the batch, dtype, and whether it is masked."""

    text: str
    shape: tuple[int | None, ...]
    dtype: str
    is_masked: bool = False


class LineRunner(Protocol):
    """Runs the lines of a script in Keras. Each method raises `Refused` if Keras raises."""

    def run(self, text: str) -> None:
        """Run lines."""

    def add_input(self, name: str, spec: Input, tensor: str = "") -> Output:
        """Add an input, with the values of `tensor` if that is not ""."""

    def evaluate(self, text: str) -> None:
        """Evaluate an expression, with a value for each tensor in it."""

    def enter(self, scope: str) -> None:
        """Enter a context manager in which all later lines run."""

    def call(self, name: str, text: str) -> list[Output]:
        """Call a layer or an operation, assign the result, and return its tensors."""


_PLACEHOLDER = re.compile(r"<(\w+)>")
_IDENTIFIER = re.compile(r"\w+")
_RESERVED_NAMES = frozenset(
    (
        *("model", "keras", "layers", "ops", "tf", "np", "functools", "math", "x", "sys", "importlib", "spec"),
        *("call_function", "clone_model", "clone"),
    )
)
_POSITIONAL_ARGUMENTS = frozenset(
    (
        *("units", "function", "activation", "target_shape", "dims", "n", "rate", "filters", "layer", "cell"),
        *("input_dim", "stddev", "layers", "scale"),
    )
)
"""Arguments that are passed by position if they come first: `Dense(4)`."""
_MAX_LINE_WIDTH = 120


class Call(NamedTuple):
    """The number of tensors in a call, and how they were passed."""

    tensor_count: int
    packed: Packing


class Line(NamedTuple):
    """A line of the script. Its role is "import", "definition", "input", "make", "call" or ""."""

    text: str
    role: str = ""


@dataclass
class Level:
    """A model under construction, or a model nested in it.

    The names of its inputs begin with `stem`. A `linear` level becomes a Sequential. `nodes`, `layers` and
    `calls` have an item for each instruction: its output tensors, the variable of its layer, its call.
    """

    stem: str = ""
    linear: bool = False
    inputs: list[Output] = field(default_factory=list)
    specs: list[Input] = field(default_factory=list)
    nodes: list[list[Output]] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def output(self, tensor: Tensor) -> Output:
        """The output that a tensor of a program names."""
        node, number = tensor
        if node < 0:
            return self.inputs[min(-1 - node, len(self.inputs) - 1)]
        outputs = self.nodes[min(node, len(self.nodes) - 1)]
        return outputs[number % len(outputs)]

    def tensors(self) -> list[Tensor]:
        """All tensors, the newest first."""
        outputs = [(node, number) for node in range(len(self.nodes)) for number in range(len(self.nodes[node]))]
        return [*reversed(outputs), *((-1 - number, 0) for number in range(len(self.inputs)))]


class Builder:
    """Builds a model from instructions, and keeps the lines that Keras accepts."""

    def __init__(self, generation: Generation, runner: LineRunner, scope: Scope | None = None) -> None:
        self.dialect = DIALECTS[generation]
        self.runner = runner
        self.scope = scope
        self.lines: list[Line] = []
        self._names: set[str] = set(_RESERVED_NAMES)
        self._import_lines: set[str] = set()
        self._defined_names: dict[str, str] = {}
        self._head: list[Line] = []  # imports of modules, and definitions
        self._modules: dict[str, str] = {}
        if scope is not None and scope.part != "clone":
            runner.enter(self.scope_text())

    # -- lines and names

    @contextlib.contextmanager
    def attempt(self, level: Level) -> Iterator[None]:
        """Roll back the script and the level's tensors if the block raises."""
        names, templates, modules = set(self._names), dict(self._defined_names), dict(self._modules)
        head_count, line_count = len(self._head), len(self.lines)
        input_count, node_count = len(level.inputs), len(level.nodes)
        try:
            yield
        except Exception:
            del self._head[head_count:], self.lines[line_count:], level.inputs[input_count:], level.specs[input_count:]
            del level.nodes[node_count:], level.layers[node_count:], level.calls[node_count:]
            self._names, self._defined_names, self._modules = names, templates, modules
            raise

    def _new_name(self, base: str) -> str:
        name, count = base, 1
        while name in self._names or keyword.iskeyword(name) or hasattr(builtins, name):
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def add(self, text: str, role: str = "") -> None:
        """Run a line and add it to the script."""
        self.runner.run(text)
        self.lines.append(Line(text, role))

    def _define(self, name: str, definitions: Mapping[str, str]) -> str:
        """Define a function or class above the model, if necessary. Return its name."""
        template = definitions.get(name) or DEFINITIONS.get(name)
        if template is None:
            raise UndefinedName(f"<{name}> has no definition")
        if self.scope is not None and name == self.scope.name:
            template = template.removeprefix(REGISTRATION)
        if template not in self._defined_names:
            new_name = self._new_name(name)
            text = template.replace(f"<{name}>", new_name)
            text = _PLACEHOLDER.sub(lambda match: self._define(match[1], definitions), text)
            text = self.dialect.translate(text)
            self._import(text)
            self.runner.run(text)
            self._defined_names[template] = new_name
            self._head.append(Line(text, "definition"))
        return self._defined_names[template]

    def fill(self, template: str, tensors: Sequence[str] = (), definitions: Mapping[str, str] | None = None) -> str:
        """Fill tensors and names into a value. Define and import its names."""

        def expression_of(name: str) -> str:
            return tensors[int(name) % len(tensors)] if name.isdigit() else self._define(name, definitions or {})

        text = self.dialect.translate(_PLACEHOLDER.sub(lambda match: expression_of(match[1]), template))
        self._import(text)
        return text

    def _import(self, text: str) -> None:
        for line in self.dialect.imports_for(text).splitlines():
            if line not in self._import_lines:
                self.runner.run(line)
                self._import_lines.add(line)

    # -- inputs and instructions

    def add_input(self, level: Level, spec: Input, tensor: str = "") -> Output:
        """Add an input. In a nested model, it has the values of `tensor`."""
        name = self._new_name(f"{level.stem}inputs")
        self.add(self.fill(f"{name} = keras.Input({input_arguments(spec)})"), "input")
        level.specs.append(spec)
        level.inputs.append(self.runner.add_input(name, spec, tensor))
        return level.inputs[-1]

    def add_instruction(self, level: Level, instruction: Instruction) -> None:
        """Write and run an instruction. Raise `Refused` if Keras refuses it."""
        with self.attempt(level):
            match instruction:
                case Apply():
                    self._apply(level, instruction)
                case Again():
                    self._call_again(level, instruction)
                case Nest():
                    self._nest(level, instruction)

    def _apply(self, level: Level, apply: Apply) -> None:
        definitions = dict(apply.definitions)
        tensors = [level.output(tensor).text for tensor in apply.tensors]
        if level.linear and any("<0>" in text for _, text in apply.arguments):
            raise Refused("a layer of a Sequential is made before its input exists")
        arguments = tuple((name, self.fill(text, tensors, definitions)) for name, text in apply.arguments)
        if is_operation(apply.kind):
            kind = apply.kind
            if "operator." not in kind:  # a dialect may translate "ops.any("
                kind = self.fill(f"{kind}(").removesuffix("(")
            text = expression(kind, arguments, tensors[: apply.count], apply.packed)
            stem = apply.kind.rpartition(".")[2]
            self._call(level, "", text, stem, Call(apply.count, apply.packed))
            return
        kind = self._class_expression(apply.kind)
        texts = [text if not name or (not index and name in _POSITIONAL_ARGUMENTS) else f"{name}={text}"
                 for index, (name, text) in enumerate(arguments)]  # fmt: skip
        stem = snake_case(re.split("[.:]", apply.kind)[-1])
        layer = self._new_name(f"{stem}_layer")
        self.add(f"{layer} = {kind}({', '.join(texts)})", "make")
        for line in apply.after:
            self.runner.run(f"{layer}.{line.partition(' = ')[0]}")  # raises `Refused` if the layer lacks the attribute
            self.add(f"{layer}.{self.fill(line, tensors, definitions)}", "make")
        self._call_layer(level, layer, stem, Call(apply.count, apply.packed), apply)

    def _class_expression(self, kind: str) -> str:
        """The expression for a class of Keras, of `CUSTOM_LAYERS`, or of the user."""
        if kind in CUSTOM_LAYERS:
            return self._define(kind, {})
        if ":" not in kind and "." not in kind:
            return self.fill(f"layers.{kind}(").removesuffix("(")
        file, _, name = kind.rpartition(":")
        module, name = (file, name) if file else kind.rsplit(".", 1)
        if module not in self._modules:
            stem = os.path.splitext(os.path.basename(file))[0] if file else "_".join(module.split(".")[-2:])
            self._modules[module] = variable = self._new_name(snake_case(stem))
            import_line = f"import {module}\n" if variable == module else f"import {module} as {variable}\n"
            text = loading_lines(variable, file) if file else import_line
            self._import(text)
            self.runner.run(text)
            self._head.append(Line(text, "definition" if file else "import"))
        return f"{self._modules[module]}.{name}"

    def _call_layer(self, level: Level, layer: str, stem: str, call: Call, instruction: Instruction) -> None:
        """Call a layer or nested model with an instruction's tensors and arguments."""
        definitions = dict(instruction.definitions) if isinstance(instruction, Apply) else {}
        tensors = [level.output(tensor).text for tensor in instruction.tensors]
        arguments = tuple((name, self.fill(text, tensors, definitions)) for name, text in instruction.call)
        self._call(level, layer, expression(layer, arguments, tensors[: call.tensor_count], call.packed), stem, call)

    def _call(self, level: Level, layer: str, text: str, stem: str, call: Call) -> None:
        name = self._new_name(f"{stem}_output" if hasattr(builtins, stem) else stem)
        outputs = self.runner.call(name, text)
        if level.linear and (not layer or [output.text for output in outputs] != [name]):
            raise Refused("a Sequential takes layers with one output")
        self.lines.append(Line(f"{name} = {text}", "call"))
        level.nodes.append(outputs)
        level.layers.append(layer)
        level.calls.append(call)

    def _call_again(self, level: Level, again: Again) -> None:
        layer = level.layers[again.layer] if again.layer < len(level.layers) else ""
        if not layer:
            raise Refused("the instruction has no layer")
        self._call_layer(level, layer, layer.removesuffix("_layer"), level.calls[again.layer], again)

    def _nest(self, level: Level, nest: Nest) -> None:
        inner, start = self.open_nest(level, nest.tensors, nest.sequential)
        for instruction in nest.body:
            self.add_instruction(inner, instruction)
        self.close_nest(level, nest, inner, start)

    def open_nest(self, level: Level, tensors: Sequence[Tensor], sequential: bool) -> tuple[Level, int]:
        """Begin a nested model with inputs like `tensors`. Return it and its first line's index."""
        inner, start = Level("inner_", sequential), len(self.lines)
        for tensor in tensors[:1] if sequential else tensors:
            output = level.output(tensor)
            self.add_input(inner, Input(output.shape, output.dtype), output.text)
        return inner, start

    def close_nest(self, level: Level, nest: Nest, inner: Level, start: int) -> None:
        """Make and call a nested model, once its body has run."""
        variable = self._new_name(nest.name or "inner_model")
        self.make_model(inner, variable, start, nest)
        call = Call(len(inner.inputs), "list" if len(inner.inputs) > 1 else "one")
        self._call_layer(level, variable, "sequential" if nest.sequential else "inner", call, nest)

    def make_model(self, level: Level, variable: str, start: int, program: Program | Nest) -> None:
        """Make a level's model from the lines since `start`."""
        base = "keras.Sequential" if program.sequential else "keras.Model"
        cls = base
        if program.own:
            class_name = base.replace("keras.", "Own")
            template = CUSTOM_MODELS[program.own].format(base=base)
            cls = self._define(class_name, {class_name: template.replace("<own>", f"<{class_name}>")})
        name = "" if program.name is None else f', name="{program.name}"'
        if program.sequential:
            self._make_sequential(level, variable, start, f"{cls}({{}}{name})")
        else:
            takes, gives = (program.takes, program.gives) if isinstance(program, Program) else ("plain", "plain")
            input_text = arrange([tensor.text for tensor in level.inputs], takes, "in")
            output_text = arrange([level.output(tensor).text for tensor in program.outputs], gives, "out")
            factor = ", factor=2.0" if program.own == "option" else ""
            self.add(f"{variable} = {cls}({input_text}, {output_text}{name}{factor})")
        if program.frozen:
            self.add(f"{variable}.trainable = False")

    def _make_sequential(self, level: Level, variable: str, start: int, template: str) -> None:
        """Make a Sequential. Remove the calls that only tested the layers."""
        if not level.layers:
            raise Refused("a Sequential without layers")
        spec = level.specs[0]
        function = "keras.Input" if spec.name is None else "layers.InputLayer"
        input_text = self.fill(f"{function}({input_arguments(spec)})")
        self.lines[start:] = [line for line in self.lines[start:] if line.role == "make"]
        layers = ", ".join((input_text, *level.layers))
        self.add(f"{variable} = {template.format(f'[{layers}]')}")

    def prepare(self, level: Level, preparation: Preparation) -> None:
        variable = "model" if preparation.on is None else level.layers[preparation.on]
        for line in preparation.lines:
            if preparation.does == "set":
                self.runner.run(f"{variable}.{line.partition(' = ')[0].removeprefix('<it>.')}")
            self.add(self.fill(line.replace("<it>", variable)))

    def evaluate(self, level: Level, program: Program) -> None:
        """Run the model on values, and compute its regularization losses."""
        inputs = [tensor.text for tensor in level.inputs]
        input_text = inputs[0] if program.sequential else arrange(inputs, program.takes, "in")
        self.runner.evaluate(f"[model({input_text}), *model.losses]")

    # -- the script

    def source(self, other_text: str = "") -> str:
        """The script. It also imports what `other_text` needs."""
        lines = _inline_layers(self.lines)
        if self.scope is not None and self.scope.part in ("model", "both"):
            lines = [f"with {self.scope_text()}:", *(f"    {line}" for line in lines)]
        definitions = [line.text for line in self._head if line.role == "definition"]
        modules = [line.text for line in self._head if line.role == "import"]
        body = "".join(f"{line}\n" for line in lines)
        # Two empty lines before a definition, one if it is a single line.
        head = "".join("\n" * min(2, text.count("\n")) + text for text in definitions)
        # A script always imports keras.
        imports = self.dialect.imports_for("".join(definitions) + body + other_text + " keras.")
        plain = "".join(line for line in imports.splitlines(keepends=True) if line.startswith("import"))
        return "".join((plain, *modules, imports.removeprefix(plain), head, "\n\n" if definitions else "\n", body))

    def scope_text(self) -> str:
        """The expression for the `custom_object_scope`."""
        assert self.scope is not None
        name = self._define(self.scope.name, {})
        self._import("keras.")
        return f'keras.utils.custom_object_scope({{"{name}": {name}}})'


def _inline_layers(lines: Sequence[Line]) -> list[str]:
    """Replace a layer's variable by its constructor if it is used once."""
    texts = [line.text for line in lines]
    for line in lines:
        variable, _, layer = line.text.partition(" = ")
        if line.role == "make" and "." not in variable:
            uses = [text for text in texts if variable in text and variable in _IDENTIFIER.findall(text)]
            if (
                len(uses) == 2
                and _IDENTIFIER.findall(uses[1]).count(variable) == 1
                and len(uses[1]) + len(layer) < _MAX_LINE_WIDTH
            ):
                parts = (layer if part == variable else part for part in re.split(r"(\W+)", uses[1]))
                texts[texts.index(uses[1])] = "".join(parts)
                texts.remove(line.text)
    return texts


def loading_lines(variable: str, path: str) -> str:
    """The lines that load a file as a module."""
    name = json.dumps(os.path.splitext(os.path.basename(path))[0])
    return (
        f"spec = importlib.util.spec_from_file_location({name}, {json.dumps(path)})\n"
        f"{variable} = importlib.util.module_from_spec(spec)\n"
        f"sys.modules[{name}] = {variable}\n"
        f"spec.loader.exec_module({variable})\n"
    )


def input_arguments(spec: Input) -> str:
    parts = [f"shape={spec.shape}"]
    parts += [f'dtype="{spec.dtype}"'] if spec.dtype != "float32" else []
    parts += ["optional=True"] if spec.optional else []
    parts += [f'name="{spec.name}"'] if spec.name is not None else []
    return ", ".join(parts)


def snake_case(name: str) -> str:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z0-9][A-Za-z])", "_", re.sub(r"\W", "_", name)).lower()
    return snake if re.fullmatch(r"[a-z_]\w*", snake) else f"t_{snake}"


def arrange(texts: Sequence[str], arrangement: Arrangement, prefix: str) -> str:
    """Write expressions as one structure. The keys of a dict begin with `prefix`."""
    listed = ", ".join(texts)
    match arrangement:
        case "plain":
            return texts[0] if len(texts) == 1 else f"[{listed}]"
        case "tuple":
            return f"({listed}{',' if len(texts) == 1 else ''})"
        case "dict":
            pairs = ", ".join(f'"{prefix}_{number}": {text}' for number, text in enumerate(texts))
            return f"{{{pairs}}}"
        case "nested" if len(texts) > 1:
            rest = texts[1:]
            return f"[{texts[0]}, ({', '.join(rest)}{',' if len(rest) == 1 else ''})]"
    return f"[{listed}]"
