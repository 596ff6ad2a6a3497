"""Run Keras' own tests of cloning with clonediff's `clone_model`.

    python docs/release_tests.py                        the tests in the installed Keras
    python docs/release_tests.py tf_keras FILE.py ...   test files of tf_keras, whose package has none

All test files that mention `clone_model`, or are beside a module that imports it, are run by the pytest of this
environment; options after `--` are for pytest. The tests of Keras' wrappers need scikit-learn. Files of an archive of
tf_keras are run as copies that import from `tf_keras.src`, as its package does.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from pathlib import Path

import pytest

from clonediff import clone_model

_IMPORTED = re.compile(r"^from \S+\.src\.models\.cloning import clone_model", re.MULTILINE)
_WITHIN = re.compile(r"^(from |import )tf_keras((?:\.(?!src)\S+)? (?:import|as) )", re.MULTILINE)


def replace_clone_model(package: str) -> None:
    """Replace `clone_model` in every module that has imported it."""
    own = importlib.import_module(f"{package}.models").clone_model
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is own:
                setattr(module, name, clone_model)


def shipped(package: str) -> list[str]:
    """The test files in a package that are about cloning."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.rglob("*.py"))}
    tests = [file for file in texts if file.name.endswith("_test.py") or file.name.startswith("test_")]
    beside = {file.parent for file, text in texts.items() if file not in tests and _IMPORTED.search(text)}
    return [str(file) for file in tests if "clone_model" in texts[file] or file.parent in beside]


def copied(files: list[str], package: str, folder: Path) -> list[str]:
    """Test files of an archive, with the imports of the package."""
    copies = []
    for file in map(Path, files):
        text = _WITHIN.sub(rf"\1{package}.src\2", file.read_text(encoding="utf-8")) if package == "tf_keras" else None
        copy = folder / file.name if text is not None else file
        if text is not None:
            copy.write_text(text, encoding="utf-8")
        copies.append(str(copy))
    return copies


def main() -> int:
    """Run pytest, and return its exit code."""
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    package, *files = sys.argv[1:cut] or ["keras"]
    replace_clone_model(package)
    with tempfile.TemporaryDirectory() as folder:
        chosen = copied(files, package, Path(folder)) or shipped(package)
        if not chosen:
            sys.exit(f"{package} has no tests of cloning: name files of its archive")
        return int(pytest.main([*chosen, "-q", "-p", "no:cacheprovider", "-o", "addopts=", *sys.argv[cut + 1 :]]))


if __name__ == "__main__":
    sys.exit(main())
