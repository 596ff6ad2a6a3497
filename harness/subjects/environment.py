"""How a child of a subject is started: its command line and its environment."""

from __future__ import annotations

import fnmatch
import os
import sys
from pathlib import Path
from typing import TypeAlias

from clonediff.harness.subjects.subject import Subject

Place: TypeAlias = tuple[str, ...]
"""Where a release is: the folders to import from before all others."""

BESIDE: Place = ()
"""The packages that are installed beside clonediff."""

ROOT = str(Path(__file__).parents[3])  # not resolved: in a checkout a link leads here
"""The folder that clonediff is imported from."""

_BOOTSTRAP = """\
import faulthandler, resource, signal, sys

faulthandler.enable()
faulthandler.register(signal.SIGUSR1, all_threads=True)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.path.insert(0, {root!r})
import clonediff
del sys.path[0]
from clonediff.harness.server.serve import main
sys.exit(main())
"""
"""Writes its stack on a crash, and when asked by SIGUSR1; leaves no core file."""

HANDED_ON = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ XDG_* VIRTUAL_ENV CONDA_PREFIX PYTHON* COVERAGE_* LD_LIBRARY_PATH
    LD_PRELOAD OMP_* MKL_* OPENBLAS_* NUMEXPR_* KERAS_HOME KERAS_BACKEND KERAS_NNX_ENABLED TF_CPP_* TF_NUM_* TF_ENABLE_*
    TF_XLA_* TF_GPU_* TF_FORCE_* TF_DETERMINISTIC_* TF_CUDNN_* TF_USE_LEGACY_KERAS XLA_* JAX_* TORCH_* PYTORCH_* CUDA_*
    CUBLAS_* CUDNN_* NVIDIA_* NCCL_* ROCR_* HIP_*
"""
"""The variables that a child is started with: how Python and the backends run. A child runs code of others, and has no
use for tokens and passwords. CLONEDIFF_VARIABLES may name more."""

_LIBRARIES = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS TF_NUM_INTRAOP_THREADS TF_NUM_INTEROP_THREADS"
_THREADS = dict.fromkeys(_LIBRARIES.split(), "1")
"""One thread each: the graphs are small, and there is a subject beside this one for each core.

A variable that is set already is left alone, so `TF_NUM_INTRAOP_THREADS=4 clonediff ...` does what it says.
"""

_ON_CPU = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "KERAS_TORCH_DEVICE": "cpu"}

_ON_GPU = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TF_DETERMINISTIC_OPS": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "NVIDIA_TF32_OVERRIDE": "0",
    "JAX_DEFAULT_MATMUL_PRECISION": "highest",
}
"""A GPU is shared with other subjects, and an original and its clone must take the same kernels.

TensorFloat-32, which multiplies with ten bits and is the default of TensorFlow and JAX on a GPU, is off.
"""

_XLA_ON_CPU = {"xla_cpu_multi_thread_eigen": "false", "xla_backend_optimization_level": "0"}
"""What JAX compiles runs once or twice, and two thirds of a trial go into that: a third of it for optimizing."""


def command(subject: Subject) -> list[str]:
    """The command line of a child; `-u` so that nothing waits in a buffer when it is killed."""
    return [sys.executable, "-u", "-c", _BOOTSTRAP.format(root=ROOT), subject.generation]


def environment(subject: Subject, place: Place = BESIDE) -> dict[str, str]:
    """The environment of a child. The folders of its place are put before everything else that it can import."""
    variables = {**_THREADS, **(_ON_GPU if subject.device != "cpu" else {}), **_handed_on()}
    variables |= {"KERAS_BACKEND": subject.backend, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "0"}
    flags = _XLA_ON_CPU if subject.device == "cpu" else {"xla_gpu_deterministic_ops": "true"}
    for flag, value in flags.items() if subject.backend == "jax" else ():
        if flag not in variables.get("XLA_FLAGS", ""):
            variables["XLA_FLAGS"] = f"{variables.get('XLA_FLAGS', '')} --{flag}={value}".strip()
    if subject.device == "cpu":
        variables |= _ON_CPU
    # A child runs in a folder of its own.
    path = [os.path.abspath(folder) for folder in variables.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if place or path:
        variables["PYTHONPATH"] = os.pathsep.join((*place, *path))
    return variables


def _handed_on() -> dict[str, str]:
    """The variables of this process that a child has too."""
    patterns = [*HANDED_ON.split(), *os.environ.get("CLONEDIFF_VARIABLES", "").split(",")]
    return {name: value for name, value in os.environ.items() if any(fnmatch.fnmatchcase(name, p) for p in patterns)}
