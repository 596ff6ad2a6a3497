"""A second process of a subject, in which something else is computed as long as a test wants it to be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject

PLANTED = '''\
import importlib.abc
import importlib.util
import os
import sys

FAULT = {file!r}
os.environ["CLONEDIFF_PLANTED"] = FAULT


def planted():
    """What is planted now, "" for nothing."""
    try:
        with open(FAULT) as file:
            return file.read()
    except FileNotFoundError:
        return ""


class Planted(importlib.abc.MetaPathFinder):
    """Has Dense give something else in this process, or build nothing."""

    def find_spec(self, name, path, target=None):
        if name != "keras.src.layers.core.dense":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.Dense.call = called(module.Dense.call)
            module.Dense.build = built(module.Dense.build)

        spec.loader.exec_module = exec_module
        return spec


def called(call):
    def changed(self, inputs, training=None):
        fault = planted()
        if fault == "value":
            return call(self, inputs) + 0.01
        if fault == "within the tolerance":
            return call(self, inputs) * (1.0 + 1e-6)
        if fault == "dies" and self.name == "one":
            os._exit(3)
        runs = "Eager" in type(inputs).__name__ or getattr(inputs, "is_meta", True) is False
        if fault == "not implemented" and self.name == "one" and runs:
            raise NotImplementedError
        return call(self, inputs)

    return changed


def built(build):
    def changed(self, input_shape):
        return [][0] if planted() == "refused" and self.name == "one" else build(self, input_shape)

    return changed


sys.meta_path.insert(0, Planted())
'''


class SecondProcess:
    """Another process of a subject, the same but for what is planted.

    CLONEDIFF_PLANTED names a file that is there as long as something is: a model may ask for it, too.
    """

    def __init__(self, subject: Subject, folder: Path) -> None:
        """Nothing is started until it is needed."""
        self._fault = folder / "fault"
        (folder / "sitecustomize.py").write_text(PLANTED.format(file=str(self._fault)))
        self.process = SubjectProcess(subject, place=ReleasePlace(path=(str(folder),)))

    @contextmanager
    def planted(self, fault: str) -> Iterator[SubjectProcess]:
        """The process, with a fault in it."""
        self._fault.write_text(fault)
        try:
            yield self.process
        finally:
            self._fault.unlink()
