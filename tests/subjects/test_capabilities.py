"""What a cloner can make nothing of is told before a search begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.expressible import unsupported_cloner
from tests.waiting import PATIENCE

NO_MULTI_GPU = "multi_gpu: keras has no multi_gpu_model; Keras 2.2 and 2.3 have, and tensorflow==2.0 to 2.3"


@pytest.mark.parametrize(
    ("cloner", "says"),
    [
        ("upstream", ""),
        ("fixed", ""),
        ("roundtrip", ""),
        ("multi_gpu", NO_MULTI_GPU),
        ("multi_gpu/fixed", NO_MULTI_GPU.replace("multi_gpu:", "multi_gpu/fixed:")),
        (
            "proposed/000",
            "proposed/000: proposed for Keras 2.2, it knows nothing of keras: give --subject keras==2.2.4",
        ),
    ],
)
def test_keras_3_is_unable_to_clone_with_what_is_of_keras_2(cloner: str, says: str, keras: SubjectProcess) -> None:
    assert unsupported_cloner(cloner, keras) == says


@pytest.mark.slow(reason="a campaign that starts a Keras to ask it what is asked above")
def test_fuzz_refuses_it_with_exit_code_2(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from clonediff.harness.cli import main; main()", "fuzz"]
    done = subprocess.run(
        [*command, "--subject", "keras", "--cloner", "multi_gpu", "--trials", "5", "--out", str(tmp_path / "run")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert NO_MULTI_GPU in done.stderr
    assert "Traceback" not in done.stderr
