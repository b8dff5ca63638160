"""A session as a file to give to somebody: it comes back equal, and what others made of it is refused."""

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given

from inspector.core.error import ConfigError
from inspector.core.events import Event, Record, UserSaid
from inspector.core.redaction import SECRETS, clean
from inspector.store import shared_session
from inspector.store.shared_session import opened_session, packed
from inspector.store.store import SqliteStore
from tests.core.test_event import records
from tests.core.test_fold_property import streams
from tests.session.test_timeline import STORY
from tests.support.examples import examples

SECRET = "hunter2-hunter2-hunter2"
HEAD = json.dumps({"toolsight": "session", "format": 1, "version": "0.1.0", "session": "s"})
EVENT = '{"seq":1,"at":1.0,"kind":"user","event":{"text":"hello"}}'


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for what is unpacked, in which nothing may stay."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def opened(path: Path) -> list[Record]:
    with opened_session(path) as (database, session), SqliteStore(database) as store:
        assert [one.id for one in store.sessions()] == [session]
        return store.read(session)


def file_of(folder: Path, *lines: str) -> Path:
    path = folder / "run.toolsight"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


@examples(share=0.5)
@given(streams)
def test_any_session_comes_back_as_it_was_but_for_its_secrets(stream: list[Event]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.toolsight"
        told = records(stream)
        path.write_bytes(packed("s", told))
        if told:
            assert opened(path) == [clean(one) for one in told]


def test_a_secret_is_in_no_file(tmp_path: Path) -> None:
    SECRETS.learn({"TOKEN": SECRET})
    path = tmp_path / "run.toolsight"
    path.write_bytes(packed("s", records([UserSaid(f"use {SECRET}")])))
    (said,) = opened(path)
    assert said.event == UserSaid("use [redacted]")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((), "line 1 is no JSON"),
        (("[]",), "line 1 is no object"),
        (('{"toolsight":"catalog","format":1,"session":"s"}',), "does not say that it is one"),
        (('{"toolsight":"session","format":true,"session":"s"}',), "does not say that it is one"),
        (('{"toolsight":"session","format":1,"session":""}',), "has no id"),
        ((HEAD, "not json"), "line 2 is no JSON"),
        ((HEAD, "[" * 100_000), "line 2 is no JSON"),
        ((HEAD, EVENT.replace('"seq":1', '"seq":0')), "line 2 has no number"),
        ((HEAD, EVENT, EVENT), "line 3 has no number"),
        ((HEAD, EVENT.replace("1.0", "NaN")), "line 2 has no number"),
        ((HEAD, EVENT.replace("1.0", "1e300")), "line 2 has no number"),
        ((HEAD, EVENT.replace('"hello"', "7")), "line 2: a “user” event does not fit"),
        ((HEAD, EVENT.replace('"user"', '"exec"')), "line 2: the event kind “exec” is unknown"),
        ((HEAD, EVENT.replace('{"text":"hello"}', "[" * 100_000)), "line 2: a “user” event does not fit"),
    ],
)
def test_what_is_no_session_is_refused_with_its_place(
    tmp_path: Path, lines: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ConfigError, match="is no session of Toolsight") as refused:
        opened(file_of(tmp_path, *lines))
    assert told in refused.value.message


def test_a_newer_format_is_named_beside_ones_own(tmp_path: Path) -> None:
    head = HEAD.replace('"format": 1', '"format": 2').replace("0.1.0", "9.0\\u001b")
    with pytest.raises(ConfigError, match="has format 2, and Toolsight ") as refused:
        opened(file_of(tmp_path, head, EVENT))
    assert "Update Toolsight" in refused.value.hint


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "its end is missing"),
        (b"SQLite format 3", "it is not compressed, or damaged"),
        (packed("s", records(STORY))[:-20], "its end is missing"),
        (packed("s", records(STORY))[:-8] + bytes(8), "it is not compressed, or damaged"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "run.toolsight"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="is no session of Toolsight") as refused:
        opened(path)
    assert told in refused.value.message


@pytest.mark.parametrize("bound", [("_UNPACKED", 2_000_000), ("_LINES", 10_000), ("_LINE", 1_000_000)])
def test_a_file_that_unpacks_to_more_than_there_may_be_is_refused_with_numbers_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: tuple[str, int]
) -> None:
    monkeypatch.setattr(shared_session, *bound)
    monkeypatch.setattr(shared_session, "_records", lambda *_: pytest.fail("it was read"))
    events = (EVENT.replace(":1,", f":{seq},") for seq in range(1, 50_000))
    path = file_of(tmp_path, HEAD, *(("x" * 1_500_000,) if bound[0] == "_LINE" else events))
    with pytest.raises(ConfigError, match="kB unpack to more than 268") as refused:
        opened(path)
    assert "Ask for another one" in refused.value.hint


def test_nothing_is_written_that_could_not_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_session, "_LINE", 1_000)
    with pytest.raises(ConfigError, match="an event"):
        packed("s", records([UserSaid("x" * 1_000)]))
