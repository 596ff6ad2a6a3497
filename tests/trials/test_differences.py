"""Trials find the causes of differences in clones of real models, each broken by one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from tests.helpers.trials import unclear_titles
from tests.helpers.waiting import PATIENCE

BUILDERS = '''
import functools
import types
import warnings
import weakref

import keras
import numpy as np
from keras import layers

X = (3, 4)


def double(x, by=2.0):
    return x * by


def chain(masks=lambda inputs, mask: mask, ends=list, epsilon=1e-7, metrics=("mae",), units=2):
    """A model with a mask, a state, a loss of a layer, and all arguments of `compile`."""
    x = keras.Input(X, name="x")
    hidden = layers.Masking(name="masking")(x)
    hidden = layers.Lambda(double, mask=masks, arguments={"by": 3.0}, name="double")(hidden)
    y = layers.Dense(units, activity_regularizer="l2", name="y")(layers.LSTM(4, name="lstm")(hidden))
    model = keras.Model(x, ends([y, layers.Dropout(0.5, seed=3, name="drop")(y)]), name="chain")
    model.compile(keras.optimizers.Adam(epsilon=epsilon, name="adam"), "mse", metrics=[list(metrics), list(metrics)])
    return model


def two(calls=("one", "two"), after=("s0", "s1"), ends=("s1", "t0", "t1"), **call):
    """Two parallel layers, a shared layer called on each, and a layer on its outputs."""
    x = keras.Input(X, name="x")
    tensors = {"x": x, "one": layers.Dense(4, name="one")(x), "two": layers.Dense(4, name="two")(x)}
    for name, on in (("s", calls), ("t", after)):
        layer = layers.Dense(4, name=name)
        for number, tensor in enumerate(on):
            tensors[name + str(number)] = layer(tensors[tensor], **(call if name == "s" else {}))
    return keras.Model(x, [tensors[name] for name in ends], name="two")


class JoinLayer(layers.Layer):
    def call(self, x, other=None, third=1.0):
        return x * third if other is None else x + other * third

    def compute_output_shape(self, x, **others):
        return x


def join(call=lambda join, one, two: join(one, two)):
    """A layer called with two tensors."""
    x = keras.Input(X, name="x")
    one, two = layers.Dense(4, name="one")(x), layers.Dense(4, name="two")(x)
    return keras.Model(x, [call(JoinLayer(name="join"), one, two), one, two], name="join")


def free_variables(second=1):
    """A model with variables that belong to no layer."""
    x, variables = keras.Input(X, name="x"), [keras.Variable(2.0, name="first"), keras.Variable(2.0, name="second")]
    return keras.Model(x, x * variables[0] + variables[second], name="free_variables")


class NoConfig:
    """A loss and regularizer without a config."""

    def __call__(self, x, *more):
        return keras.ops.mean(x)

    def get_config(self):
        raise NotImplementedError


class Offset(layers.Layer):
    """A layer whose constructor creates its weight."""

    def __init__(self, **options):
        super().__init__(**options)
        self.offset = self.add_weight(name="offset", shape=X[-1:], initializer="uniform")

    def call(self, x):
        return x + self.offset

    def get_config(self):
        return {"name": self.name}


def no_config(masking="mse"):
    x = keras.Input(X, name="x")
    masked = layers.Masking(name="masking")(x)
    model = keras.Model(x, [masked, Offset(activity_regularizer=NoConfig(), name="offset")(masked)], name="no_config")
    model.compile("sgd", {"masking": masking, "offset": NoConfig()})
    return model


def pieces(number):
    x = keras.Input(X, name="x")
    return keras.Model(x, keras.ops.split(x, number, axis=-1)[0], name="pieces")


def nested(*numbers):
    """Nested models in a row, with layers of these numbers."""
    held = [layers.Dense(4, name="dense") for _ in numbers]
    y = x = keras.Input(X, name="x")
    for place, number in enumerate(numbers):
        within = keras.Input(X, name="within")
        y = keras.Model(within, held[number](within), name=f"inner{place}")(y)
    return keras.Model(x, y, name="nested")


def unnamed():
    x = keras.Input(X, name="x")
    return keras.Model(x, layers.Dense(2)(layers.Dense(2)(x)), name="unnamed")


NOTES = []


class About:
    def __init__(self):
        self.notes = NOTES
        self.registry = keras.saving.get_custom_objects()
        self.mine = []


class Holder(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        vars(self).update(mine=["its own"], empty=[], _about=About(), value=("a tuple", 1.0), kind=About, module=types)
        self.table = np.zeros(2, "i4,f4")

    def call(self, x):
        return x * 1.0


def holder():
    """A layer with objects of its own, of a module and of Keras."""
    x = keras.Input(X, name="x")
    return keras.Model(x, Holder(name="holder")(x), name="holder")


class CallOptions(layers.Layer):
    def call(self, inputs, mask=None, training=None, by=1.0, flag=False):
        return inputs * by


def call_options(**call):
    x = keras.Input(X, name="x")
    return keras.Model(x, CallOptions(name="options")(x, **call), name="options")


def warned():
    warnings.warn("layer 'padding' drops a mask of dense_7")
    return call_options()


def rebuild(layer, **changes):
    return type(layer).from_config({**layer.get_config(), **changes})
'''
CLONERS = '''
import functools
import sys
import types
import warnings
import weakref
from collections import Counter

import clonediff

calls = Counter()


def was_called(fault):
    """Whether a cloner was called before."""
    calls[fault] += 1
    return calls[fault] > 1


def modify(layer, change):
    call = layer.call
    layer.call = functools.wraps(call)(lambda *args, **kwargs: change(call(*args, **kwargs)))


def refuse(*args, **kwargs):
    raise RuntimeError("no")


def refuse_training(x, training):
    return refuse() if training else x


def clone_by(model, function):
    return clonediff.clone_model(model, clone_function=function)
'''
CLONER = """

