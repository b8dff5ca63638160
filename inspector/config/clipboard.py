"""Copies text with the programs of this machine, which say whether it worked; a terminal does not."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

_PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class _Program:
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
