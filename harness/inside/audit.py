"""Whether what a class makes of some arguments is the same once it was revived from its config.

One construction at a time: a text makes the object under the name `made`; it is looked at and used, and so is what
`from_config(get_config())` gives, with the weights copied, and what a config that went through JSON gives. Beside it
stands the same class with no argument away from its default: a fact is lost only where the revived object has gone
back to what is there without the argument. What another build of the same text does not repeat says nothing.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, Iterator

from .build import script
from .canonical import entry
from .frameworks.interface import Framework
from .holdings import NAMED, SHARED, Holdings, same_fact
from .housekeeping import QUESTION, tidy
from .layers import Layers
from .observer import Observer
from .uses import Uses
from .values import weight_arrays
from .warned import unheard

COMPUTES = "computes"
CRASHES = "crashes"
WEIGHTS = "weights"
HOLDS = "holds"
"""How something is lost, the worst first."""

_LONGEST = 300
_MOST = 20
"""So many facts are told in which an argument shows."""
_SEED = 1
"""Of the numbers that weights are given."""
_OTHER_SEEDS = (1, 2, 3, 4)
"""What is made again draws other numbers, so that what chance has made is not the same."""


class _Look:
    """What was seen of one object."""

    def __init__(self, thing: Any, proposal: dict[str, Any] | None) -> None:
        self.thing = thing
        self.proposal = proposal
        self.facts: dict[str, str] = {}
        self.runs: dict[str, list[str]] = {}
        self.begins: list[Any] = []


class _Refused(Exception):
    """It cannot be made, or not be used."""


class _Lost(Exception):
    """It cannot be revived."""

    def __init__(self, how: str, found: str) -> None:
        super().__init__(found)
        self.how = how


class Audit:
    """Answers questions about classes; keeps what it saw of the last class without arguments."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._of = ""
        self._plain: _Look | None = None
        self._plainly: dict[str, Any] = {}
        self._varies: set[str] = set()
        self._uncalled = ""
        """Why the layer is not called at all, and only looked at."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """What there is to say of one construction, as `ConstructionAudited` declares it."""
        self._uses = Uses(self._framework, question["sort"], question.get("proposals") or [])
        self._names = question.get("names") or {}
        try:
            if self._of != question["base"] or self._plain is None:
                self._begin(question["base"])
            if question["base"] == question["text"]:
                return self._plainly
            made = self._look(question["text"])
            if made.proposal != self._plain.proposal:  # type: ignore[union-attr]
                self._begin(question["base"], made.proposal)
        except (_Refused, _Lost) as error:
            return {"refused": str(error)[:_LONGEST]}
        told = self._told(question["text"], made)
        already = {(each["how"], each["path"]) for each in self._plainly["lost"]}
        told["lost"] = [each for each in told["lost"] if (each["how"], each["path"]) not in already]
        return told

    def _begin(self, text: str, proposal: dict[str, Any] | None = None) -> None:
        self._of, self._plain, self._varies, self._uncalled = text, None, set(), ""
        plain = self._look(text, proposal=proposal)
        again = self._look(text, proposal=plain.proposal, seed=_OTHER_SEEDS[0])
        self._plain = plain
        self._varies = {path for path in {**plain.facts, **again.facts} if not _same(plain, again, path)}
        self._varies.update(name for name in plain.runs if plain.runs[name] != again.runs.get(name))
        self._plainly = self._told(text, plain)

    def _told(self, text: str, made: _Look) -> dict[str, Any]:
        plain = self._plain
        assert plain is not None
        unlike = {path for path in {**plain.facts, **made.facts} if not _same(made, plain, path)}
        runs = {name for name in made.runs if made.runs[name] != plain.runs.get(name)}
        told: dict[str, Any] = {
            "lost": [],
            "proposal": made.proposal,
            "seen": {"facts": sorted(unlike - self._varies)[:_MOST], "runs": sorted(runs - self._varies)},
            "uncalled": self._uncalled[:_LONGEST],
        }
        try:
            config = made.thing.get_config()
        except NotImplementedError as error:
            return dict(told, unsaid=_said(error))
        except Exception as error:  # a get_config may be at fault
            told["lost"].append({"how": CRASHES, "path": "get_config", "found": _said(error)})
            return told
        if isinstance(config, dict):
            told["config"] = sorted(map(str, config))
        for how, revive in self._ways(config):
            if told["lost"]:
                break
            try:
                revived = self._revived(made, lambda: revive(made.thing))  # noqa: B023 - it is called at once
            except _Lost as error:
                told["lost"].append({"how": error.how, "path": how, "found": str(error)[:_LONGEST]})
                continue
            lost = list(self._compared(made, revived, how))
            if lost:
                told["lost"] = self._repeated(text, made, lost)
        return told

    def _ways(self, config: Any) -> list[tuple[str, Any]]:
        """How it is revived. What comes of a config that JSON does not change is seen by one of them."""
        through_json, plainly = ("JSON", self._from_json), ("from_config", self._from_config)
        if _is_plain(config):
            return [plainly]
        return [through_json] if self._uses.sort == "model" else [plainly, through_json]

    def _from_config(self, thing: Any) -> Any:
        return type(thing).from_config(thing.get_config())

    def _from_json(self, thing: Any) -> Any:
        saving: Any = getattr(self._framework.keras, "saving", None)
        if not hasattr(saving, "serialize_keras_object"):
            return type(thing).from_config(json.loads(json.dumps(thing.get_config())))
        written = json.loads(json.dumps(saving.serialize_keras_object(thing)))
        return saving.deserialize_keras_object(written, custom_objects={type(thing).__name__: type(thing)})

    def _look(
        self, text: str, proposal: dict[str, Any] | None = None, like: _Look | None = None, seed: int = 0
    ) -> _Look:
        """What there is to see of the object that a text makes. How it is called is tried, where nobody says so."""
        known = proposal is not None or like is not None or bool(self._uncalled)
        look = self._called(text, [proposal] if known else [], seed)
        self._set(look, like)
        self._see(look)
        return look

    def _called(self, text: str, ways: list[Any], seed: int) -> _Look:
        """The object, called once. It is made anew for each way that is tried: a call that fails may leave traces."""
        thing = self._made(text, seed)
        if not ways:
            likely = [] if self._plain is None else [self._plain.proposal]
            ways = [*likely, *(each for each in self._uses.ways(thing) if each not in likely)]
        whys: list[str] = []
        for way in ways:
            thing = self._made(text, seed) if whys else thing
            try:
                self._uses.build(thing, way, known=self._plain is not None and way == self._plain.proposal)
            except Exception as error:  # whatever Keras says to it
                whys.append(_said(error))
                continue
            return _Look(thing, way)
        why = "it cannot be called: %s" % (whys[0] if whys else "nobody knows how")
        if self._plain is not None:
            raise _Refused(why)
        self._uncalled = why
        return _Look(self._made(text, seed), None)

    def _made(self, text: str, seed: int) -> Any:
        try:
            with self._scope(seed), script(text) as module:
                module.__dict__.update(self._names)
                exec(compile(text, "<class>", "exec"), module.__dict__)  # noqa: S102 - the text is the question
                return module.made
        except Exception as error:  # whatever Keras says to it
            raise _Refused(_said(error)) from error

    def _revived(self, made: _Look, revive: Any) -> _Look:
        try:
            with self._scope():
                look = _Look(revive(), made.proposal)
            if type(look.thing) is not type(made.thing):
                raise _Lost(CRASHES, "it is a %s" % type(look.thing).__name__)
            self._uses.build(look.thing, made.proposal, known=True)
        except _Lost:
            raise
        except Exception as error:  # whatever Keras says to it
            raise _Lost(CRASHES, _said(error)) from error
        self._set(look, made)
        self._see(look)
        return look

    @contextlib.contextmanager
    def _scope(self, seed: int = 0) -> Iterator[None]:
        """A scope in which names are counted from the beginning, and numbers drawn."""
        self._framework.forget_names()
        self._framework.reseed(seed)
        yield

    def _variables(self, thing: Any) -> list[Any]:
        if not self._framework.is_layer(thing):
            return []
        states = [state for state, _ in self._framework.states(thing)]
        found = {id(each): each for each in [*self._framework.weights(thing)[0], *states]}
        return list(found.values())

    def _set(self, look: _Look, like: _Look | None) -> None:
        """Give a layer weights whose numbers differ, or those that another began with."""
        framework = self._framework
        variables = self._variables(look.thing)
        if like is not None:
            shapes = [tuple(each.shape) for each in variables], [each.shape for each in like.begins]
            if shapes[0] != shapes[1]:
                raise _Lost(WEIGHTS, "weights of the shapes %s, expected %s" % shapes)
            for variable, array in zip(variables, like.begins):
                framework.write(variable, array)
        elif variables:
            weights = framework.weights(look.thing)[0]
            told = [(framework.name(each), tuple(each.shape), framework.dtype(each)) for each in weights]
            for weight, array in zip(weights, weight_arrays(told, _SEED)):
                if array is not None:
                    framework.write(weight, array)
        look.begins = [framework.read(each) for each in variables]
        if variables:
            framework.weights_written(look.thing)

    def _see(self, look: _Look) -> None:
        look.runs = self._uses.all(look.thing, look.proposal)
        look.facts = dict(self._facts(look.thing))

    def _facts(self, thing: Any) -> Iterator[tuple[str, str]]:
        """All that it holds, by the expression that reads it of `made`."""
        framework = self._framework
        observer = Observer(framework, 0)
        observer.private = not framework.is_layer(thing)
        layers = Layers(thing, observer)
        with unheard():
            holdings = Holdings(layers, self._variables(thing), observer)
        paths = [""]
        for place in layers.places:
            holder = thing if place.inside < 0 else layers.places[place.inside].layer
            paths.append(paths[1 + place.inside] + _where(holder, place.layer))
        owners = [thing, *(place.layer for place in layers.places)]
        for path, owner, facts in zip(paths, owners, holdings.facts):
            for name in ("name", "trainable"):
                if hasattr(owner, name):
                    yield "%s.%s" % (path, name), repr(getattr(owner, name))
            for where, fact in facts.items():
                yield path + where, fact
        for (number, where), held in holdings.objects.items():
            if where and callable(getattr(held, "get_config", None)):
                yield from _config_facts(paths[1 + number] + where, held)
        if framework.is_layer(thing):
            weights, trains = framework.weights(thing)
            for number, weight in enumerate(weights):
                yield ".weights[%d].name" % number, repr(str(weight.name))
                yield ".weights[%d].dtype" % number, framework.dtype(weight)
                yield ".weights[%d].trainable" % number, repr(id(weight) in trains)
        yield from _config_facts("", thing)

    def _compared(self, made: _Look, revived: _Look, how: str) -> Iterator[dict[str, str]]:
        """What the revived object has lost: what it gives, or holds as if the argument had never been given."""
        plain = self._plain
        assert plain is not None
        other = [name for name, gives in made.runs.items() if revived.runs.get(name) != gives]
        for name in other:
            yield {"how": COMPUTES, "path": name, "found": how}
        # Where the argument changes what is computed, and the revived object computes the same, it is not lost.
        works = any(gives != plain.runs.get(name) and name not in self._varies for name, gives in made.runs.items())
        if made is plain or (works and not other):
            return
        for path, fact in made.facts.items():
            found, default = revived.facts.get(path), plain.facts.get(path)
            back = found is not None and (path in self._varies or same_fact(found, default))
            if back and not same_fact(fact, found) and not same_fact(fact, default):
                yield {"how": HOLDS, "path": path, "made": _shown(fact), "found": _shown(found)}

    def _repeated(self, text: str, made: _Look, lost: list[dict[str, str]]) -> list[dict[str, str]]:
        """Of what is lost, that in which other builds of the same text are as the first was.

        The states of a layer are copied, so that one other build is enough. What else draws numbers has states of its
        own, and may draw the same by chance: where any use varies, no use says anything.
        """
        seeds = _OTHER_SEEDS[:1] if self._framework.is_layer(made.thing) else _OTHER_SEEDS
        try:
            others = [self._look(text, proposal=made.proposal, like=made, seed=seed) for seed in seeds]
        except (_Refused, _Lost):  # it cannot be made twice
            return []

        def is_same(path: str) -> bool:
            used = (path,) if len(seeds) == 1 else tuple(made.runs)
            same = (each.runs.get(name) == made.runs.get(name) for each in others for name in used)
            return all(_same(made, each, path) for each in others) and (path not in made.runs or all(same))

        return [each for each in lost if is_same(each["path"])]


_audits: list[Audit] = []


def audited(question: dict[str, Any], framework: Framework) -> dict[str, Any]:
    """The answer to one question, of a process that has a Keras of its own."""
    if not _audits:
        _audits.append(Audit(framework))
    tidy(framework, QUESTION)
    return _audits[0].answer(question)


def _config_facts(path: str, thing: Any) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(Exception):  # one that has no config has no fact of it
        for name, value in thing.get_config().items():
            yield "%s.get_config()[%r]" % (path, name), entry(value)


def _same(one: _Look, other: _Look, path: str) -> bool:
    return same_fact(one.facts.get(path), other.facts.get(path))


def _where(holder: Any, layer: Any) -> str:
    """The expression that reads a layer of its holder."""
    for name in ("layers", "_layers", "_operations"):
        its = getattr(holder, name, None)
        if isinstance(its, (list, tuple)):
            for number, each in enumerate(its):
                if each is layer:
                    return ".%s[%d]" % (name, number)
    for name, value in vars(holder).items():
        if value is layer:
            return ".%s" % name
    return ".?"


def _is_plain(config: Any) -> bool:
    """Whether a config is the very same after it went through JSON."""
    try:
        return bool(repr(json.loads(json.dumps(config))) == repr(config))
    except (TypeError, ValueError):
        return False


def _shown(fact: Any) -> str:
    said: str = str(fact).split(NAMED)[0]
    return said[len(SHARED) :] if said.startswith(SHARED) else said


def _said(error: Exception) -> str:
    """An exception in a line; of one around another, what that said."""
    text = str(error).rpartition("Exception encountered: ")[2]
    return ("%s: %s" % (type(error).__name__, " ".join(text.split())))[:_LONGEST]