def clone_{number}(model):
    globals().update(vars(sys.modules["__main__"]))  # the builders of models, and their classes
    clone = clonediff.clone_model(model)
    {line}
    return clone
"""
ABBREVIATIONS = {
    "LSTM": 'clone.get_layer("lstm")',
    "Y": 'clone.get_layer("y")',
    "DROP": 'clone.get_layer("drop")',
    "HOLDS": 'vars(clone.get_layer("holder"))',
    "OF": 'model.get_layer("holder")',
    "PATH": 'clone.get_layer("one").bias._path',
}
"""Abbreviations in the lines below."""

ROWS = """
chain()
    pass
    return None -> clone: no model
    refuse() -> clone: raises
    return chain(units=3) -> layers['y'].config.units: config.units
        -> outputs[1].shape: output shape
        -> layers['not_equal'].name: name
    Y._trainable_variables.reverse() -> weights: weight order
    Y.bias.trainable = False -> weights[4].trainable: weight trainable
    DROP.seed_generator.state.assign([7, 7]) -> states[1].value: state value
    return keras.Model(clone.inputs, clone.outputs[0], name=clone.name) -> layers['drop']: layer missing
        -> model.compiled: compiled
    return chain(ends=tuple) -> model.output_structure: output structure type
        -> layers['not_equal'].name: name
    return chain(ends=lambda both: {"b": both[0], "a": both[1]}) -> outputs: output order
        -> layers['not_equal'].name: name
    return keras.Model([clone.inputs], clone.outputs, name=clone.name) -> model.input_structure: input structure type
        -> model.compiled: compiled
    modify(LSTM, lambda x: -x) -> inference.steps['lstm'][0].outputs[0]: value
    modify(LSTM, lambda x: x[:1]) -> inference.steps['lstm'][0].outputs[0].shape: shape
    modify(LSTM, lambda x: [x]) -> inference.steps['lstm'][0].structure: structure type
    modify(Y, refuse) -> inference: raises
    Y.units = 7; modify(Y, refuse) -> layers['y'].config.units: config.units
    Y.units = 7; modify(LSTM, refuse) -> inference: raises
        -> layers['y'].config.units: config.units
    DROP.trainable = False; DROP.call = functools.wraps(DROP.call)(refuse_training) -> training: raises
        -> layers['drop'].trainable: trainable
    clone.get_layer("masking").compute_mask = lambda *args, **kwargs: None
        -> layers['masking'].attribute.compute_mask: attribute.compute_mask
    Y.compute_mask = lambda x, mask=None: x[:, 0] > 0 -> layers['y'].attribute.compute_mask: attribute.compute_mask
    return chain(masks=None) -> layers['double'].config.mask: config.mask
        -> layers['lstm'].calls[0].kwargs['mask']: call.kwargs missing
        -> warned[0]: raises
        -> layers['not_equal'].name: name
    return chain(epsilon=0.1) -> model.compiled.optimizer.Adam.epsilon: compiled.optimizer.Adam.epsilon
        -> layers['not_equal'].name: name
    return chain(metrics=()) -> model.compiled.metrics[0]: compiled.metrics
        -> layers['not_equal'].name: name
    clone.trainable = False -> layers['masking'].trainable: trainable
        -> model.trainable: trainable
    Y.__class__ = type('Other', (layers.Dense,), {}) -> layers['y'].kind: kind
    Y.__class__ = type('Dense', (layers.Dense,), {}) -> layers['y'].kind: kind
    Y.get_config = refuse -> layers['y'].config.get_config: config.get_config
    Y.units = 7 -> layers['y'].config.units: config.units
    model.get_layer("y")(keras.Input((4,))) -> original.model: touched
    model.get_layer("lstm")._inbound_nodes[0].arguments.kwargs["training"] = True
        -> original.layers['lstm'].calls[0].kwargs['training']: call.kwargs value
    modify(model.get_layer("y"), lambda x: -x) -> original.inference.outputs[0]: value
        -> original.inference.steps['drop'][0].outputs[0]: value
    clone.compile('sgd', 'mse'); modify(LSTM, lambda x: -x) -> inference.steps['lstm'][0].outputs[0]: value
        -> model.compiled.metrics: compiled.metrics
    return keras.Model(clone.input, [clone.outputs[0], layers.ReLU(name='more')(clone.outputs[1])], name='chain')
        -> layers['more']: layer extra
        -> outputs[1].tensor: output tensor
        -> states[2]: state missing
        -> model.compiled: compiled
