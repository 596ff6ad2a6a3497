"""The command line and environment of a subject's child process."""

from __future__ import annotations

import fnmatch
import os
import sys
from pathlib import Path
from typing import TypeAlias

from clonediff.harness.subjects.subject import Subject

SearchPath: TypeAlias = tuple[str, ...]
"""Folders to import from, before all others."""

DEFAULT_SEARCH_PATH: SearchPath = ()
"""The search path for the installed packages."""

ROOT = str(Path(__file__).parents[3])  # not resolved: in a checkout, this file is reached through a link
"""The folder from which clonediff is imported."""

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
"""The child writes its stack on a crash and on SIGUSR1, and writes no core file."""

_PASSED_PATTERNS = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ XDG_* VIRTUAL_ENV CONDA_PREFIX PYTHON* COVERAGE_* LD_LIBRARY_PATH
    LD_PRELOAD OMP_* MKL_* OPENBLAS_* NUMEXPR_* KERAS_HOME KERAS_BACKEND KERAS_NNX_ENABLED TF_CPP_* TF_NUM_* TF_ENABLE_*
    TF_XLA_* TF_GPU_* TF_FORCE_* TF_DETERMINISTIC_* TF_CUDNN_* TF_USE_LEGACY_KERAS XLA_* JAX_* TORCH_* PYTORCH_* CUDA_*
    CUBLAS_* CUDNN_* NVIDIA_* NCCL_* ROCR_* HIP_*
"""
"""Patterns of the environment variables that a child gets. CLONEDIFF_VARIABLES may have more."""

_THREAD_VARIABLES = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS TF_NUM_INTRAOP_THREADS TF_NUM_INTEROP_THREADS"
_ONE_THREAD = dict.fromkeys(_THREAD_VARIABLES.split(), "1")
"""Other subjects use the other cores. The user's values have priority."""

_CPU_VARIABLES = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "KERAS_TORCH_DEVICE": "cpu"}

_GPU_VARIABLES = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TF_DETERMINISTIC_OPS": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "NVIDIA_TF32_OVERRIDE": "0",
    "JAX_DEFAULT_MATMUL_PRECISION": "highest",
}
"""They allow sharing the GPU, and select deterministic, precise kernels."""

_CPU_XLA_FLAGS = {"xla_cpu_multi_thread_eigen": "false", "xla_backend_optimization_level": "0"}
"""Compiling takes two thirds of a trial: optimize as little as possible."""


def command_line(subject: Subject) -> list[str]:
    """The command line of a child; with `-u`, a killed child loses no output."""
    return [sys.executable, "-u", "-c", _BOOTSTRAP.format(root=ROOT), subject.generation]


def environment(subject: Subject, search_path: SearchPath = DEFAULT_SEARCH_PATH) -> dict[str, str]:
    """The environment of a child that imports from `search_path` first."""
    variables = {**_ONE_THREAD, **(_GPU_VARIABLES if subject.device != "cpu" else {}), **_passed_variables()}
    variables |= {"KERAS_BACKEND": subject.backend, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "0"}
    flags = _CPU_XLA_FLAGS if subject.device == "cpu" else {"xla_gpu_deterministic_ops": "true"}
    for flag, value in flags.items() if subject.backend == "jax" else ():
        if flag not in variables.get("XLA_FLAGS", ""):
            variables["XLA_FLAGS"] = f"{variables.get('XLA_FLAGS', '')} --{flag}={value}".strip()
    if subject.device == "cpu":
        variables |= _CPU_VARIABLES
    # In a child's temporary folder, a relative path would mean another folder.
    path = [os.path.abspath(folder) for folder in variables.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if search_path or path:
        variables["PYTHONPATH"] = os.pathsep.join((*search_path, *path))
    return variables


def _passed_variables() -> dict[str, str]:
    patterns = [*_PASSED_PATTERNS.split(), *os.environ.get("CLONEDIFF_VARIABLES", "").split(",")]
    names = {name for pattern in patterns for name in os.environ if fnmatch.fnmatchcase(name, pattern)}
    return {name: value for name, value in os.environ.items() if name in names}
