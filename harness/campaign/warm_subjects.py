"""The warm processes of a worker: one of each subject for each of its threads, kept from shard to shard."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from clonediff.harness.campaign.shards import Setup
from clonediff.harness.drawing.drawable_kinds import bring
from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.scripts.forked import ForkedScripts
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cloners import allow_cloners
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues

IDLE = 7200.0
"""The seconds without a task after which the processes of a campaign are ended."""
MOST = 4
"""The subjects that a thread keeps warm: each holds more than half a gigabyte."""


class WarmSubjects:
    """The processes of one thread. Where there are too many, the one that was used least recently is ended."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.used = time.monotonic()
        self._processes: OrderedDict[str, SubjectProcess] = OrderedDict()
        self._scripts: dict[str, ForkedScripts] = {}
        self._known = KnownIssues(setup.known)

    def process(self, name: str) -> SubjectProcess:
        """The process of a subject, started if it does not run."""
        self.used = time.monotonic()
        process = self._processes.get(name)
        if process is None:
            subject = Subject.parse(name)
            process = SubjectProcess(subject, place=place_of(subject))
            process.start()
            allow_cloners(self.setup.cloners)
            process.others = self.setup.layers
            bring(asked(process), process.others)
            self._processes[name] = process
        self._processes.move_to_end(name)
        for other in [each for each in self._processes if each != name]:
            if len(self._processes) <= MOST:
                break
            self._end(other)
        return process

    def scripts(self, name: str) -> ForkedScripts:
        """What runs scripts on a subject that is warm."""
        if name not in self._scripts:
            process = self._processes.get(name) or self.process(name)
            self._scripts[name] = ForkedScripts(process.subject, process.place)
        return self._scripts[name]

    def trials(self, name: str) -> GraphTrials:
        """Trials on a subject, with nothing counted yet."""
        setup = self.setup
        return GraphTrials(
            self.process(name),
            self._known,
            cloners=setup.cloners,
            at_least=setup.at_least,
        )

    def close(self) -> None:
        """End them all."""
        for name in list(self._processes):
            self._end(name)

    def _end(self, name: str) -> None:
        self._processes.pop(name).close()
        if name in self._scripts:
            self._scripts.pop(name).close()


_SETUPS: dict[str, Setup] = {}
_HELD: dict[tuple[str, int], WarmSubjects] = {}


def prepare(setup: Setup) -> None:
    """Remember what the shards of a campaign share, which is too much to send with each of them.

    The processes of campaigns that were idle for long are ended: their driver may have been killed.
    """
    for key, its in list(_HELD.items()):
        if time.monotonic() - its.used > IDLE:
            _HELD.pop(key).close()
    _SETUPS[setup.campaign] = setup


def warm_subjects(campaign: str) -> WarmSubjects:
    """What this thread holds for a campaign that the worker is prepared for."""
    key = campaign, threading.get_ident()
    if key not in _HELD:
        _HELD[key] = WarmSubjects(_SETUPS[campaign])
    return _HELD[key]


def close(campaign: str) -> None:
    """End all that this worker holds for a campaign, and forget it."""
    for key in [each for each in _HELD if each[0] == campaign]:
        _HELD.pop(key).close()
    _SETUPS.pop(campaign, None)
