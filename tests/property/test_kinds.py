"""Every layer of a release is drawn, or there is a reason; each kind, drawn alone, is built, runs, and is cloned."""

from __future__ import annotations

import ast
import importlib.util
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from harness.search.even_draws import evenly
from harness.subjects.observation import ModelRun
from harness.trials.offers import graphs_on, lacking, not_drawn_yet
from harness.subjects.outcomes import Offers
from harness.subjects.process import SubjectProcess
from harness.trials.graph_trials import GraphTrials, TriedGraph, news
from reports.known import load
from strategies import Graph, functional_graphs, infer
from strategies.graph import all_layers, refs
from strategies.kinds import Generation, Kind, catalogue
from strategies.kinds.not_drawn import NO_OPERATION, NOT_DRAWN, NOT_SAID, OF_A_BASE, SAID_OTHERWISE
from tests.effort import examples

KNOWN = load()
SUBJECTS: dict[str, Generation] = {"keras": "keras", "tf_keras": "tf_keras", "keras==2.2.4": "keras2"}
GRAPHS = examples(1, 2)
"""So many for each kind; other tests draw it beside others."""
DRAWS = 60
"""So many at most: a kind that finds no tensor that it takes is not in the graph."""

TAKE_NO_TENSOR = frozenset(
    (
        "bartlett",
        "blackman",
        "convert_to_numpy",
        "custom_gradient",
        "dtype",
        "empty",
        "eye",
        "hamming",
        "hanning",
        "identity",
        "is_tensor",
        "kaiser",
        "ones",
        "shape",
        "tri",
        "vectorize",
        "zeros",
    )
)
"""What of `keras.ops` makes no operation of a symbolic tensor: it refuses one, or makes its result of numbers alone."""


def kinds_of(generation: Generation) -> Iterator[Kind]:
    for name, kind in catalogue(generation).items():
        if generation == "keras2" or kind.only in (None, generation):
            assert name == kind.name
            yield kind


def step(subject: str, family: str) -> int:
    """By day each second kind and each fourth operation, since the property tests draw them beside others, too.

    On an older generation it is each fifth, since most is said of a kind once for all. At night it is each one.
    """
    if subject != "keras":
        return examples(5, 1)
    return examples(4, 1) if family == "operations" else examples(2, 1)


@pytest.mark.parametrize("subject", ["keras", "tf_keras"])
def test_every_layer_is_drawn_or_has_a_reason(subject: str, warm: Callable[[str], SubjectProcess]) -> None:
    offers, generation = warm(subject).ready.offers, SUBJECTS[subject]
    assert not_drawn_yet(offers, generation) == ()
    assert len(NOT_DRAWN[generation]) < 10
    assert set(NOT_DRAWN[generation]) <= set(offers.layers)


def test_whatever_can_be_drawn_is_there_in_some_generation(warm: Callable[[str], SubjectProcess]) -> None:
    here, there = (
        {name for name in lacking(warm(subject).ready.offers, SUBJECTS[subject]) if name[0].isupper()}
        for subject in ("keras", "tf_keras")
    )
    assert here & there == set()
    assert not any(catalogue("keras")[name.partition(".")[0]].only == "tf_keras" for name in there)
    assert all(name.partition(".")[2] in catalogue("keras")[name.partition(".")[0]].more for name in here)


@pytest.mark.parametrize(("subject", "share"), [("keras", 0.05), ("tf_keras", 0.14)])
def test_nearly_every_argument_of_a_layer_is_given(
    subject: str, share: float, warm: Callable[[str], SubjectProcess]
) -> None:
    layers = warm(subject).ready.offers.layers
    given: dict[tuple[str, str], bool] = {}
    for kind in kinds_of(SUBJECTS[subject]):
        for argument in set(layers.get(kind.name, ((), ()))[0] or ()) - OF_A_BASE:
            given[kind.name, argument] = argument in {*kind.options, *kind.more, *SAID_OTHERWISE}
    assert len(given) > 900
    left = {pair for pair, is_given in given.items() if not is_given}
    assert len(left) <= share * len(given), left
    nowhere = {argument for _, argument in left} - {argument for (_, argument), is_given in given.items() if is_given}
    assert subject != "keras" or sorted(nowhere - set(NOT_SAID)) == []


def test_every_operation_is_drawn_or_has_a_reason(warm: Callable[[str], SubjectProcess]) -> None:
    offered = warm("keras").ready.offers.operations
    public = {"ops." + name for name in exported("ops")} | {"ops.image." + name for name in exported("ops/image")}
    assert public - set(offered) == {"ops." + name for name in TAKE_NO_TENSOR}
    assert set(offered) <= {*public, "operator.round"}
    assert len(NO_OPERATION) < 10
    assert set(NO_OPERATION) <= set(offered)


