"""Opens a session in the app: consent first, then connections."""

import asyncio
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from inspector.app.dialogs.approver import ModalApprover, agrees
from inspector.app.dialogs.elicitor import ModalElicitor
from inspector.config.configuration import Configuration
from inspector.config.consent import approve, check_consent, consent_question
from inspector.config.program import unwatched
from inspector.core.feature import Parts
from inspector.core.ports import ServerMemory
from inspector.session.workbench import Workbench
from widgets import visible

if TYPE_CHECKING:
    from textual.app import App

    from inspector.app.place import Destination


class Opened(Struct, frozen=True):
    """A workbench without connections, and what else the app needs.

    `parts` are what features give their pages. Without a `clipboard` only the terminal is asked to copy;
    without an `elicitor` servers' questions are not shown here. With `approves`, the person has given
    consent already. With `watches`, a server starts again when its files change. `source` names the servers
    on a command line. The app opens on the page `home`, and goes to a `first` destination, if there is one,
    once it is open.
    """

    bench: Workbench
    memory: ServerMemory
    approver: ModalApprover
    parts: Parts = field(default_factory=Parts)
    clipboard: "SystemClipboard | None" = None
    approves: bool = False
    elicitor: ModalElicitor | None = None
    home: str = "session"
    first: "Destination | None" = None
    watches: bool = False
    source: Sequence[str] = ()


async def connect(app: "App[None]", opened: Opened) -> bool:
    """Connect every server, asking for consent if needed; return False if consent was refused."""
    opened.approver.attach(app)
    if opened.elicitor is not None:
        opened.elicitor.attach(app)
    configuration = opened.bench.whole_configuration
    if not await has_consent(app, configuration, opened.memory, approves=opened.approves):
        return False
    if opened.watches:
        told = await asyncio.to_thread(lambda: list(map(unwatched, opened.bench.configuration.servers)))
        if text := "\n".join(filter(None, told)):
            app.notify(visible(text), title="Not watched", severity="warning", markup=False)
    # Loading the tokenizer stops everything for a moment, and for longer while servers start.
    await asyncio.to_thread(opened.bench.accounting.warm)
    opened.bench.connect()
    return True


async def has_consent(
    app: "App[None]", configuration: Configuration, memory: ServerMemory, *, approves: bool
) -> bool:
    """Whether a person has agreed to the configuration, who is asked if need be; not if it `approves`."""
    # In a thread, so that opening the database does not block the keyboard.
    check = await asyncio.to_thread(check_consent, configuration, memory)
    if not check.is_approved or (approves and check.changed):
        question = consent_question(configuration.source, check.question)
        if not (approves or await agrees(app, question)):
            return False
        approve(configuration, memory)
    return True


# Copies text with the programs of this machine, which say whether it worked; a terminal does not.

_PATIENCE = 1.0


class _Program(Struct, frozen=True):
    """A program that copies its input; it needs the variable `needs`, if any. `where` is where a copy is."""

    argv: tuple[str, ...]
    where: str
    needs: str = ""


_CLIPBOARD = "the clipboard"
_PROGRAMS = (
    _Program(("pbcopy",), _CLIPBOARD),
    _Program(("wl-copy",), _CLIPBOARD, "WAYLAND_DISPLAY"),
    _Program(("xclip", "-selection", "clipboard"), _CLIPBOARD, "DISPLAY"),
    _Program(("xsel", "--clipboard", "--input"), _CLIPBOARD, "DISPLAY"),
    _Program(("tmux", "load-buffer", "-w", "-"), "tmux (paste with prefix ])", "TMUX"),
)


class SystemClipboard:
    """The clipboard of the desktop, or else the buffer of tmux."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    def copy(self, text: str) -> str:
        """Copy a text and say where it is now; "" if no program could."""
        usable = (one for one in _PROGRAMS if not one.needs or self._environment.get(one.needs))
        return next((one.where for one in usable if self._ran(one, text)), "")

    def _ran(self, program: _Program, text: str) -> bool:
        command = shutil.which(program.argv[0], path=self._environment.get("PATH"))
        if command is None:
            return False
        try:
            # Without pipes for its output: some stay in the background and would hold them open.
            done = subprocess.run(
                [command, *program.argv[1:]],
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0
