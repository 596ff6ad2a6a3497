"""Judging from one end to the other: proposals in the place of a release's code, or a change between two trees."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import msgspec

from clonediff.harness.judge.candidate import CandidateProcess, NotLoadedError, prepare
from clonediff.harness.judge.patching import PatchError
from clonediff.harness.judge.reading import read_proposal
from clonediff.harness.judge.trying import Candidate, JudgeBudget, Judged, Reference, Say
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssues


def judge_proposals(
    texts: Mapping[str, str], subject: Subject, known: KnownIssues, budget: JudgeBudget, say: Say
) -> Iterator[Judged]:
    """The verdict on each proposal, the text of a file by its name, as it comes."""
    place = place_of(subject)
    with SubjectProcess(subject, place=place, limits=budget.limits) as release:
        release.start()
        cloning = release.cloning()
        if not isinstance(cloning, CloningFunctions):
            raise SubjectError(f"{subject}: lost while it was asked what it clones with")
        reference = Reference(release)
        known = known.on(subject.generation, release.ready.keras)
        for name, text in texts.items():
            proposal = read_proposal(name, text, cloning.functions)
            blank = Judged(name, str(subject), release.versions, proposal.taken, proposal.problem)
            if proposal.problem:
                yield blank
                continue
            with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
                try:
                    prepared = prepare(proposal, place, cloning, Path(folder))
                    with closing(CandidateProcess(subject, prepared, budget.limits)) as process:
                        process.start()
                        in_script = partial(prepared.in_script, module=cloning.module)
                        candidate = Candidate(
                            process, reference, known, budget, cloner="candidate", in_script=in_script
                        )
                        judged = candidate.judge(blank, say, reported=True)
                except (NotLoadedError, PatchError) as error:
                    judged = msgspec.structs.replace(blank, refused=str(error))
            yield judged
            if judged.stopped == "interrupted":
                return


def judge_change(base: Subject, head: Subject, known: KnownIssues, budget: JudgeBudget, say: Say) -> Judged:
    """The verdict on the change from one tree to another. What is worse counts if other processes show it again."""

    def pair(running: ExitStack) -> Candidate:
        trees = (SubjectProcess(each, place=place_of(each), limits=budget.limits) for each in (base, head))
        before, after = (running.enter_context(tree) for tree in trees)
        issues = known.on(base.generation, before.ready.keras)
        return Candidate(after, Reference(before, fixed=False), issues, budget)

    with ExitStack() as running:
        say("starting both")
        candidate = pair(running)
        blank = Judged(str(head), str(base), candidate.process.versions)
        judged = candidate.judge(blank, say, reported=False)
    if not judged.worse:
        return judged
    with ExitStack() as running:
        say("trying again what is worse")
        again = pair(running).again(candidate)
    return msgspec.structs.replace(judged, worse=tuple(cause for cause in judged.worse if cause.id in again))