no_config()
    modify(clone.get_layer("masking"), lambda x: setattr(x, "_keras_mask", x._keras_mask[..., None]) or x)
        -> inference.steps['masking'][0].outputs[0].mask: mask value
    pass
    return no_config('mae') -> model.compiled.loss['masking']: compiled.loss
costly chain()
    warnings.warn('a'); refuse() if was_called('c') else None -> again: no clone
        -> warned[0]: raises
    refuse() if was_called('a') else None -> again: no clone
    Y.name = 'z' if was_called('b') else 'y' -> again.layers['y'].name: name
pieces(2)
    return pieces(4) -> layers['split'].config.indices_or_sections: config.indices_or_sections
        -> layers['split'].calls[0].outputs: call outputs
        -> layers['split'].name: name
nested(0, 1)
    return nested(0, 0) -> layers['inner1/dense']: layer merged
nested(0, 0)
    return nested(0, 1) -> layers['inner1/dense']: layer unshared
two()
    pass
    return two(calls=("two", "one"), after=("s1", "s0"), ends=("s0", "t0", "t1")) -> layers['s'].calls: call order
    return two(calls=("two", "one"), ends=("s0", "t1", "t0")) -> layers['s'].calls: call order
    return two(training=True) -> layers['s'].calls[0].kwargs['training']: call.kwargs extra
    return two(ends=("s1", "t1", "t0")) -> outputs: output order
    return clone_by(model, lambda layer: rebuild(layer, use_bias=layer.name != "two"))
        -> layers['two'].config.use_bias: config.use_bias
    PATH = "one/other" -> weights[3].name: weight path alone
    clone.get_layer("one").bias._name = "other" -> weights[3].short_name: weight name alone
    clone.__class__ = type("Other", (type(clone),), {}) -> model.kind: kind
    clone.get_layer("two").dtype_policy = keras.DTypePolicy("mixed_float16") -> layers['two'].config.dtype: config.dtype
    PATH = "scope/one/bias" -> weights[3].name: weight scope
two(calls=("one", "one"), after=("s1",), ends=("t0",))
    return two(calls=("one", "one"), after=("s0",), ends=("t0",))
join()
    return join(lambda join, one, two: join(one, other=two))
    return join(lambda join, one, two: join(one, other=one))
        -> layers['join'].calls[0].kwargs['other']: call.kwargs tensor
        -> model.layers: layer order
    return join(lambda join, one, two: join(one)) -> layers['join'].calls[0].args[1]: call.args missing
        -> model.layers: layer order
    return join(lambda join, one, two: join(one, two, third=2.0))
        -> layers['join'].calls[0].kwargs['third']: call.kwargs extra
    return join(lambda join, one, two: join(one, None)) -> layers['join'].calls[0].args[1]: call.args missing
        -> model.layers: layer order
free_variables()
    pass
    return free_variables(second=0) -> states[1]: state missing
        -> layers['add'].calls[0].args[1]['variable']: call.args value
        -> layers['multiply'].name: name
unnamed()
    return unnamed() -> layers['dense_1'].name: name
    clone.layers[1].name = 'mine' -> layers['dense_1'].name: name
