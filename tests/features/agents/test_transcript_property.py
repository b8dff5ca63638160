"""What holds of every transcript, however it was cut, mixed or broken."""

import json
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, strategies as st
from msgspec import Struct

from fixtures.transcripts import make
from inspector.core.number import LAST
from inspector.features.agents.transcript import Called, Entry
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import line_reader
from tests.support.transcripts import CODE_MODE, FILES, GROWING, fed, of, records, total

_TURNS = 4
MADE: dict[Format, bytes] = {
    Format.CLAUDE_CODE: "".join(make.claude_code(_TURNS, seed=3)).encode(),
    Format.CODEX: "".join(make.codex(_TURNS, seed=3)).encode(),
}
MADE |= {kind: FILES[kind].read_bytes() for kind in GROWING if kind not in (*MADE, Format.OTEL)}
every_kind = pytest.mark.parametrize("kind", list(MADE))
every_format = pytest.mark.parametrize("kind", list(Format))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([9e15, -1.0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
garbage = st.one_of(
    st.binary(max_size=30).map(lambda data: b"#" + data.replace(b"\n", b"")),
    st.sampled_from(
        [b"", b"   ", b"null", b"[]", b'{"type":', b'{"type":"novelty","payload":{"a":1}}', b"7"]
    ),
)


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a file, with their ends."""
    return data.splitlines(keepends=True)


def entries_of(kind: Format, data: bytes) -> list[Entry]:
    """The entries of a file's content."""
    return fed(line_reader(kind), lines_of(data))


@every_kind
@given(data=st.data())
def test_a_file_cut_anywhere_tells_the_beginning_of_the_whole(kind: Format, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(MADE[kind])))
    full, part = entries_of(kind, MADE[kind]), entries_of(kind, MADE[kind][:cut])
    assert len(part) <= len(full)
    different = [type(one) for one, other in zip(part, full, strict=False) if one != other]
    # The answer that was being written may lack its end; results of its calls are behind it.
    assert len(different) <= 1
    assert [type(one) for one in part] == [type(one) for one in full[: len(part)]]


@every_kind
@given(data=st.data())
def test_garbage_between_the_lines_changes_only_the_tally(kind: Format, data: st.DataObject) -> None:
    lines = lines_of(MADE[kind])
    inserted = data.draw(st.lists(st.tuples(st.integers(0, len(lines)), garbage), max_size=8))
    for place, one in sorted(inserted, key=lambda pair: pair[0], reverse=True):
        lines.insert(place, one + b"\n")
    assert fed(line_reader(kind), lines) == entries_of(kind, MADE[kind])


@every_kind
@given(data=st.data())
def test_lines_that_are_written_twice_are_paid_once(kind: Format, data: st.DataObject) -> None:
    lines = lines_of(MADE[kind])
    twice = data.draw(st.sets(st.integers(0, len(lines) - 1)))
    doubled = [one for number, line_ in enumerate(lines) for one in [line_] * (1 + (number in twice))]
    once, again = entries_of(kind, MADE[kind]), fed(line_reader(kind), doubled)
    assert total(again) == total(once)
    assert len(of(Called, again)) == len(of(Called, once))


@every_format
@given(data=st.data())
def test_fields_of_any_type_never_raise_and_never_reach_an_entry(kind: Format, data: st.DataObject) -> None:
    sound = records(FILES[kind]) + (records(CODE_MODE) if kind is Format.CODEX else [])
    chosen = data.draw(st.sets(st.integers(0, len(sound) - 1), min_size=1, max_size=4))
    broken = [_broken(one, data) if number in chosen else one for number, one in enumerate(sound)]
    entries = fed(line_reader(kind), [json.dumps(record).encode() for record in broken])
    for entry in entries:
        _is_well_formed(entry)


def _broken(value: Any, data: st.DataObject) -> Any:
    """A record with some value in it replaced by any other."""
    if isinstance(value, dict) and value:
        chosen = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.integers(0, 3)):
            return {**value, chosen: _broken(value[chosen], data)}
    elif isinstance(value, list) and value:
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], _broken(value[place], data), *value[place + 1 :]]
    return data.draw(json_values)


def _is_well_formed(value: Any) -> None:
    """Whether each field has the type that it is declared with."""
    hints = get_type_hints(type(value))
    for name in value.__struct_fields__:
        found = getattr(value, name)
        hint = hints[name]
        if name == "at":
            assert found is None or 0 <= found <= LAST, found
        elif hint is str or hint is bool:
            assert type(found) is hint, (name, found)
        elif set(get_args(hint)) <= {int, float, type(None)} and get_args(hint):
            assert type(found) in get_args(hint), (name, found)
        elif isinstance(found, Sequence):
            for inner in found:
                if isinstance(inner, Struct):
                    _is_well_formed(inner)
                else:
                    assert isinstance(inner, str), (name, found)
        elif isinstance(found, Struct):
            _is_well_formed(found)
        else:
            assert found is None or isinstance(found, dict), (name, found)


@every_format
@given(time=st.sampled_from([9e15, 4e14, -1, 2**62, "9999-12-31T23:59:59-12:00"]))
def test_no_entry_has_a_time_that_no_calendar_has(kind: Format, time: Any) -> None:
    times = ("timestamp", "creationDate", "created_at", "startTimeUnixNano", "started_at", "ended_at")

    def odd(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: time if key in times else odd(inner) for key, inner in value.items()}
        return [odd(inner) for inner in value] if isinstance(value, list) else value

    for entry in fed(line_reader(kind), [json.dumps(odd(one)).encode() for one in records(FILES[kind])]):
        _is_well_formed(entry)
