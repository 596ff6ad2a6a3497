"""Further arguments: each value can be drawn, few are, and they shrink to none."""

from __future__ import annotations

from statistics import mean

import pytest
from hypothesis import find, settings
from msgspec import structs

from harness.search.even_draws import evenly
from harness.source import write_source
from strategies import Graph, MalformedGraph, functional_graphs, infer
from strategies.graph import Call as Use
from strategies.graph import Input, Layer, Named, Ref, Value, all_layers
from strategies.graphs import _further
from strategies.kinds import GENERATIONS, Generation, Kind, Spec, catalogue, less, same_weights
from strategies.kinds.arguments import NEEDS, PATHS, further, suits


def kinds_of(generation: Generation) -> list[Kind]:
    return [
        kind for kind in catalogue(generation).values() if generation == "keras2" or kind.only in (None, generation)
    ]


def dense(*args: tuple[str, Value]) -> Graph:
    layer = Layer("Dense", (("units", 1), *args))
    return Graph((Input((4,)),), (layer,), (Use(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_an_argument_is_an_option_or_a_further_one(generation: Generation) -> None:
    assert {kind.name: set(kind.more) & set(kind.options) for kind in kinds_of(generation)} == {
        kind.name: set() for kind in kinds_of(generation)
    }


def test_every_value_of_every_argument_can_be_drawn() -> None:
    most = max(len(values) for kind in kinds_of("keras") for values in kind.more.values())
    for kind in kinds_of("keras"):
        more = tuple(kind.more.items())
        drawn = [pair for which in range(256) for value in range(most) for pair in _further(more, ((which, value),))]
        assert all((key, value) in drawn for key, values in more for value in values), kind.name


def test_a_graph_has_few_of_them() -> None:
    kinds = catalogue("keras")
    counts = [
        sum(
            key in kinds[layer.kind].more
            for layer in all_layers(each.graph)
            if layer.kind in kinds
            for key, _ in layer.args
        )
        for each in evenly(functional_graphs(generation="keras"), 200, 0)
    ]
    assert 1 <= mean(counts) <= 4


def test_they_shrink_to_none() -> None:
    graph = find(
        functional_graphs(generation="keras", kinds=["Dense"], max_instructions=2, max_inputs=1),
        lambda graph: bool(graph.calls),
        settings=settings(database=None, max_examples=500),
    )
    assert [dict(layer.args).keys() for layer in graph.layers] == [{"units"}]


def test_the_one_that_matters_is_left() -> None:
    def has_a_constraint(graph: Graph) -> bool:
        return any(layer.arg("kernel_constraint") is not None for layer in graph.layers)

    graph = find(
        functional_graphs(generation="keras", kinds=["Dense"], max_instructions=2, max_inputs=1),
        has_a_constraint,
        settings=settings(database=None, max_examples=5000),
    )
    assert [dict(layer.args) for layer in graph.layers] == [{"units": 4, "kernel_constraint": "non_neg"}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Named("initializers.RandomUniform"), "keras.initializers.RandomUniform"),
        (Named("initializers.Constant", (("value", 0.5),)), "keras.initializers.Constant(value=0.5)"),
    ],
)
def test_an_object_is_written_as_a_person_would(value: Named, text: str) -> None:
    source = write_source(dense(("kernel_initializer", value)), "keras")
    assert f"layers.Dense(1, kernel_initializer={text})(inputs)" in source


def test_a_policy_is_written_as_an_object() -> None:
    graph = dense()
    policy = Named("dtype_policies.DTypePolicy", (("name", "mixed_bfloat16"),))
    (layer,) = graph.layers
    graph = structs.replace(graph, layers=(structs.replace(layer, dtype=policy),))
    assert 'dtype=keras.dtype_policies.DTypePolicy(name="mixed_bfloat16")' in write_source(graph, "keras")
    assert infer(graph)[1] == (Spec((1,), "bfloat16"),)


def test_nothing_else_of_keras_can_be_named() -> None:
    graph = dense(("kernel_initializer", Named("utils.get_file", (("origin", "http://example.org"),))))
    with pytest.raises(MalformedGraph, match=r"expected one of .*initializers\.Constant.*found 'utils\.get_file'"):
        infer(graph)
    with pytest.raises(MalformedGraph, match="nothing of Keras that a graph can name"):
        write_source(graph, "keras")


def test_what_a_release_lacks_is_not_drawn() -> None:
    kind = less(catalogue("keras")["Dense"], {"initializers.Constant", "Dense.bias_constraint", "ELU"})
    assert kind is not None
    values = [value for tried in kind.more.values() for value in tried]
    assert not any(isinstance(value, Named) and value.path == "initializers.Constant" for value in values)
    assert "bias_constraint" not in kind.more and "kernel_constraint" in kind.more


def test_an_argument_brings_what_it_needs() -> None:
    assert further([("lora_alpha", 3)], (Spec((4,)),)) == {"lora_rank": 2, "lora_alpha": 3}
    assert all(
        needed in kind.more for kind in kinds_of("keras") for key, (needed, _) in NEEDS.items() if key in kind.more
    )
    with pytest.raises(MalformedGraph, match="expected 'lora_rank' of Dense, which 'lora_alpha' needs"):
        infer(dense(("lora_alpha", 3)))


def test_an_argument_goes_without_what_it_refuses() -> None:
    both = [("kernel_constraint", "non_neg"), ("lora_rank", 1)]
    assert further(both, (Spec((4,)),)) == {"lora_rank": 1}
    assert further([("unroll", True), ("zero_output_for_mask", True)], (Spec((3, 4)),)) == {"unroll": True}
    with pytest.raises(MalformedGraph, match="expected no kernel_constraint .* of Dense beside 'lora_rank'"):
        infer(dense(*both))


def test_some_suit_some_tensors_only() -> None:
    assert not suits("unroll", True, (Spec((None, 4)),))
    assert not suits("unroll", True, (Spec((1, 4)),)), "Keras 2.2 refuses to"
    assert suits("unroll", True, (Spec((3, 4)),))


@pytest.mark.parametrize(("rows", "suits"), [(1, False), (2, True), (None, False)])
def test_of_a_factor_of_a_half_something_is_left(rows: int | None, suits: bool) -> None:
    height = catalogue("tf_keras")["RandomHeight"]
    assert height.fits((Spec((rows, 4, 3)),)) is suits
    assert height.fits((Spec((4, 1, 3)),))


@pytest.mark.parametrize(
    ("shape", "suits"), [((1, 4, 3), False), ((4, 1, 3), False), ((4, 4, 1), False), ((2, 2, 2), True)]
)
def test_an_image_is_seen_in_perspective_where_its_corners_are_four(shape: tuple[int, ...], suits: bool) -> None:
    """The colours may be said to come first."""
    assert catalogue("keras")["RandomPerspective"].fits((Spec(shape),)) is suits


def test_a_layer_that_is_unrolled_is_called_again_where_its_steps_are_known() -> None:
    layer = Layer("GRU", (("units", 2), ("unroll", True)))
    known, unknown = (Spec((3, 4)),), (Spec((None, 4)),)
    assert same_weights(layer, known, known)
    assert not same_weights(layer, unknown, known)
    assert same_weights(Layer("GRU", (("units", 2),)), unknown, known)


def test_every_path_is_of_a_module_that_a_release_is_asked_for() -> None:
    from harness.inside.offers import _NAMED

    assert {path.partition(".")[0] for path in PATHS} <= set(_NAMED)
