"""One trial: a model built from source, observed, cloned by each cloner, and each clone observed beside it.

`run_trial` is the one way to run a trial: `serve` calls it in a subject's child process, and a downstream project
calls it in its own.
"""

from __future__ import annotations

import contextlib
import faulthandler
import re
import signal
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any

from msgspec.structs import replace

from clonediff.harness.inside.build import script
from clonediff.harness.inside.cloners import Cloner, call_cloner, chosen_cloners
from clonediff.harness.inside.cloners.users import is_users, no_model
from clonediff.harness.inside.description import Description
from clonediff.harness.inside.failures import GRAPH_FILE, failure
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.observer import Observer, tidy
from clonediff.harness.inside.original import Live, Original
from clonediff.harness.inside.structure import leaves
from clonediff.harness.inside.warned import Warned, heard_as, unheard
from clonediff.harness.observation import Answer, Clone, Failure, Leak, Observation, Request


def run_trial(
    request: Request,
    framework: Framework,
    observer: Observer | None = None,
    *,
    cloners: Mapping[str, Any] | None = None,
    live: Live | None = None,
) -> Answer:
    """The answer to the request for a trial.

    `cloners` are names, each with the name of a cloner or a function of a model; without them, those that the request
    names. Where one has changed the original, those after it are not called, and have no answer. A `live` model takes
    the place of a source; whoever asks puts its weights back.
    """
    observer = observer or Observer(framework, request.case.seed)
    observer.values_by_chance = live is not None
    began = perf_counter()
    with unheard(), framework.on(request.device):
        if live is None:
            tidy(framework)
        framework.reseed(observer.seed)
        with framework.hooked(), script(None if live else request.case.source) as module:
            chosen = chosen_cloners(request.cloners if cloners is None else cloners, framework)
            trial = _Trial(request, chosen, module, observer, live)
            answer = trial.run()
            del trial
    return replace(answer, seconds=perf_counter() - began)


