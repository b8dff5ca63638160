"""A session's stream: kept in order, without secrets, and no longer than it should be."""

import stat
from pathlib import Path

import pytest

from inspector.config.configuration import Configuration
from inspector.core.access import Sight
from inspector.core.error import StoreError
from inspector.core.events import MilestoneReached, Record, UserSaid
from inspector.core.fold import apply
from inspector.core.redaction import SECRETS, Redactor, clean, learn_environment, open_private, write
from inspector.core.secret_value import MARKER
from inspector.core.server import ServerSpec
from inspector.core.stream import Session
from inspector.session.assembly import redactor_of
from inspector.store.store import MemoryStore
from tests.support.fakes import ManualClock


class FullStore(MemoryStore):
    """Has no room."""

    def append(self, record: Record) -> None:
        raise StoreError(f"no room for {record.kind}")


def session_on(store: MemoryStore) -> Session:
    return Session("s", store, ManualClock(), Redactor({"shop.TOKEN": "tiger-42"}))


def test_a_listener_is_told_only_after_the_event_is_stored_and_applied() -> None:
    store = MemoryStore()
    session = session_on(store)
    seen: list[tuple[bool, bool]] = []
    before = session.state

    def listen(record: Record) -> None:
        seen.append((store.read("s")[-1:] == [record], session.state == apply(before, record)))

    session.subscribe(listen)
    session.emit(MilestoneReached("paid"))
    assert session.state != before
    assert seen == [(True, True)]


def test_an_event_that_cannot_be_stored_changes_nothing_and_is_told_to_nobody() -> None:
    session = session_on(FullStore())
    told: list[Record] = []
    session.subscribe(told.append)
    before = session.state
    with pytest.raises(StoreError):
        session.emit(MilestoneReached("paid"))
    assert session.state is before
    assert told == []


def test_what_is_stored_and_told_is_redacted() -> None:
    store = MemoryStore()
    session = session_on(store)
    told: list[Record] = []
    session.subscribe(told.append)
    session.emit(UserSaid("my token is tiger-42"))
    assert told == store.read("s")
    assert told[0].event == UserSaid("my token is [redacted shop.TOKEN]")


def test_whoever_listens_to_one_kind_of_event_is_told_of_no_other() -> None:
    session = session_on(MemoryStore())
    told: list[Record] = []
    session.subscribe(told.append, (UserSaid.kind,))
    session.emit(UserSaid("one"))
    session.emit(MilestoneReached("paid"))
    assert [record.event for record in told] == [UserSaid("one")]


VALUE = "wsp-93fA71cd"
SPEC = ServerSpec("hidden", "server", ("-k", VALUE))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_one_configuration_says_is_secret_is_cleaned_from_everything() -> None:
    SECRETS.learn(SPEC.secrets)
    assert clean({"told": [f"It is {VALUE}.", 7, None]}) == {"told": [f"It is {MARKER}.", 7, None]}


def test_only_who_sees_every_server_reads_which_secret_it_was() -> None:
    configuration = Configuration("a.json", (SPEC,))
    assert redactor_of(configuration).text(VALUE) == "[redacted hidden.key]"
    assert redactor_of(configuration, Sight(user="ada")).text(VALUE) == MARKER


def test_of_the_persons_own_variables_those_count_that_are_named_so_and_hold_no_plain_word() -> None:
    learn_environment(
        {"MY_TOKEN": VALUE, "GIT_ASKPASS": "echo", "EDITOR_KEY": "emacs", "PLAIN": "xyz-12ab34"}
    )
    text = f"echo emacs xyz-12ab34 {VALUE}"
    assert clean(text) == f"echo emacs xyz-12ab34 {MARKER}"


def test_a_written_text_has_no_secret_and_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    SECRETS.learn(SPEC.secrets)
    write(tmp_path / "new.svg", f"<text>{VALUE}</text>")
    assert (tmp_path / "new.svg").read_text() == f"<text>{MARKER}</text>"
    assert _mode(tmp_path / "new.svg") == 0o600


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared.json"
    shared.touch(mode=0o644)
    write(shared, "{}")
    assert _mode(shared) == 0o644


def test_a_file_that_must_not_be_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FileExistsError):
        open_private(tmp_path / "x", "x")
