"""Walks the README's three tasks in a real terminal, on a small server of one's own, and counts the keys.

    python -m screenshots.walk

Needs tmux. Writes a picture of each step to screenshots/walk/, the counts to docs/walk.md, and the recording
that the README begins with to screenshots/walk.svg. The keys are sent to a terminal as hands send them.
"""

import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from screenshots.animation import animated

FOLDER = Path(__file__).parent
SERVER = FOLDER / "own_server.py"
REPORT = FOLDER.parent / "docs" / "walk.md"
SIZES = ((80, 24), (120, 36))
RECORDED = (120, 36)
QUERY = "send reminders to customers with unpaid invoices"
QUESTION = "List the invoices of a customer"
PATIENCE = 60.0
# The colors of cells that the app leaves as they are: those of its dark theme.
_THEME = TerminalTheme((22, 22, 30), (200, 211, 245), [(22, 22, 30)] * 8)
_SESSION = "toolsight-walk"
_LOOKS_EVERY = 0.1
# So many looks at the same screen, and it stands still.
_STILL = 4


@dataclass(frozen=True, slots=True)
class Step:
    """What a person does and then sees: keys by tmux's names, `typed` text, and a word that shows it."""

    name: str
    keys: tuple[str, ...]
    sees: str
    typed: str = ""
    then: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The keys beside the text."""
        return len(self.keys) + len(self.then)


@dataclass(frozen=True, slots=True)
class Task:
    """One of the README's tasks."""

    title: str
    name: str
    steps: tuple[Step, ...]


TASKS = (
    Task(
        "A tool is not found",
        "find",
        (
            Step("search", ("F3",), "ours", QUERY, ("Enter",)),
            Step("why-not", ("p",), "missing words", "dunning_run", ("Enter",)),
            Step("sentences", (), "Use this to send reminders"),
            Step("difference", ("Enter",), "Write this into"),
        ),
    ),
    Task(
        "Tools cost too much",
        "cost",
        (
            Step("budget", ("F4",), "are too few for discovery"),
            Step("strategies", ("4",), "append: found tools"),
        ),
    ),
    Task(
        "What did my agent do?",
        "agent",
        (
            Step("approval", ("F1",), "enter answers", QUESTION, ("Enter",)),
            Step("answer", ("Left", "Enter"), "race"),
            Step("timeline", ("Escape", "5"), "now, after"),
            Step("events", ("5",), "[events]"),
        ),
    ),
)


class Terminal:
    """The app in tmux."""

    def __init__(self, size: tuple[int, int], database: Path) -> None:
        self.width, self.height = size
        command = ["python", "-m", "inspector", "--", "python", SERVER.name]
        variables = f"COLORTERM=truecolor TOOLSIGHT_DB={shlex.quote(str(database))}"
        # Found by its name, so that no picture has a path of this machine.
        python = shlex.quote(str(Path(sys.executable).parent))
        path = f"PATH={python}:$PATH PYTHONPATH={shlex.quote(str(FOLDER.parent))}"
        shell = f"cd {shlex.quote(str(FOLDER))} && {variables} {path} {shlex.join(command)}"
        _tmux("new-session", "-d", "-s", _SESSION, "-x", str(self.width), "-y", str(self.height), shell)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            _tmux("send-keys", "-t", _SESSION, key)

    def type(self, text: str) -> None:
        """Type a text."""
        _tmux("send-keys", "-t", _SESSION, "-l", text)

    def see(self, *, styled: bool = False) -> str:
        """Return what stands on the screen."""
        return _tmux("capture-pane", "-p", "-t", _SESSION, *(("-e", "-N") if styled else ()))

    def until(self, word: str) -> None:
        """Wait until a word stands on the screen."""
        if not any(word in screen for screen in self._looks()):
            raise SystemExit(f"'{word}' never came:\n{self.see()}")

    def settle(self) -> None:
        """Wait until the screen stands still."""
        before, still = "", 0
        for now in self._looks(styled=True):
            before, still = now, still + 1 if now == before else 0
            if still == _STILL:
                return

    def _looks(self, *, styled: bool = False) -> Iterator[str]:
        """The screen, again and again for as long as patience lasts."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            yield self.see(styled=styled)
            # tmux has no event for what a program draws: one has to look, and in between let it draw.
            time.sleep(_LOOKS_EVERY)

    def picture(self, title: str) -> str:
        """Return the screen as SVG."""
        console = Console(width=self.width, record=True, file=StringIO(), force_terminal=True)
        for line in self.see(styled=True).split("\n")[: self.height]:
            console.print(Text.from_ansi(line), end="\n", no_wrap=True, crop=True)
        return console.export_svg(title=title, theme=_THEME, unique_id=re.sub(r"\W", "", title))


@contextmanager
def terminal(size: tuple[int, int]) -> Iterator[Terminal]:
    """Run the app on the server until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        opened = Terminal(size, Path(folder) / "toolsight.db")
        try:
            opened.until("1/1 up")
            yield opened
        finally:
            _tmux("kill-session", "-t", _SESSION)