class _Trial:
    def __init__(
        self, request: Request, cloners: dict[str, Cloner], module: Any, observer: Observer, live: Live | None
    ) -> None:
        self._request, self._cloners, self._module, self._observer = request, cloners, module, observer
        self._framework, self._live = observer.framework, live
        self._seconds = 0.0
        """What a cloner has; one that takes longer ends the process, which says where it was. 0 is no limit."""
        self._arguments: list[dict[str, Any]] = []
        """What the cloner was given beside the model, in each of its calls."""
        self._heard = Warned()
        """The warnings of building the model."""
        self._warned: dict[str, Warned] = {}
        self._descriptions: dict[str, Description] = {}
        """The clones, by cloner."""

    def run(self) -> Answer:
        began = perf_counter()
        try:
            model = self._build() if self._live is None else self._live.model
        except Exception as error:  # the framework refuses to build: counted, and never a finding
            return Answer(refused=failure(error, below="_build"))
        self._original = original = Original(model, self._request.case, self._observer, self._live is not None)
        least, times = self._request.clone_seconds
        self._seconds = max(least, times * (perf_counter() - began)) if least else 0.0
        clones: dict[str, Clone] = {}
        for name, cloner in self._cloners.items():
            clones[name] = self._clone(name, cloner)
            if original.is_changed:  # and no other cloner is to answer for that
                break
        observation = self._train(original.observation, clones)
        observation = self._observe_another(observation, clones)
        for name, warned in self._warned.items():
            clones[name] = replace(clones[name], warned=warned.beside(self._heard))
        return Answer(observation, clones=clones)

    def _build(self) -> Any:
        """The model. What building it warns of is heard, and never raised."""
        with self._heard.listening():
            exec(compile(self._request.case.source, GRAPH_FILE, "exec"), self._module.__dict__)
            return self._module.__dict__["model"]

    # -- one cloner

    def _clone(self, name: str, cloner: Cloner) -> Clone:
        original, warned = self._original, Warned()
        self._arguments = []
        if self._request.case.arguments and "clone_model" in self._module.__dict__:
            self._module.__dict__["clone_model"] = cloner  # functions of the source call it, too
        original.remember()
        clone, refused = self._call(name, cloner, warned)
        answer = {"failure": refused, **original.look_again(runs=self._request.costly)}
        if refused is not None:
            return Clone(**answer)
        self._warned[name] = warned
        try:
            description = Description(clone, self._observer)
            observation = original.observe_clone(description)
        except Exception as error:  # the same was asked of the original: the clone lacks what every model has
            return Clone(**{**answer, "failure": failure(error)})
        self._descriptions[name] = description
        answer.update(original.look_for(description))
        answer["observation"] = replace(observation, leaks=self._leaks(description))
        if self._request.costly:
            answer.update(original.dependent(description, observation.inference))
            answer.update(self._clone_again(name, cloner))
        if self._request.case.keeps_inputs or is_users(name):
            original.values.restore()  # what the clone was given, the model that shares its layers was given, too
        return Clone(**answer)

    def _call(self, name: str, cloner: Cloner, warned: Warned) -> tuple[Any, Failure | None]:
        """The clone, or why there is none. What the cloner warns of, `warned` hears; it ends no call of a cloner.

        In the process of a live model, warnings are filtered as its user has set it.
        """
        # In older releases initializers draw from the backend's generator, where the last run has left its seed: a
        # clone would begin with the weights of an original that was built after a run with the same one.
        self._framework.reseed(self._observer.seed + 7, self._observer.backend_draws)
        model, arguments = self._original.model, self._request.case.arguments
        hearing = heard_as(self._live.filters) if self._live else warned.listening("call_cloner")
        try:
            with hearing, self._within():
                names = {**self._module.__dict__, "model": model} if arguments else {}
                self._arguments.append({name: eval(text, names) for name, text in arguments.items()})
                clone = call_cloner(cloner, model, self._arguments[-1])
        except Exception as error:  # what this whole project is about
            return None, failure(error, below="call_cloner")
        return clone, no_model(name, clone, self._framework) if is_users(name) else None

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        with contextlib.ExitStack() as scopes:
            for text in self._request.case.within:
                scopes.enter_context(eval(text, dict(self._module.__dict__)))
            if self._seconds:
                faulthandler.register(signal.SIGALRM, chain=True)  # it writes where it is; the signal ends the process
                signal.setitimer(signal.ITIMER_REAL, self._seconds)
                scopes.callback(signal.setitimer, signal.ITIMER_REAL, 0)
            yield

    def _leaks(self, clone: Description) -> tuple[Leak, ...]:
        """What of the original a clone reaches, but for tensors that it was given, and what made them."""
        framework = self._framework
        tensors = [leaf for leaf in leaves(self._arguments) if isinstance(leaf, framework.tensor_class)]
        makers = [maker for tensor in tensors for maker in framework.origin(tensor)[:2]]
        return self._original.leaks(clone, [*tensors, *makers])

    def _clone_again(self, name: str, cloner: Cloner) -> dict[str, Any]:
        """Clone once more."""
        original, after = self._original, {}
        if not original.is_changed:
            original.values.restore()
            original.remember()
        clone, refused = self._call(name, cloner, Warned())
        if not original.is_changed:
            after = original.look_again(runs=False)
        if refused is not None:
            return {**after, "again_failure": refused}
        try:
            return {**after, "again": original.observe_clone(Description(clone, self._observer))}
        except Exception as error:
            return {**after, "again_failure": failure(error)}

    def _train(self, observation: Observation, clones: dict[str, Clone]) -> Observation:
        """Train the original and its clones, now that nothing else is asked of them: training leaves many traces."""
        if not self._request.costly or not self._original.can_be_trained():
            return observation
        trained = self._original.train(self._original.description)
        for name, description in self._descriptions.items() if trained.failure is None else ():
            clone = clones[name].observation
            if clone is not None and clone.shape.compiled is not None:
                trained_clone = replace(clone, trained=self._original.train(description))
                clones[name] = replace(clones[name], observation=trained_clone)
        return replace(observation, trained=trained)

    # -- the null model

    def _observe_another(self, observation: Observation, answers: dict[str, Clone]) -> Observation:
        """Where a clone differs, observe another build of the source with other seeds: what differs in it is chance."""
        original, parts = self._original, [(one.observation, one.again) for one in answers.values()]
        clones = [clone for clone in (clone for part in parts for clone in part) if clone is not None]
        runs = [part for part in _RUNS if any(_differ(part, observation, clone) for clone in clones)]
        runs += ["inference"] * any(answer.inference_after is not None for answer in answers.values())
        warned = any(warned.beside(self._heard) for warned in self._warned.values())
        if not (runs or warned or any(_may_be_chance(observation, clone) for clone in clones)):
            return observation
        try:
            if self._live is not None:
                again = Description(original.model, self._observer)
                again.values = original.values
                return replace(observation, another=original.observe(again))
            self._framework.forget()
            self._framework.reseed(self._observer.seed + 500)
            description = Description(self._build(), self._observer)
        except Exception:  # a source may be one that runs once only, a live model one that a cloner has broken
            return observation
        description.hold(original.description)
        if not runs and description.shape.facts == observation.shape.facts:
            another = Observation(description.shape, **original.begins(description))
        else:
            another = self._run_another(description, observation, runs)
        return replace(observation, another=replace(another, leaks=self._leaks(description)))

    def _run_another(self, description: Description, observation: Observation, runs: list[str]) -> Observation:
        """The null model with its runs; where `runs` of clones differ, as the original itself may."""
        another, models = self._original.observe_clone(description), [part for part in runs if part != "trained"]
        same = not any(_differ(part, observation, another) for part in models)
        if models and same and not self._original.repeats(training=models[0] == "training"):
            another = self._original.observe_clone(description)  # what counts its calls has gone on
        return replace(another, trained=self._original.train(description)) if "trained" in runs else another


_RUNS = ("inference", "training", "trained")
_NUMBER = re.compile(r"[-+.0-9a-f]*[0-9][-+.0-9a-f]*")
"""In hexadecimal digits, too: a digest of numbers is drawn as they are."""


def _differ(part: str, original: Observation, clone: Observation) -> bool:
    return getattr(clone, part) not in (None, getattr(original, part))


def _may_be_chance(original: Observation, clone: Observation) -> bool:
    """Whether a clone begins with other values, shares an object, or holds something that chance may have drawn."""
    values, expected = ([state.value for state in shape.states] for shape in (clone.shape, original.shape))
    if clone.leaks or not all(clone.fresh) or values != expected:
        return True
    if clone.shape.facts == original.shape.facts:
        return False
    ours, theirs = (
        {(path, fact.text) for facts in shape.facts for path, fact in facts.items() if not fact.named}
        for shape in (original.shape, clone.shape)
    )
    drawn = {(path, _NUMBER.sub("", text)) for path, text in ours - theirs}
    return any((path, _NUMBER.sub("", text)) in drawn for path, text in theirs - ours)
