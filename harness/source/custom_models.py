"""Custom classes of models: their text, and the lines that make a model of one."""

from __future__ import annotations

from clonediff.strategies.graph import Graph

_FACTOR = "2.0"
_OPTION = """\
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}
"""
_COUNT = """\
    def count(self):
        return len(self.layers)
"""


def write_class(graph: Graph, lines: list[str], variable: str) -> tuple[str, str, list[str]]:
    """The class of a graph's model and the lines that make the model, of those that make it of none.

    In both, the name of the class is "{own}"; beside them what it may be called.
    """
    custom = graph.custom_class
    assert custom is not None
    base = "keras.Sequential" if graph.sequential else "keras.Model"
    place = max(number for number, line in enumerate(lines) if line.startswith(f"{variable} = {base}("))
    words = lines[place].removeprefix(f"{variable} = {base}(")[:-1]
    factor = f", factor={_FACTOR}" if custom.makes else ""
    made = [*lines[:place], f"{variable} = {{own}}({words}{factor})", *lines[place + 1 :]]
    text = f"class {{own}}({base}):\n" + (_OPTION if custom.makes else _COUNT)
    return "OwnSequential" if graph.sequential else "OwnModel", text, made
