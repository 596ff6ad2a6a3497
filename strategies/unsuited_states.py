"""What is wrong with what is done to a model before it is cloned: each step by itself, beside others, beside a way."""

from __future__ import annotations

from strategies.graph import Function, Graph, Step, Value, Way, all_layers, leaves
from strategies.kinds import LEFT_OUT
from strategies.kinds.operations import is_operation
from strategies.own_models import BESIDE_PARTS, makes_parts
from strategies.states import STEPS, within


def unsuited_state(graph: Graph) -> str:
    """What is wrong with what is done to a graph's model, "" where nothing is."""
    if graph.state and graph.way is not None and (wrong := _unsuited_way(graph, graph.way)):
        return f": {wrong}"
    seen = set()
    for number, step in enumerate(graph.state):
        wrong = "expected each step once" if (step.does, step.kind) in seen else _unsuited(graph, step)
        if wrong:
            return f"[{number}]: {wrong}"
        seen.add((step.does, step.kind))
    return _together(graph)


WITH_WAYS = ("compile", "trainable", "set", "run")
"""What may be done to a model that is cloned on other inputs; all but a run to the model that is asked for, too."""


def _unsuited_way(graph: Graph, way: Way) -> str:
    if way != Way(inputs=way.inputs, recursive=way.recursive) or way.inputs in ("own", "made"):
        return "expected none for a model that is cloned into another"
    for step in graph.state:
        if step.does not in WITH_WAYS or "name" in dict(step.args):
            return f"{step.does}: nobody says what becomes of it in a model on other inputs"
    return ""


def _unsuited(graph: Graph, step: Step) -> str:
    sort = STEPS.get(step.does)
    if sort is None:
        return f"expected one of {', '.join(STEPS)}, found {step.does!r}"
    if graph.generation not in sort.generations:
        return f"{step.does}: nobody says what becomes of it in {graph.generation or 'every generation'}"
    if step.kind not in sort.on(graph):
        return f"{step.does}: it cannot be done to {step.kind or 'the model'}"
    args, given = sort.args(graph, step.kind), dict(step.args)
    for name, value in given.items():
        if not any(_same(value, each) for each in args.get(name, ())):
            return f"{step.does}: nothing is known of {name!r} as {value!r}"
    if sort.one:
        return "" if len(given) == 1 else f"{step.does}: expected one argument, found {len(given)}"
    lacking = [name for name, values in args.items() if name not in given and LEFT_OUT not in values]
    return f"{step.does}: expected {lacking[0]!r}" if lacking else ""


def _same(one: Value, other: Value) -> bool:
    return type(one) is type(other) and one == other != LEFT_OUT


def _called_before_given(state: tuple[Step, ...]) -> bool:
    """Whether a layer is called once more before another model is made of what it gave, which Keras 2 does not know."""
    called: set[str | None] = set()
    for step in state:
        if step.does == "other model" and step.kind in called:
            return True
        if step.does == "call":
            called.add(step.kind)
    return False


_CALLING = frozenset(("run", "stateful", "train"))
"""The steps in which a model computes something, which is more than that it can be built."""


def _operates_by_a_policy(graph: Graph) -> bool:
    """Whether a policy gives functions of Keras another dtype than float32, in which not each of them computes."""
    policies = {"policy", "built policy"}.intersection(step.does for step in graph.state)
    return bool(policies) and any(is_operation(layer.kind) for layer in all_layers(graph))


def _spreads_with_gaps(graph: Graph) -> bool:
    """Whether there is a transposed convolution with gaps, which TensorFlow computes on no CPU."""
    spreads = [layer for layer in all_layers(graph) if layer.kind.endswith("Transpose")]
    return any(leaf not in (None, 1) for layer in spreads for leaf in leaves(layer.arg("dilation_rate")))


def _together(graph: Graph) -> str:
    """What is wrong with the steps of a graph beside each other: a kernel that is packed, or a sum, is no weight."""
    done = [step.does for step in graph.state]
    if done.count("objects") > 1:
        return ": expected one function or class of one's own"
    if makes_parts(graph) and not BESIDE_PARTS.issuperset(done):
        return ": expected nothing that a constructor which makes layers would have to be told"
    if "objects" in done and not {"load", "lora", "quantize"}.isdisjoint(done):
        return ": expected nothing that reads a function or a class of one's own back"
    if "weight trainable" in done and not {"lora", "quantize"}.isdisjoint(done):
        return ": expected no weight that is frozen by hand where kernels are changed"
    if "policy" in done and "built policy" in done:
        return ": expected one policy beside that which a model is built under"
    if "train" in done and not {"compile", "quantize", "policy", "built policy"}.isdisjoint(done):
        return ": expected nothing else that compiles the model, or changes dtypes, where it is trained"
    if "train" in done and "trainable" in done[: done.index("train")]:
        return ": expected nothing to be frozen before the model is trained"
    if not _CALLING.isdisjoint(done) and _operates_by_a_policy(graph):
        return ": expected no model to run in which operations get another dtype by a policy, which not each takes"
    if not _CALLING.isdisjoint(done) and _spreads_with_gaps(graph):
        return ": expected no model to run in which a transposed convolution has gaps, which no CPU computes"
    if "adapt" in done and any(STEPS[does].runs for does in done[: done.index("adapt")] if does in STEPS):
        return ": expected no layer to run before it is adapted"
    if graph.generation == "keras2" and _called_before_given(graph.state):
        return ": expected no other model of what a layer gave that was called once more"
    if "load" in done[:-1]:
        return ": expected nothing to be done to the layers of a model in whose place another was loaded"
    if "load" in done and not {"policy", "built policy"}.isdisjoint(done):
        return ": expected one policy while a model is made, saved and loaded"
    if "hang" in done and not {"load", "quantize", "train", "lora", "add_loss", "add_metric"}.isdisjoint(done):
        return ": expected nothing that is kept, changes weights or adds layers where a layer is hung on the model"
    if "load" in done and any(
        isinstance(leaf, Function) for step in graph.state for _, each in step.args for leaf in within(each)
    ):
        return ": expected no function of one's own where the model is saved, which cannot be read back"
    if "lora" in done and any(step.args == (("mode", "int4"),) for step in graph.state):
        return ": expected no low rank where kernels are packed"
    return ""
