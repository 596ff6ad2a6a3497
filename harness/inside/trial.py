"""Runs one trial: builds and observes a model, and its clone by each cloner.

`run_trial` runs in the child process of a subject, or in the user's own process.
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

from clonediff.harness.inside.cloners import Cloner, call_cloner, chosen_cloners
from clonediff.harness.inside.cloners.users import is_users_cloner, no_model_failure
from clonediff.harness.inside.context import Context, tidy
from clonediff.harness.inside.description import Description
from clonediff.harness.inside.failures import GRAPH_FILE, failure
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.original import LiveModel, Original
from clonediff.harness.inside.script_module import script_module
from clonediff.harness.inside.structure import leaves
from clonediff.harness.inside.warning_recorder import WarningRecorder, ignored_warnings, warning_filters
from clonediff.harness.observation import Answer, Clone, Failure, Leak, Observation, Request


def run_trial(
    request: Request,
    framework: Framework,
    context: Context | None = None,
    *,
    cloners: Mapping[str, Any] | None = None,
    live: LiveModel | None = None,
) -> Answer:
    """Run a request's trial.

    `cloners` maps a name to a function or to the name of a cloner; by default, the request names them. If a cloner
    changes the original, no other is called. A `live` model replaces the source; the caller restores its weights.
    """
    context = context or Context(framework, request.case.seed)
    context.ignores_values = live is not None
    start = perf_counter()
    with ignored_warnings(), framework.device_scope(request.device):
        if live is None:
            tidy(framework)
        framework.reseed(context.seed)
        with framework.hooked(), script_module(None if live else request.case.source) as module:
            chosen = chosen_cloners(request.cloners if cloners is None else cloners, framework)
            trial = _Trial(request, chosen, module, context, live)
            answer = trial.run()
            del trial
    return replace(answer, seconds=perf_counter() - start)


class _Trial:
    def __init__(
        self, request: Request, cloners: dict[str, Cloner], module: Any, context: Context, live: LiveModel | None
    ) -> None:
        self._request = request
        self._cloners = cloners
        self._module = module
        self._context = context
        self._framework = context.framework
        self._live = live
        self._time_limit = 0.0
        """Seconds for each cloner, after which the process ends; 0: no limit."""
        self._arguments: list[dict[str, Any]] = []
        """The arguments of each call of the current cloner, without the model."""
        self._build_warnings = WarningRecorder()
        self._warnings: dict[str, WarningRecorder] = {}
        self._descriptions: dict[str, Description] = {}

    def run(self) -> Answer:
        request = self._request
        start = perf_counter()
        try:
            model = self._build() if self._live is None else self._live.model
        except Exception as error:  # a model that Keras refuses to build is only counted
            return Answer(refusal=failure(error, function="_build"))
        self._original = original = Original(model, request.case, self._context, self._live is not None)
        if seconds := request.clone_seconds:
            self._time_limit = max(seconds, request.clone_factor * (perf_counter() - start))
        clones: dict[str, Clone] = {}
        for name, cloner in self._cloners.items():
            clones[name] = self._clone(name, cloner)
            if original.is_changed:  # no other cloner should be blamed
                break
        observation = self._train(original.observation, clones)
        observation = self._observe_null_model(observation, clones)
        for name, recorder in self._warnings.items():
            clones[name] = replace(clones[name], warnings=recorder.warnings_since(self._build_warnings))
        return Answer(observation, clones=clones)

    def _build(self) -> Any:
        with self._build_warnings.recording():
            exec(compile(self._request.case.source, GRAPH_FILE, "exec"), self._module.__dict__)
            return self._module.__dict__["model"]

    # -- one cloner

    def _clone(self, name: str, cloner: Cloner) -> Clone:
        original = self._original
        recorder = WarningRecorder()
        self._arguments = []
        if self._request.case.arguments and "clone_model" in self._module.__dict__:
            self._module.__dict__["clone_model"] = cloner  # functions in the source may call `clone_model`
        original.snapshot()
        clone, problem = self._call(name, cloner, recorder)
        fields = {"failure": problem, **original.find_changes(must_run=self._request.costly)}
        if problem is not None:
            return Clone(**fields)
        self._warnings[name] = recorder
        try:
            description = Description(clone, self._context)
            observation = original.observe_clone(description)
        except Exception as error:  # the original did not fail, so the clone is at fault
            return Clone(**{**fields, "failure": failure(error)})
        self._descriptions[name] = description
        fields.update(original.find_inserted_objects(description))
        fields["observation"] = replace(observation, leaks=self._leaks(description))
        if self._request.costly:
            fields.update(original.dependent_runs(description, observation.inference))
            fields.update(self._clone_again(name, cloner))
        if self._request.case.keeps_inputs or is_users_cloner(name):
            original.values.restore()  # runs of the clone changed the values of shared layers
        return Clone(**fields)

    def _call(self, name: str, cloner: Cloner, recorder: WarningRecorder) -> tuple[Any, Failure | None]:
        """Call a cloner, and return the clone or the failure; `recorder` records its warnings.

        For a live model, warnings are not recorded, but filtered as the user has chosen.
        """
        # With the last run's seed, older initializers would repeat the original's weights.
        self._framework.reseed(self._context.seed + 7, self._context.seeds_backend)
        model, arguments = self._original.model, self._request.case.arguments
        recording = warning_filters(self._live.filters) if self._live else recorder.recording("call_cloner")
        try:
            with recording, self._scopes():
                names = {**self._module.__dict__, "model": model} if arguments else {}
                self._arguments.append({name: eval(text, names) for name, text in arguments.items()})
                clone = call_cloner(cloner, model, self._arguments[-1])
        except Exception as error:  # a failure of the cloner
            return None, failure(error, function="call_cloner")
        return clone, no_model_failure(name, clone, self._framework) if is_users_cloner(name) else None

    @contextlib.contextmanager
    def _scopes(self) -> Iterator[None]:
        with contextlib.ExitStack() as scopes:
            for text in self._request.case.scopes:
                scopes.enter_context(eval(text, dict(self._module.__dict__)))
            if self._time_limit:
                faulthandler.register(signal.SIGALRM, chain=True)  # print a traceback before the process ends
                signal.setitimer(signal.ITIMER_REAL, self._time_limit)
                scopes.callback(signal.setitimer, signal.ITIMER_REAL, 0)
            yield

    def _leaks(self, clone: Description) -> tuple[Leak, ...]:
        """A clone's leaks, except by tensors in the cloner's arguments."""
        framework = self._framework
        tensors = [leaf for leaf in leaves(self._arguments) if isinstance(leaf, framework.tensor_class)]
        makers = [maker for tensor in tensors for maker in framework.origin(tensor)[:2]]
        return self._original.leaks(clone, [*tensors, *makers])

    def _clone_again(self, name: str, cloner: Cloner) -> dict[str, Any]:
        original, changes = self._original, {}
        if not original.is_changed:
            original.values.restore()
            original.snapshot()
        clone, problem = self._call(name, cloner, WarningRecorder())
        if not original.is_changed:
            changes = original.find_changes(must_run=False)
        if problem is not None:
            return {**changes, "second_clone_failure": problem}
        try:
            return {**changes, "second_clone": original.observe_clone(Description(clone, self._context))}
        except Exception as error:
            return {**changes, "second_clone_failure": failure(error)}

    def _train(self, observation: Observation, clones: dict[str, Clone]) -> Observation:
        """Train the original and its clones last, since training changes them."""
        if not self._request.costly or not self._original.can_be_trained():
            return observation
        results = self._original.train(self._original.description)
        for name, description in self._descriptions.items() if results.failure is None else ():
            clone = clones[name].observation
            if clone is not None and clone.structure.compiled is not None:
                trained_clone = replace(clone, training_results=self._original.train(description))
                clones[name] = replace(clones[name], observation=trained_clone)
        return replace(observation, training_results=results)

    # -- the null model

    def _observe_null_model(self, observation: Observation, clones: dict[str, Clone]) -> Observation:
        """If a clone differs, observe the null model, built with other seeds."""
        original = self._original
        pairs = [(clone.observation, clone.second_clone) for clone in clones.values()]
        observed = [clone for pair in pairs for clone in pair if clone is not None]
        runs = [name for name in _RUNS if any(_differs_in(name, observation, clone) for clone in observed)]
        runs += ["inference"] * any(clone.inference_after is not None for clone in clones.values())
        has_warnings = any(recorder.warnings_since(self._build_warnings) for recorder in self._warnings.values())
        if not (runs or has_warnings or any(_may_be_chance(observation, clone) for clone in observed)):
            return observation
        try:
            if self._live is not None:
                description = Description(original.model, self._context)
                description.values = original.values
                return replace(observation, null_model=original.observe(description))
            self._framework.forget()
            self._framework.reseed(self._context.seed + 500)
            description = Description(self._build(), self._context)
        except Exception:  # not every source runs twice, and a cloner may have broken a live model
            return observation
        description.set_facts(original.description)
        if not runs and description.structure.facts == observation.structure.facts:
            null_model = Observation(description.structure, **original.freshness(description))
        else:
            null_model = self._run_null_model(description, observation, runs)
        return replace(observation, null_model=replace(null_model, leaks=self._leaks(description)))

    def _run_null_model(self, description: Description, observation: Observation, runs: list[str]) -> Observation:
        """Observe the null model; twice if the original does not repeat `runs`."""
        null_model = self._original.observe_clone(description)
        names = [name for name in runs if name != "training_results"]
        is_same = not any(_differs_in(name, observation, null_model) for name in names)
        if names and is_same and not self._original.is_repeatable(training=names[0] == "training"):
            null_model = self._original.observe_clone(description)  # the model may count its calls
        if "training_results" in runs:
            null_model = replace(null_model, training_results=self._original.train(description))
        return null_model


_RUNS = ("inference", "training", "training_results")
_NUMBER = re.compile(r"[-+.0-9a-f]*[0-9][-+.0-9a-f]*")
"""Decimal numbers and hexadecimal digests, which may differ by chance."""


def _differs_in(name: str, original: Observation, clone: Observation) -> bool:
    return getattr(clone, name) not in (None, getattr(original, name))


def _may_be_chance(original: Observation, clone: Observation) -> bool:
    """Whether chance may explain a clone's leak, initial value or attribute."""
    models = original.structure, clone.structure
    expected, values = ([state.value for state in model.states] for model in models)
    if clone.leaks or not all(clone.fresh_weights) or values != expected:
        return True
    if clone.structure.facts == original.structure.facts:
        return False
    original_texts, clone_texts = (
        {(path, fact.text) for facts in model.facts for path, fact in facts.items() if not fact.layer_names}
        for model in models
    )
    drawn = {(path, _NUMBER.sub("", text)) for path, text in original_texts - clone_texts}
    return any((path, _NUMBER.sub("", text)) in drawn for path, text in clone_texts - original_texts)
