"""The releases of tf_keras, and of the tf.keras before it, that tests are run on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import SubjectProcess

RELEASES = (
    pytest.param(
        "tf_keras==2.18.0",
        marks=pytest.mark.slow(reason="nearly the tf_keras that is installed, on which all else is tried"),
    ),
    "tensorflow==2.4.4",
    *(
        pytest.param(
            f"tensorflow=={version}", marks=pytest.mark.slow(reason="one more of the stacks; 2.4.4 stands for them")
        )
        for version in ("2.0.4", "2.2.3", "2.6.5", "2.8.4", "2.9.3", "2.11.1", "2.15.1")
    ),
)


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest, warm: Callable[[str], SubjectProcess]) -> SubjectProcess:
    return warm(request.param)
