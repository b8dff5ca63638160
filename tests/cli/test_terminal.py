"""The app in a real terminal: bytes as a keyboard sends them, and what is recorded of them."""

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from select import select
from struct import pack

import pytest

from inspector.core.events import ApprovalDecided, Event, TurnEnded, UserSaid
from inspector.core.events.call import Decision
from inspector.store.store import SqliteStore
from tests.support import light_server

pytestmark = pytest.mark.slow
PATIENCE = 60.0
_NAP = 0.05
_QUIT = b"\x11"


def _heed() -> None:
    """Ignore no signal, as what a terminal starts: `nohup` or a shell's background may have said so."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """A terminal of 80 by 24 in which the app, or a command, runs on one light server."""

    def __init__(self, database: Path, *words: str) -> None:
        self._database = database
        self.drawn = b""
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, pack("HHHH", 24, 80, 0, 0))
        server = ["--trust", "light_server", "--", sys.executable, light_server.__file__]
        command = [sys.executable, "-m", "inspector", *words, *server]
        variables = {"TOOLSIGHT_DB": str(database), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **variables},
            start_new_session=True,
            preexec_fn=_heed,
        )
        os.close(theirs)

    def type(self, keys: str) -> None:
        """Send it all at once, as a fast typist on a slow machine does."""
        self.drawn = b""
        os.write(self._ours, keys.encode())

    def type_slowly(self, keys: str) -> None:
        """Send it byte by byte, as a slow link does; the app draws in between."""
        self.drawn = b""
        for byte in keys.encode():
            os.write(self._ours, bytes([byte]))
            if select([self._ours], [], [], _NAP)[0]:
                self.drawn += os.read(self._ours, 1 << 16)

    def events(self, *kinds: str) -> list[Event]:
        if not self._database.exists():
            return []
        with SqliteStore(self._database) as store:
            found = store.sessions()
            return [record.event for record in store.read(found[0].id, kinds=kinds)] if found else []

    def until(self, holds: Callable[[], bool]) -> None:
        """Read what the app draws until the condition holds."""
        tries = int(PATIENCE / _NAP)
        while not holds():
            tries -= 1
            assert tries > 0, "the app never got there"
            assert self.process.poll() is None, "the app ended"
            if select([self._ours], [], [], _NAP)[0]:
                self.drawn += os.read(self._ours, 1 << 16)

    def shows(self, text: str) -> bool:
        """Whether a text was drawn since keys were sent last."""
        return text.encode() in self.drawn

    def quit(self) -> int:
        """Press the key that leaves the app; return the exit code."""
        os.write(self._ours, _QUIT)
        # Its end of the terminal closes when the process ends.
        with suppress(OSError):
            while select([self._ours], [], [], PATIENCE)[0]:
                os.read(self._ours, 1 << 16)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        if self._ours >= 0:
            os.close(self._ours)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    opened = Terminal(tmp_path_factory.mktemp("terminal") / "t.db")
    try:
        opened.until(lambda: bool(opened.events("ready")))
        opened.type("\x1bOP")
        opened.until(lambda: opened.shows("[1 Chat"))
        yield opened
    finally:
        opened.close()


def test_lines_that_are_sent_at_once_are_answered_one_after_the_other(terminal: Terminal) -> None:
    terminal.type("forecast for Oslo\r\rsevere weather alerts for Bergen\r")
    terminal.until(lambda: len(terminal.events("end")) == 2)
    first, answer, second, other = terminal.events("user", "end")
    assert (first, second) == (UserSaid("forecast for Oslo"), UserSaid("severe weather alerts for Bergen"))
    assert isinstance(answer, TurnEnded)
    assert isinstance(other, TurnEnded)


def test_a_pasted_text_of_several_lines_is_one_message(terminal: Terminal) -> None:
    before = len(terminal.events("user"))
    terminal.type("\x1b[200~one\ntwo\nthree\x1b[201~\r")
    terminal.until(lambda: len(terminal.events("user")) > before)
    assert terminal.events("user")[before:] == [UserSaid("one\ntwo\nthree")]


def test_esc_and_a_digit_go_to_a_place_from_the_middle_of_a_sentence(terminal: Terminal) -> None:
    terminal.type("half a sentence\x1b5")
    terminal.until(lambda: terminal.shows("[5 Trace]"))
    terminal.type("1")
    terminal.until(lambda: terminal.shows("[1 Chat]"))


def test_a_message_over_a_slow_link_arrives_whole(terminal: Terminal) -> None:
    before = len(terminal.events("user"))
    terminal.type_slowly("i\x15forecast for Oslo\r")
    terminal.until(lambda: len(terminal.events("user")) > before)
    sent = terminal.events("user")[-1]
    assert isinstance(sent, UserSaid)
    assert sent.text.endswith("forecast for Oslo")


def test_a_question_that_comes_up_under_typing_hands_is_not_answered_by_them(terminal: Terminal) -> None:
    terminal.type("book a train ticket to Rome\r")
    terminal.until(lambda: terminal.shows("Call light_server:book_ticket?"))
    terminal.type_slowly("so once more, yes or no\r")
    terminal.until(lambda: terminal.shows("enter answers"))
    assert terminal.events("approval") == []
    terminal.type("\x1b")
    terminal.until(lambda: terminal.events("user")[-1] == UserSaid("so once more, yes or no"))
    (decided,) = terminal.events("approval")
    assert isinstance(decided, ApprovalDecided)
    assert decided.decision == Decision.NO


def test_the_app_leaves_with_its_key_and_without_an_error(terminal: Terminal) -> None:
    assert terminal.quit() == 0
