"""Models of classes such as serious libraries have: what upstream clones faithfully, the fixed cloner does too.

More is asked of it than that: each of these models can be cloned, and the fixed cloner is faithful on all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clonediff.harness.observation import Case
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.trial import run
from tests.example_counts import examples

IMPORTS = {"tf_keras": "import tf_keras as keras\nfrom tf_keras import layers"}
CONFIGS = {
    "all": '{"name": self.name, "units": self.units, "scale": self.scale}',
    "a part": '{"name": self.name, "units": self.units}',
    "nothing": None,
}
CLASS = """
class Backbone(keras.models.Model):
    def __init__(self, units, scale=1.0, name="backbone"):
        x = layers.Input(shape=(3,), name="of_" + name)
        first, last = layers.Dense(units, name="first_of_" + name), layers.Dense(3, name="last_of_" + name)
        hidden = first(x)
        super(Backbone, self).__init__(x, last(hidden), name=name)
        self.units, self.scale = units, scale
        self.hidden, self.parts = hidden, {"last": [last]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)
"""
GET_CONFIG = """
    def get_config(self):
        return %s
"""
CALL = """
    def call(self, inputs, training=None, mask=None):
        assert self.parts["last"][0] in self.layers
        return super(Backbone, self).call(inputs) * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape
"""
SCALE = """
class Scale(layers.Layer):
    def __init__(self, %s=2.0, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.%s = %s

    def call(self, inputs):
        return inputs * self.%s
"""
PLACES = {
    "inside": "Model(x, layers.Dense(3)(%s(x)))",
    "twice": "Model(x, %s(Scale(3.0)(inner(x))))",
    "frozen": "Model(x, frozen(%s)(x))",
    "beside its layer": "Model(x, layers.Add()([%s(x), Scale(3.0)(x)]))",
}


def custom_classes() -> st.SearchStrategy[tuple[str, bool, str, list[str]]]:
    """What the class tells, whether it has its own `call`, the attribute of an option, and the models around it.

    Shrinks to a class that tells all of it and does what its graph does, at the root.
    """
    return st.tuples(
        st.sampled_from(sorted(CONFIGS, key=list(CONFIGS).index)),
        st.booleans(),
        st.sampled_from(["factor", "_factor"]),
        st.lists(st.sampled_from(list(PLACES)), max_size=3),
    )


def source_of(dialect: str, drawn: tuple[str, bool, str, list[str]]) -> str:
    tells, has_call, attribute, places = drawn
    config = CONFIGS[tells]
    lines = [
        IMPORTS.get(dialect, "import keras\nfrom keras import layers"),
        CLASS + (GET_CONFIG % config if config else "") + (CALL if has_call else ""),
        SCALE % ("factor", attribute, "factor", attribute),
        "Model = keras.models.Model",
        "def frozen(model):\n    model.layers[1].trainable = False\n    return model",
        'model = Backbone(4, 2.0, name="mine")',
    ]
    for place in places:
        around = PLACES[place] % "inner"
        lines.append(f"inner = model\nx = layers.Input(shape=(3,))\nmodel = {around}")
    return "\n\n".join(lines) + "\n"


@pytest.mark.parametrize("subject", ["keras", "tf_keras"])
def test_what_upstream_clones_faithfully_fixed_does_too(subject: str, warm: Callable[[str], SubjectProcess]) -> None:
    process = warm(subject)
    faithful: set[Any] = set()

    @settings(
        max_examples=examples(12, 25),
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(custom_classes())
    def holds(drawn: tuple[str, bool, str, list[str]]) -> None:
        case = Case(source_of(process.subject.generation, drawn), ({"shape": [3], "dtype": "float32"},))
        trial = run(case, process, ("upstream", "fixed"))
        assert trial.built, (trial.refused, case.source)
        faithful.update(name for name, clone in trial.clones.items() if clone.verdict.value == "faithful")
        causes = [cause.root for cause in trial.clones["fixed"].causes]
        assert not causes, (causes, case.source)

    holds()
    assert "fixed" in faithful
