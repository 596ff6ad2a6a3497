"""A child of each generation, spoken to line by line by the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.waiting import PATIENCE

from .child import Child, serving

LATER = pytest.mark.slow(reason="as long again; the property tests hold a tf_keras original against its clones, too")


@pytest.fixture(scope="package", params=["keras", pytest.param("tf_keras", marks=LATER)])
def child(request: pytest.FixtureRequest) -> Iterator[Child]:
    with serving(request.param) as child:
        yield child
        child.line('{"do": "quit"}')
        assert child.process.wait(PATIENCE) == 0, "it ends when it is told to"
