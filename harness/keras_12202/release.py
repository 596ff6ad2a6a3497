"""Keras 2.2.4 from the package index, in a folder of the user's cache that goes first on the path of a child."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.subjects import releases

ALSO_NEEDED = {"yaml": "pyyaml", "six": "six", "h5py": "h5py", "scipy": "scipy"}  # by module


def installed() -> Path:
    """The folder with Keras 2.2.4, which is installed first where it is not there yet."""
    missing = [package for module, package in ALSO_NEEDED.items() if importlib.util.find_spec(module) is None]
    packages = (RELEASE, "keras_applications==1.0.8", "keras_preprocessing==1.1.2", *missing)
    folder = releases.installed(f"keras_12202-{sys.implementation.cache_tag}", packages)
    shutil.copy(Path(__file__).with_name("v1_mode.py"), folder)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """The environment of a process that imports Keras 2.2.4 from that folder, without a GPU."""
    variables = {"PYTHONPATH": str(folder), "KERAS_BACKEND": "tensorflow", "PYTHONHASHSEED": "0"}
    return {**os.environ, **variables, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
