"""What is written through the sink has no secrets, and only its owner can read it."""

import stat
from pathlib import Path

import pytest

from inspector.config.configuration import Configuration
from inspector.core.access import Sight
from inspector.core.redaction import SECRETS, clean, learn_environment, open_private, private_folder, write
from inspector.core.secret_value import MARKER
from inspector.core.server import ServerSpec
from inspector.session.assembly import redactor_of

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


def test_every_folder_that_is_made_is_its_owners_alone(tmp_path: Path) -> None:
    private_folder(tmp_path / "a" / "b")
    private_folder(tmp_path / "a" / "b")
    assert [_mode(tmp_path / "a"), _mode(tmp_path / "a" / "b")] == [0o700, 0o700]


def test_a_file_that_must_not_be_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FileExistsError):
        open_private(tmp_path / "x", "x")