def exported(folder: str) -> set[str]:
    """The functions that a module of the installed Keras exports, read without importing it."""
    found = importlib.util.find_spec("keras")
    assert found is not None and found.origin is not None
    tree = ast.parse((Path(found.origin).parent / folder / "__init__.py").read_text())
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for line in lines for alias in line.names if line.module != "keras.ops"}


def test_a_layer_or_an_operation_that_is_new_is_named() -> None:
    layers = dict.fromkeys(("Dense", "Fresh", "LSTMCell", "Wrapper"), (None, None))
    operations = dict.fromkeys(("ops.mean", "ops.fresh", "ops.get_item", "tf.fresh"), None)
    assert not_drawn_yet(Offers(layers, operations=operations), "keras") == ("Fresh", "ops.fresh")


def test_a_release_without_an_operation_or_its_argument_is_not_asked_for_it() -> None:
    offers = Offers({"Dense": (None, None)}, operations={"ops.mean": ("x", "axis")})
    lacks = lacking(offers, "keras")
    assert "ops.mean.keepdims" in lacks
    assert "ops.sum" in lacks
    assert not {"ops.mean", "ops.mean.axis", "operator.add"} & set(lacks)
    graphs = functional_graphs(generation="keras", kinds=["ops.mean", "ops.sum", "operator.add"], without=lacks)
    layers = [layer for each in evenly(graphs, 50, 1) for layer in all_layers(each.graph) if layer.graph is None]
    assert {layer.kind for layer in layers} == {"ops.mean", "operator.add"}
    assert all(layer.arg("keepdims") is None for layer in layers)


def test_an_argument_that_a_layer_is_given_with_others_is_left_out_where_a_release_lacks_it() -> None:
    offers = Offers(
        {
            "Hashing": (("num_bins", "mask_value", "salt"), None),
            "IntegerLookup": (("vocabulary", "mask_token", "num_oov_indices", "output_mode", "invert"), None),
        }
    )
    graphs = functional_graphs(kinds=["Hashing", "IntegerLookup"], without=lacking(offers, "tf_keras"))
    layers = [layer for each in evenly(graphs, 60, 1) for layer in all_layers(each.graph) if layer.graph is None]
    assert {layer.kind for layer in layers} == {"Hashing", "IntegerLookup"}
    assert all(layer.arg("output_mode") is None and layer.arg("idf_weights") is None for layer in layers)
    assert any(layer.arg("mask_value") is not None for layer in layers)


def test_what_an_older_child_said_is_read() -> None:
    offers = msgspec.json.decode(b'{"layers": {"Dense": [["units"], null]}, "lacks": []}', type=Offers)
    assert offers.operations == {}
    assert "ops.mean" in lacking(offers, "keras")


@pytest.mark.parametrize(
    ("subject", "family"),
    [
        (subject, family)
        for subject, generation in SUBJECTS.items()
        for family in dict.fromkeys(kind.family for kind in kinds_of(generation))
    ],
)
def test_a_kind_alone_is_built_and_runs_and_is_cloned(
    subject: str, family: str, warm: Callable[[str], SubjectProcess]
) -> None:
    process = warm(subject)
    trials = GraphTrials(process, KNOWN, rate=0)
    for kind in [each for each in kinds_of(SUBJECTS[subject]) if each.family == family][:: step(subject, family)]:
        graphs = list(drawn_with(kind, process))
        assert len(graphs) == GRAPHS, kind.name
        for graph in graphs:
            tried = trials.try_graph(graph)
            assert tried.trial.built, (tried.trial.refused or tried.trial.lost, graph)
            assert [hit.title for hit in news(tried.hits)] == [], graph
            for run in runs(tried):
                assert run.failure is None, graph
                assert_as_inferred(graph, run, kind)


def drawn_with(kind: Kind, process: SubjectProcess) -> Iterator[Graph]:
    """Some graphs that hold this kind and no other."""
    graphs = graphs_on(process, kinds=[kind.name], min_instructions=1, max_instructions=3)
    holding = (
        each.graph
        for each in evenly(graphs, DRAWS, 1)
        if any(layer.kind == kind.name for layer in all_layers(each.graph))
    )
    return itertools.islice(holding, GRAPHS)


def runs(tried: TriedGraph) -> Iterator[ModelRun]:
    original = tried.trial.original
    assert original is not None
    for run in (original.inference, original.training):
        if run is not None:
            yield run


def assert_as_inferred(graph: Graph, run: ModelRun, kind: Kind) -> None:
    """The shapes that the catalogue gives are those that the framework gives."""
    specs = infer(graph)
    for ref, leaf in zip(refs(graph.gives), run.outputs, strict=True):
        inferred = (graph.batch, *specs[ref.node][ref.output].shape)
        assert len(inferred) == len(leaf.shape), (kind.name, graph)
        pairs = zip(inferred, leaf.shape, strict=True)
        assert all(said in (None, found) for said, found in pairs), (kind.name, leaf.shape, graph)
