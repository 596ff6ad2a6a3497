"""A project's baseline: what it accepts, what it no longer does, how a file of anybody's is read, and written."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.baseline import (
    Baseline,
    held_against,
    read_baseline,
    untried,
    updated,
    with_what_is_gone,
)
from clonediff.harness.answers.checked_model.compared import WORDS, compared
from clonediff.harness.answers.checked_model.models import Model
from clonediff.harness.answers.checked_model.record import (
    Accepted,
    BaselineSeen,
    CheckedModel,
    Cloned,
    NotCompared,
    Status,
)
from clonediff.harness.answers.checked_model.user_arguments import user_arguments
from clonediff.harness.answers.checked_model.verdicts import fails
from clonediff.harness.subjects import Case
from clonediff.harness.subjects.observation import Failure, ModelRun, Observation, Shape, Trained
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.records import SEVERITIES, Difference, RecordError, Severity

TODAY = datetime.date(2026, 11, 26)
DAY = datetime.timedelta(days=1)
HERE = Path("/project")
MODEL = Model("models/a.keras", "file", str(HERE / "models" / "a.keras"))
NAME = "models/a.keras"
KNOWN = "lambda-refused"
COMPARED = tuple(word for check, word in WORDS.items() if check != "functions")
NO = Failure("ValueError", "not this one")


def broken(id_: str, known: str | None = None, severity: Severity = Severity.TRAINS, **told: Any) -> CauseShown:
    root = Difference(id_.partition("-")[0], "path", "aspect", "a", "b", severity)
    return CauseShown(id_, "title", SEVERITIES[severity], "", root, headline=f"{id_} it is", known=known, **told)


def checked(*breaks: CauseShown, cloner: str = "upstream", status: Status = Status.CHECKED) -> CheckedModel:
    clones = (Cloned(cloner, "diverged", breaks=breaks),) if status is Status.CHECKED else ()
    return CheckedModel(MODEL.spec, "keras", status, clones=clones, compared=COMPARED)


def baseline(*entries: Accepted, path: Path = HERE / "baseline.toml") -> Baseline:
    return Baseline(path, entries, TODAY)


def held(it: CheckedModel, base: Baseline, **rules: bool) -> CheckedModel:
    return held_against(it, MODEL, base, **{"strict": False, "allow_known": False, **rules})


def seen(it: CheckedModel) -> BaselineSeen:
    assert it.baseline is not None
    return it.baseline


def fails_with(it: CheckedModel, *entries: Accepted, **rules: bool) -> bool:
    return fails(held(it, baseline(*entries), **rules), strict=False, allow_known=False)


@pytest.mark.parametrize(
    ("entry", "accepts"),
    [
        pytest.param(Accepted(NAME, "made-raises-1", "why"), True, id="fingerprint"),
        pytest.param(Accepted(NAME, KNOWN, "why"), True, id="known issue"),
        pytest.param(Accepted(f"./{NAME}", KNOWN, "why"), True, id="as typed"),
        pytest.param(Accepted("models/b.keras", KNOWN, "why"), False, id="another model"),
        pytest.param(Accepted(NAME, "made-raises-2", "why"), False, id="another cause"),
        pytest.param(Accepted(NAME, KNOWN, "why", "fixed"), False, id="another cloner"),
        pytest.param(Accepted(NAME, KNOWN, "why", expires=TODAY), True, id="last day"),
        pytest.param(Accepted(NAME, KNOWN, "why", expires=TODAY - DAY), False, id="expired"),
        pytest.param(Accepted(NAME, "*", "why"), False, id="no pattern"),
    ],
)
def test_a_break_that_an_entry_accepts_does_not_fail(entry: Accepted, accepts: bool) -> None:
    it = checked(broken("made-raises-1", KNOWN))
    assert fails_with(it)
    assert fails_with(it, entry) is not accepts


def test_what_fails_is_what_is_not_in_it() -> None:
    it = held(
        checked(broken("weights-value-1"), broken("made-raises-1", KNOWN)), baseline(Accepted(NAME, KNOWN, "why"))
    )
    assert [each.cause for each in seen(it).new] == ["weights-value-1"]
    assert [each.cause for each in seen(it).accepted] == [KNOWN]


def test_what_would_not_fail_is_not_new() -> None:
    name, documented = broken("structure-name-1", severity=Severity.NAME), broken("made-x-1", documented=True)
    known = broken("made-raises-1", KNOWN)
    assert not seen(held(checked(name, documented), baseline())).new
    assert [each.cause for each in seen(held(checked(name), baseline(), strict=True)).new] == ["structure-name-1"]
    assert not seen(held(checked(known), baseline(), allow_known=True)).new


def test_an_entry_that_has_expired_is_told_unless_another_counts() -> None:
    late = Accepted(NAME, KNOWN, "why", expires=TODAY - DAY)
    it = held(checked(broken("made-raises-1", KNOWN)), baseline(late))
    assert [each.expired for each in seen(it).new] == [late]
    assert not fails_with(checked(broken("made-raises-1", KNOWN)), late, Accepted(NAME, "made-raises-1", "why"))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Model("../x/a.keras", "file", "/x/a.keras"), "../x/a.keras"),
        (Model("t.py:make", "function", "/project/lib/t.py", "make"), "lib/t.py:make"),
        (Model("applications:VGG16", "application", name="VGG16"), "applications:VGG16"),
    ],
)
def test_a_model_is_named_from_the_folder_of_the_file(model: Model, name: str) -> None:
    assert baseline().name_of(model) == name


GONE = Accepted(NAME, "weights-value-1", "why")


@pytest.mark.parametrize(
    ("done", "entry", "gone"),
    [
        pytest.param([checked()], GONE, True, id="faithful"),
        pytest.param([checked(broken("structure-x-1"))], GONE, True, id="another break"),
        pytest.param([checked(broken("weights-value-1"))], GONE, False, id="it breaks"),
        pytest.param([checked(broken("made-raises-1", hides=True))], GONE, False, id="behind a crash"),
        pytest.param([checked(status=Status.NOT_LOADED)], GONE, False, id="not loaded"),
        pytest.param([checked(cloner="fixed")], GONE, False, id="cloner not tried"),
        pytest.param([checked(), checked(broken("weights-value-1"))], GONE, False, id="on another subject"),
        pytest.param([], GONE, False, id="not tried"),
        pytest.param([checked()], Accepted(NAME, "nonsense", "why"), True, id="no such cause"),
    ],
)
def test_an_entry_is_gone_where_its_break_could_have_shown(
    done: list[CheckedModel], entry: Accepted, gone: bool
) -> None:
    base = baseline(entry)
    found = with_what_is_gone([held(each, base) for each in done], base, load())
    assert [one for each in found for one in seen(each).gone] == ([entry] if gone else [])


OBSERVED = Observation(
    Shape("Functional", "model", True, None, None, (), (), (), (), ()),
    ModelRun(),
    ModelRun(),
    trained=Trained(),
)
CASE = Case("", ())
USERS = Case("", (), arguments={"input_tensors": "keras.Input((4,))"}, user_arguments=True)


def gone(base: Baseline, original: Observation, case: Case, costly: bool, known: KnownIssues) -> bool:
    """Whether the entry of a baseline is gone where a faithful clone was compared with an original in a case."""
    it = checked()
    looked_at, left_out = compared(original, it.clones, case, costly)
    it = structs.replace(it, compared=looked_at, not_compared=left_out)
    (found,) = with_what_is_gone([held(it, base)], base, known)
    return bool(seen(found).gone)


@pytest.mark.parametrize("cause", ["again-value-1", "training-weights-1", "training-step"])
def test_what_a_costly_check_shows_is_not_gone_without_it(cause: str, tmp_path: Path) -> None:
    base = baseline(Accepted(NAME, cause, "why"))
    known = KnownIssues()
    if cause == "training-step":
        file = tmp_path / "known.toml"
        file.write_text(
            'format = 1\n[[issue]]\nid = "training-step"\ngeneration = "keras"\ntitle = "t"\nbecause = "b"\n'
            '[[issue.match]]\ncheck = "train*"\n'
        )
        known = load(file)
    assert not gone(base, OBSERVED, CASE, False, known)
    assert gone(base, OBSERVED, CASE, True, known)


@pytest.mark.parametrize(
    ("cause", "changes", "case"),
    [
        pytest.param("training-weights-1", {"trained": Trained(failure=NO)}, CASE, id="not-trained"),
        pytest.param("again-value-1", {}, Case("", (), arguments={"recursive": "True"}), id="one-clone"),
        pytest.param("weights-value-1", {}, USERS, id="arguments"),
        pytest.param("model-trainable", {}, USERS, id="known-issue"),
        pytest.param("functions-asked-1", {}, CASE, id="no-functions"),
    ],
)
def test_what_was_not_compared_is_not_gone(cause: str, changes: dict[str, Any], case: Case) -> None:
    base = baseline(Accepted(NAME, cause, "why"))
    assert not gone(base, structs.replace(OBSERVED, **changes), case, True, load())
    whole = USERS if cause.startswith("functions") else CASE
    assert gone(base, OBSERVED, whole, True, load())


def test_where_one_cloner_gave_no_clone_nothing_of_it_is_gone() -> None:
    raised = structs.replace(checked(), not_compared=(NotCompared("anything else", "there is no clone", "upstream"),))
    of_fixed = structs.replace(GONE, cloner="fixed")
    both = structs.replace(raised, clones=(*raised.clones, Cloned("fixed", "faithful")))
    base = baseline(GONE, of_fixed)
    (found,) = with_what_is_gone([held(both, base)], base, load())
    assert seen(found).gone == (of_fixed,)


def test_entries_of_what_was_not_tried_are_told() -> None:
    of_another, of_fixed = Accepted("b.keras", KNOWN, "why"), Accepted(NAME, KNOWN, "why", "fixed")
    base = baseline(of_another, of_fixed, GONE)
    assert untried([held(checked(), base)], base) == [of_another, of_fixed]


def test_an_entry_is_of_a_clone_with_the_arguments_that_it_names() -> None:
    given = user_arguments(["recursive", "new-inputs"])
    plain, told = GONE, structs.replace(GONE, way="new-inputs recursive")
    base = baseline(plain, told)
    for breaks in ((), (broken("weights-value-1"),)):
        for arguments, its, other in ((None, plain, told), (given, told, plain)):
            it = held_against(checked(*breaks), MODEL, base, arguments, strict=False, allow_known=False)
            (found,) = with_what_is_gone([it], base, load())
            assert (seen(found).accepted, seen(found).gone) == (((its,), ()) if breaks else ((), (its,)))
            assert untried([found], base) == [other]
    it = held_against(
        checked(broken("weights-value-1")), MODEL, baseline(plain), given, strict=False, allow_known=False
    )
    assert [each.cause for each in seen(it).new] == ["weights-value-1"]


@pytest.mark.parametrize(
    ("words", "way"),
    [
        pytest.param((), "", id="none"),
        pytest.param(("recursive", "new-inputs"), "new-inputs recursive", id="named"),
        pytest.param(("recursive= not True", "remade"), "recursive=not True remade", id="typed"),
        pytest.param(("{folder}/lib/ways.py:give",), "lib/ways.py:give", id="a function"),
    ],
)
def test_arguments_are_named_in_one_way(words: tuple[str, ...], way: str, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "ways.py").touch()
    given = user_arguments([each.format(folder=tmp_path) for each in words])
    assert baseline(path=tmp_path / "baseline.toml").way_of(given) == way


def test_an_update_leaves_entries_of_other_arguments(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    plain = Accepted(Baseline(file, (), TODAY).name_of(MODEL), KNOWN, "why")
    base = Baseline(file, (plain,), TODAY)
    given = user_arguments(["new-inputs"])
    it = held_against(checked(broken("made-raises-1", KNOWN)), MODEL, base, given, strict=False, allow_known=False)
    updated(with_what_is_gone([it], base, load()), base, "so are inputs")
    written = structs.replace(plain, way="new-inputs", reason="so are inputs")
    assert set(read_baseline(file, TODAY).entries) == {plain, written}


def update(base: Baseline, *breaks: CauseShown, reason: str = "") -> CheckedModel:
    done = with_what_is_gone([held(checked(*breaks), base)], base, load())
    return updated(done, base, reason)[0]


def test_an_update_adds_what_is_new_and_takes_out_what_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    base = Baseline(file, (), TODAY)
    assert base.name_of(MODEL) == "../" * (len(tmp_path.parts) - 1) + "project/models/a.keras"
    done = update(base, broken("made-raises-1", KNOWN), broken("weights-value-1"))
    assert not fails(done, strict=False, allow_known=False)
    first = read_baseline(file, TODAY, to_update=True)
    assert [(each.cause, each.reason) for each in first.entries] == [
        (KNOWN, "as on 2026-11-26: made-raises-1 it is"),
        ("weights-value-1", "as on 2026-11-26: weights-value-1 it is"),
    ]
    done = update(first, broken("made-raises-1", KNOWN), broken("own-x-1"), reason="we live with it")
    second = read_baseline(file, TODAY).entries
    assert [each.cause for each in seen(done).added] == ["own-x-1"]
    assert [each.cause for each in seen(done).removed] == ["weights-value-1"]
    assert [(each.cause, each.reason) for each in second] == [
        (KNOWN, "as on 2026-11-26: made-raises-1 it is"),
        ("own-x-1", "we live with it"),
    ]


def test_an_update_leaves_what_expired_and_what_was_not_tried(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    name = Baseline(file, (), TODAY).name_of(MODEL)
    late = Accepted(name, KNOWN, "until the summer", expires=TODAY - DAY)
    other = Accepted("b.keras", KNOWN, "another's")
    base = Baseline(file, (late, other), TODAY)
    done = update(base, broken("made-raises-1", KNOWN), broken("own-x-1"))
    assert fails(done, strict=False, allow_known=False)
    assert set(read_baseline(file, TODAY).entries) >= {late, other}


def test_one_issue_behind_two_breaks_is_one_entry(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    done = update(Baseline(file, (), TODAY), broken("made-raises-1", KNOWN), broken("made-raises-2", KNOWN))
    assert len(seen(done).added) == len(read_baseline(file, TODAY).entries) == 1


def test_where_nothing_changes_the_file_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    name = Baseline(file, (), TODAY).name_of(MODEL)
    text = f'# ours\nformat = 1\n[[accepted]]\nmodel = "{name}"\ncause = "{KNOWN}"\nreason = "why"\n'
    file.write_text(text)
    done = update(read_baseline(file, TODAY, to_update=True), broken("made-raises-1", KNOWN))
    assert not seen(done).added
    assert file.read_text() == text


@pytest.mark.parametrize("before", ["format = 1\n", None], ids=["changed", "new"])
def test_what_another_wrote_meanwhile_is_not_written_over(before: str | None, tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    if before is not None:
        file.write_text(before)
    base = read_baseline(file, TODAY, to_update=True)
    theirs = f"format = 1\n{ENTRY}"
    file.write_text(theirs)
    with pytest.raises(RecordError, match="was changed meanwhile, and is left as it is now: run again"):
        update(base, broken("own-x-1"))
    assert file.read_text() == theirs


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = Thread(target=pipe.write_text, args=(f"format = 1\n{ENTRY}",), daemon=True)
    writing.start()
    assert len(read_baseline(pipe, TODAY).entries) == 1
    writing.join()


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("format = 1\n")
    (tmp_path / "baseline.toml").symlink_to("real.toml")
    update(read_baseline(tmp_path / "baseline.toml", TODAY, to_update=True), broken("own-x-1"))
    assert (tmp_path / "baseline.toml").is_symlink()
    assert "own-x-1" in (tmp_path / "real.toml").read_text()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.builds(Accepted, TEXTS, TEXTS, TEXTS, TEXTS, st.just("") | TEXTS, st.none() | st.dates()))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, entry: Accepted) -> None:
    file = tmp_path_factory.mktemp("written") / "baseline.toml"
    updated([held(checked(broken("own-x-1")), Baseline(file, (entry,), TODAY))], Baseline(file, (entry,), TODAY))
    assert entry in read_baseline(file, TODAY).entries


ENTRY = f'[[accepted]]\nmodel = "{NAME}"\ncause = "x"\nreason = "y"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "`format` must be 1, got None", id="empty"),
        pytest.param("format = 2\n", "`format` must be 1, got 2", id="format"),
        pytest.param(f"format = 1\n{ENTRY}"[:-3], "not TOML: ", id="cut in a text"),
        pytest.param(f"format = 1\n{ENTRY}"[:-13], "accepted 1 (models/a.keras): ", id="cut in an entry"),
        pytest.param(f"format = 1\n{ENTRY}\n[[accepted]]\nmodel = 3\n", "accepted 2: Expected `str`", id="type"),
        pytest.param(f"format = 1\n{ENTRY}expires = soon\n", "(at line 6, column 11)", id="no TOML"),
        pytest.param(f'format = 1\n{ENTRY}expires = "soon"\n', "- at `$.expires`", id="no date"),
        pytest.param(f"format = 1\n{ENTRY}expires = 2027-13-01\n", "not TOML", id="no such month"),
        pytest.param(f"format = 1\n{ENTRY}expires = {'1' * 5000}\n", "not TOML: ", id="digits"),
        pytest.param(
            f'format = 1\n{ENTRY}until = "x"\n', "it may have model, cause, reason, cloner, way, expires", id="field"
        ),
        pytest.param(f"format = 1\n{ENTRY.replace('y', ' ')}", "`reason` is empty", id="no reason"),
        pytest.param(f"format = 1\n{ENTRY}{ENTRY}", "leave one of the two out", id="twice"),
        pytest.param("format = 1\n[accepted]\n", "write [[accepted]], not [accepted]", id="a table"),
        pytest.param("format = 1\n[[issue]]\n", "`issue` is not a field of this file", id="another file"),
        pytest.param("format = 1\nx = " + "[" * 100_000, "nested too deep", id="deep"),
        pytest.param(b"format = 1\n# \xff\n", "not UTF-8", id="bytes"),
    ],
)
def test_a_file_that_is_wrong_names_the_entry_and_what_to_do(text: str | bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    for to_update in (False, True):
        with pytest.raises(RecordError) as raised:
            read_baseline(file, TODAY, to_update=to_update)
        assert said in str(raised.value)
        assert str(raised.value).startswith(str(file))
        assert str(raised.value).endswith("Mend it, or take the file as it was from your version control")


def test_a_file_that_is_missing_or_none(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no such file: to accept what breaks now, add --update-baseline"):
        read_baseline(tmp_path / "none.toml", TODAY)
    assert read_baseline(tmp_path / "none.toml", TODAY, to_update=True).entries == ()
    with pytest.raises(RecordError, match="cannot be read"):
        read_baseline(tmp_path, TODAY, to_update=True)