holder()
    pass
    HOLDS.update(_way=OF.mine) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way: object reached._way
    HOLDS.update(_way={"a": [1, (OF.mine,)]}) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way['a'][1][0]: object reached._way
    HOLDS.update(_way={OF: 1}) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.<Holder>: object reached._way
    HOLDS.update(_way={1, OF}) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.<Holder>: object reached._way
    HOLDS.update(_way=(lambda it: lambda: it)(OF)) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.__closure__[0].cell_contents: object reached._way
    HOLDS.update(_way=lambda it=OF: it) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.__defaults__[0]: object reached._way
    HOLDS.update(_way=OF.call) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.__self__: object reached._way
    HOLDS.update(_way=functools.partial(print, OF)) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.args[0]: object reached._way
    HOLDS.update(_way=weakref.ref(OF)) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way(): object reached._way
    HOLDS.update(_way=types.MappingProxyType({"a": OF})) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way.<dict>['a']: object reached._way
    HOLDS.update(_way=[OF._about.mine]) -> layers['holder'].attribute._way: attribute._way
        -> layers['holder'].attribute._way[0]: object reached._way
    HOLDS['_about'].mine = OF._about.mine -> layers['holder'].attribute._about.mine: object reached.mine
    HOLDS.update(mine=OF.mine) -> layers['holder'].attribute.mine: object shared
    HOLDS.update(empty=OF.empty) -> layers['holder'].attribute.empty: object shared
    OF.table["f0"] = 7 -> original.layers['holder'].attribute.table: attribute.table
costly holder()
    was_called('d') and OF.table.put(1, [(7, 7.0)]) -> original.layers['holder'].attribute.table: attribute.table
call_options()
    return keras.Sequential([CallOptions(name='options')], name='options') -> layers['options'].calls: call count
        -> layers['x']: layer missing
    return call_options(mask=None, training=None, by=1.0)
    return call_options(by=2.0, flag=False) -> layers['options'].calls[0].kwargs['by']: call.kwargs extra
    return call_options(training=False) -> layers['options'].calls[0].kwargs['training']: call.kwargs extra
    return call_options(flag=0) -> layers['options'].calls[0].kwargs['flag']: call.kwargs extra
warned()
    warnings.warn("layer 'renamed' drops a mask of dense_1")
    warnings.warn("layer 'renamed' drops a state") -> warned[0]: raises
    warnings.warn("layer 'padding' drops a mask of dense_7", FutureWarning) -> warned[0]: raises
    warnings.warn('for whoever writes a library', DeprecationWarning)
    [warnings.warn(f'layer dense_{n} at 0x7f{n}00 has no mask') for n in range(9)] -> warned[0]: raises
"""
"""By model: lines that break its clone, each with the path and aspect of the roots.

A trial of a model with "costly" makes a second clone.
"""


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Yield each model with a line that breaks its clone, and the expected root causes."""
    model = ""
    for text in re.sub(r"\n +-> ", " -> ", ROWS.strip()).splitlines():
        line, *roots = text.strip().split(" -> ")
        if text.startswith(" "):
            yield model, line, roots
        else:
            model = line


CASES = list(rows())


@pytest.fixture(scope="module")
def cloners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file with a cloner for each row, named by the number of the row."""
    file = tmp_path_factory.mktemp("cloners") / "broken_clones.py"
    text = CLONERS
    for number, (_, line, _) in enumerate(CASES):
        for short, expression in ABBREVIATIONS.items():
            line = re.sub(rf"\b{short}\b", expression, line)
        text += CLONER.format(number=number, line=line)
    file.write_text(text)
    return file


@pytest.mark.parametrize("model", sorted({row[0] for row in CASES}))
def test_broken_clones_have_the_expected_root_causes(model: str, cloners: Path, keras: SubjectProcess) -> None:
    names = {f"{cloners.with_suffix('')}:clone_{number}": row for number, row in enumerate(CASES) if row[0] == model}
    case = Case(
        f"{BUILDERS}\nmodel = {model.removeprefix('costly ')}\n",
        ({"shape": [3, 4], "dtype": "float32", "fill": "steps"},),
        seed=5,
    )
    trials = GraphTrials(keras, KnownIssues(), cloners=tuple(names))
    trial = trials.try_case(case, costly=model.startswith("costly"), timeout=PATIENCE)
    assert trial.is_built, (trial.refusal, trial.lost)
    found = {
        names[name][1]: [f"{cause.root.path}: {cause.root.aspect}" for cause in clone.causes]
        for name, clone in trial.clones.items()
    }
    assert found == {line: roots for _, line, roots in names.values()}
    differences = [difference for clone in trial.clones.values() for difference in clone.differences]
    unnumbered = {difference.aspect for difference in differences if difference.digests and not difference.numbers}
    assert unnumbered == ({"mask value"} if model == "no_config()" else set()), "only masks have no numbers"
    titles = [found.title for found in trial.found_causes]
    assert len(titles) == sum(map(len, found.values()))
    assert unclear_titles(titles) == []
