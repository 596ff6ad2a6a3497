"""Keras' own tests around cloning, with clonediff's `clone_model` in the place of Keras' own.

    python docs/own_tests.py                        the tests that the installed Keras ships
    python docs/own_tests.py tf_keras FILE.py ...   test files of tf_keras, of which its package ships none

Every file of tests that mentions `clone_model` is run whole, by the pytest of this environment; what follows `--` is
for pytest.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from harness import clone_model


def put_in_place(package: str) -> None:
    """Have every module that has imported the package's own `clone_model` use ours."""
    own = importlib.import_module(f"{package}.models").clone_model
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is own:
                setattr(module, name, clone_model)


def shipped(package: str) -> list[str]:
    """The files of tests in a package that speak of cloning."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    files = sorted((*folder.rglob("*_test.py"), *folder.rglob("test_*.py")))
    return [str(file) for file in files if "clone_model" in file.read_text(encoding="utf-8", errors="replace")]


def main() -> int:
    """The exit code of pytest."""
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    package, *files = sys.argv[1:cut] or ["keras"]
    put_in_place(package)
    chosen = files or shipped(package)
    if not chosen:
        sys.exit(f"{package} ships no tests of cloning: name files of its archive")
    return int(pytest.main([*chosen, "-q", "-p", "no:cacheprovider", "-o", "addopts=", *sys.argv[cut + 1 :]]))


if __name__ == "__main__":
    sys.exit(main())
