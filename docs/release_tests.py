"""Run Keras' own tests of cloning with clonediff's `clone_model`.

    python docs/release_tests.py                        the test files of the installed Keras
    python docs/release_tests.py tf_keras FILE.py ...   test files from the source of tf_keras, whose package has none

It runs all test files that mention `clone_model`, or are beside a module that imports it. Options after `--` are for
pytest. The tests of Keras' wrappers need scikit-learn. Test files of tf_keras are copied; the copies import from
`tf_keras.src`, as the package itself does.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from pathlib import Path

import pytest

from clonediff import clone_model

_IMPORTS_CLONE_MODEL = re.compile(r"^from \S+\.src\.models\.cloning import clone_model", re.MULTILINE)
_OWN_IMPORT = re.compile(r"^(from |import )tf_keras((?:\.(?!src)\S+)? (?:import|as) )", re.MULTILINE)


def replace_clone_model(package: str) -> None:
    """Replace Keras' `clone_model` in every module that has imported it."""
    original = importlib.import_module(f"{package}.models").clone_model
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is original:
                setattr(module, name, clone_model)


def tests_of_cloning(package: str) -> list[str]:
    """The paths of the test files in a package that are about cloning."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.rglob("*.py"))}
    tests = [file for file in texts if file.name.endswith("_test.py") or file.name.startswith("test_")]
    folders = {file.parent for file, text in texts.items() if file not in tests and _IMPORTS_CLONE_MODEL.search(text)}
    return [str(file) for file in tests if "clone_model" in texts[file] or file.parent in folders]


def copy_tests(files: list[str], package: str, folder: Path) -> list[str]:
    """Copy test files of tf_keras, with changed imports; return the paths to run."""
    copies = []
    for file in map(Path, files):
        copy = folder / file.name if package == "tf_keras" else file
        if copy != file:
            text = _OWN_IMPORT.sub(rf"\1{package}.src\2", file.read_text(encoding="utf-8"))
            copy.write_text(text, encoding="utf-8")
        copies.append(str(copy))
    return copies


def main() -> int:
    """Run pytest, and return its exit code."""
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    package, *files = sys.argv[1:end] or ["keras"]
    replace_clone_model(package)
    with tempfile.TemporaryDirectory() as folder:
        chosen = copy_tests(files, package, Path(folder)) or tests_of_cloning(package)
        if not chosen:
            sys.exit(f"{package} has no tests of cloning: name test files from its source")
        return int(pytest.main([*chosen, "-q", "-p", "no:cacheprovider", "-o", "addopts=", *sys.argv[end + 1 :]]))


if __name__ == "__main__":
    sys.exit(main())
