"""Which layer a message speaks of."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects.observation import Failure
from clonediff.harness.trials.checks.raised import layer_spoken_of

from .making import chain


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ('Layer "dense_2" was given nothing.', "Dense"),
        ("Requested the deserialization of a `Lambda` layer", "Lambda"),
        ("Could not locate function 'f'. Full object config: {'module': 'builtins'}", None),
        ("Expected 'config' to be a dict for method. Full config: {'class_name': 'method'}", None),
        ("Full takes a shape. Full object config: {}", "Full"),
    ],
)
def test_the_layer_whose_name_or_kind_stands_in_a_message(message: str, kind: str | None) -> None:
    shape = chain("Full", "Dense", "Lambda").shape
    assert shape is not None
    place = layer_spoken_of(Failure("ValueError", message, ()), shape)
    assert (place and place.kind) == kind
