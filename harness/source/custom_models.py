"""Custom classes of models: their text, and the lines that make a model of one."""

from __future__ import annotations

from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.functions import REGISTERED
from clonediff.harness.source.words import literal
from clonediff.strategies.graph import CustomClass, Graph

_FACTOR = "2.0"
_OPTION = """\
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor
"""
_PARTS = """\
    def __init__(self, factor=1.0, **kwargs):
{lines}
        super().__init__({words}, **kwargs)
        self.factor = factor
"""
_COUNT = """\
    def count(self):
        return len(self.layers)
"""
_CALL = """\
    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=training, mask=mask) * {by}
"""
_MORE_CONFIG = """\
    def get_config(self):
        return {**super().get_config(), "factor": self.factor}
"""
_CONFIG = """\
    def get_config(self):
        return {"name": self.name, "factor": self.factor}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)
"""


def write_class(graph: Graph, lines: list[str], variable: str, dialect: Dialect) -> tuple[str, str, list[str]]:
    """The class of a graph's model and the lines that make the model, of those that make it of none.

    In both, the name of the class is "{own}"; beside them what it may be called.
    """
    custom = graph.custom_class
    assert custom is not None
    base = "keras.Sequential" if graph.sequential else "keras.Model"
    place = max(number for number, line in enumerate(lines) if line.startswith(f"{variable} = {base}("))
    words = lines[place].removeprefix(f"{variable} = {base}(")[:-1]
    head = (REGISTERED if custom.registered else "") + f"class {{own}}({base}):\n"
    if custom.makes == "parts":
        constructor = _PARTS.format(lines="\n".join(f"        {line}" for line in lines[:place]), words=words)
        constructor = constructor.replace("\n\n        super", "\n        super")
        name = f", name={literal(graph.name)}" if graph.name is not None else ""
        made = [f"{variable} = {{own}}(factor={_FACTOR}{name})", *lines[place + 1 :]]
    else:
        constructor = _OPTION if custom.makes else ""
        factor = f", factor={_FACTOR}" if custom.makes else ""
        made = [*lines[:place], f"{variable} = {{own}}({words}{factor})", *lines[place + 1 :]]
    methods = [constructor, _call(custom), {"": "", "option": _MORE_CONFIG, "parts": _CONFIG}[custom.makes]]
    body = [each for each in methods if each] or [_COUNT]
    return "OwnSequential" if graph.sequential else "OwnModel", dialect.spell(head + "\n".join(body)), made


def _call(custom: CustomClass) -> str:
    if not custom.calls:
        return ""
    return _CALL.format(by="self.factor" if custom.makes else _FACTOR)