def _tmux(*words: str) -> str:
    return subprocess.run(["tmux", *words], check=True, capture_output=True, text=True).stdout


def walk(task: Task, size: tuple[int, int]) -> None:
    """Do one task, and write a picture of each step."""
    with terminal(size) as shown:
        for step in task.steps:
            do(shown, step)
            name = f"{task.name}-{step.name}-{size[0]}x{size[1]}"
            (FOLDER / "walk").mkdir(exist_ok=True)
            (FOLDER / "walk" / f"{name}.svg").write_text(shown.picture(name), encoding="utf-8")


def do(shown: Terminal, step: Step) -> None:
    """Press the keys of a step, and wait for what it shows."""
    shown.press(*step.keys)
    if step.typed:
        # The page's input has the focus once its line is drawn.
        shown.settle()
        shown.type(step.typed)
        shown.press(*step.then)
    shown.until(step.sees)
    shown.settle()


def record() -> str:
    """Return the recording: search, why not, take a sentence, and the rank moves."""
    frames: list[tuple[str, float]] = []
    with terminal(RECORDED) as shown:

        def frame(seconds: float) -> None:
            frames.append((shown.picture(f"frame{len(frames)}"), seconds))

        shown.press("F3")
        shown.until("[3 Search]")
        shown.settle()
        frame(1.0)
        for part in re.findall(r".{1,10}", QUERY):
            shown.type(part)
            shown.settle()
            frame(0.35)
        for keys, sees, seconds in (
            (("Enter",), "ours", 2.0),
            (("p",), "Which tool is yours", 1.0),
            (("dunning_run",), "dunning_run", 1.0),
            (("Enter",), "Use this to send reminders", 4.0),
            (("Enter",), "Write this into", 5.0),
        ):
            shown.press(*keys)
            shown.until(sees)
            shown.settle()
            frame(seconds)
    return animated(frames)


def report(tasks: Sequence[Task] = TASKS) -> str:
    """Return the counts as Markdown."""
    lines = [
        "# Three tasks, key by key",
        "",
        "`python -m screenshots.walk` takes these steps in tmux with default settings, at 80x24 and 120x36,",
        "on [a server with four tools](../screenshots/own_server.py), one of which (`dunning_run`) ranks",
        "low. The counts leave out typed text. The app is already open and the server connected.",
    ]
    for task in tasks:
        total = sum(step.count for step in task.steps)
        lines += [
            "",
            f"## {task.title} ({total} keys)",
            "",
            "| step | keys | 80x24 | 120x36 |",
            "|---|---|---|---|",
        ]
        for step in task.steps:
            typed = [f"“{step.typed}”"] if step.typed else []
            keys = " ".join([*step.keys, *typed, *step.then]) or "–"
            pictures = [
                f"[picture](../screenshots/walk/{task.name}-{step.name}-{w}x{h}.svg)" for w, h in SIZES
            ]
            lines.append(f"| {step.name} | {keys} | {' | '.join(pictures)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Walk every task at every size, and make the recording."""
    for task in TASKS:
        for size in SIZES:
            walk(task, size)
            sys.stdout.write(f"{task.name} at {size[0]}x{size[1]}: walked\n")
    REPORT.write_text(report(), encoding="utf-8")
    (FOLDER / "walk.svg").write_text(record(), encoding="utf-8")


if __name__ == "__main__":
    main()
