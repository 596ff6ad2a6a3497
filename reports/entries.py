"""Files of numbered entries: TOML with `format = 1` and a list of tables, how they are read, and what is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from clonediff.reports.records import RecordError


class Entry(Protocol):
    """An entry is a record of fields."""

    __struct_fields__: ClassVar[tuple[str, ...]]


E = TypeVar("E", bound=Entry)


def read_entries(
    path: Path,
    word: str,
    entry: type[E],
    problem: Callable[[E], str | None],
    *,
    inner: Mapping[str, type[msgspec.Struct]],
    told_by: Sequence[str] = ("id",),
    filled: Sequence[str] = ("id", "title", "because"),
    beside: str = "",
) -> tuple[tuple[E, ...], dict[str, str]]:
    """The tables [[word]] of a file, each as an `entry`, in their order; and the texts that stand `beside` them.

    A `RecordError` names the file, the entry and the field. `problem` says what else may be wrong with an entry;
    `inner` has the types of the tables in its fields. No two entries have the same in all fields that they are
    `told_by`, the first of which is named in errors; the texts that have to be `filled` are not blank. `beside` is the
    name of a table of texts, if there may be one.
    """
    tables, texts = _tables(path, word, beside)
    found: dict[tuple[Any, ...], E] = {}
    for number, table in enumerate(tables, 1):
        name = table.get(told_by[0]) if isinstance(table, dict) else None
        where = f"{path}: {word} {number}" + (f" ({name})" if isinstance(name, str) else "")
        try:
            one = msgspec.convert(table, entry)
        except msgspec.ValidationError as error:
            raise RecordError(f"{where}: {_with_fields(str(error), entry, inner)}") from error
        key = tuple(getattr(one, field) for field in told_by)
        if key in found:
            raise RecordError(f"{where}: {_twice(word, told_by, key)}")
        said = _empty(one, filled) or problem(one)
        if said:
            raise RecordError(f"{where}: {said}")
        found[key] = one
    return tuple(found.values()), texts


def _tables(path: Path, word: str, beside: str) -> tuple[list[Any], dict[str, str]]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error
    except ValueError as error:  # a TOMLDecodeError is one, and so is what a number of too many digits raises
        raise RecordError(f"{path}: not TOML: {error}") from error
    except RecursionError:
        raise RecordError(f"{path}: nested too deep to be a list of [[{word}]]") from None
    fields = ("format", beside) if beside else ("format",)
    unknown = sorted(set(tables) - {*fields, word})
    if unknown:
        had = ", ".join(f"`{each}`" for each in fields)
        raise RecordError(f"{path}: `{unknown[0]}` is not a field of this file: it has {had} and [[{word}]]")
    if type(tables.get("format")) is not int or tables["format"] != 1:
        raise RecordError(f"{path}: `format` must be 1, got {tables.get('format')!r}")
    entries = tables.get(word, [])
    if not isinstance(entries, list):
        raise RecordError(f"{path}: `{word}` must be a list of tables: write [[{word}]], not [{word}]")
    try:
        return entries, msgspec.convert(tables.get(beside, {}), dict[str, str])
    except msgspec.ValidationError as error:
        raise RecordError(f"{path}: `{beside}`: {error}") from error


def _with_fields(message: str, entry: type[Entry], inner: Mapping[str, type[msgspec.Struct]]) -> str:
    if "unknown field" not in message:
        return message
    fields = next((table.__struct_fields__ for name, table in inner.items() if f"$.{name}" in message), None)
    return f"{message}; it may have {', '.join(fields or entry.__struct_fields__)}"


def _twice(word: str, fields: Sequence[str], key: Sequence[Any]) -> str:
    if len(fields) == 1:
        return f"`{fields[0]}` {key[0]!r} stands twice: give each {word} its own"
    same = ", ".join(f"{field} = {value!r}" for field, value in zip(fields, key, strict=True))
    return f"there is one before it with {same}: leave one of the two out"


def _empty(one: Entry, filled: Sequence[str]) -> str | None:
    return next((f"`{field}` is empty" for field in filled if not getattr(one, field).strip()), None)
