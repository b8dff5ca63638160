"""Shows the progress of long work on a terminal, stops it between two steps; and what options chose."""

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from inspector.cli.options import Options
from inspector.config.predicate import digest
from inspector.config.source.setting import anchored
from inspector.core.configuration import Configuration, Named
from inspector.core.number import duration
from inspector.core.ports import Clock
from inspector.core.settings import Settings
from inspector.loop.settings_check import Policy
from widgets import visible

_EVERY_SECONDS = 0.1
_BACK_AND_CLEAR = "\r\x1b[K"


class Progress:
    """One line on stderr that is redrawn; prints nothing if stderr is not a terminal."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_shown = sys.stderr.isatty()
        self._what = ""
        self._first = (0, 0.0)
        self._drawn = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `what` are done; a total of 0 is unknown."""
        now = self._clock.monotonic()
        is_new = what != self._what
        if is_new:
            self._what, self._first = what, (done, now)
        if is_new or now - self._drawn >= _EVERY_SECONDS:
            self._drawn = now
            self._draw(f"{what}  {done}/{total}{self._remaining(done, total, now)}" if total else what)

    def clear(self) -> None:
        """Clear the line for what is printed next."""
        self._draw("")

    def _remaining(self, done: int, total: int, now: float) -> str:
        first, since = self._first
        if done <= first:
            return ""
        return f"  about {duration((now - since) / (done - first) * (total - done))} left"

    def _draw(self, text: str) -> None:
        if self._is_shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"{_BACK_AND_CLEAR}{visible(text, newlines=False)[:width]}")
            sys.stderr.flush()


class Cancellation:
    """Calling it returns whether Ctrl+C was pressed."""

    def __init__(self) -> None:
        self.requested = False

    def __call__(self) -> bool:
        return self.requested


@contextmanager
def cancellation() -> Iterator[Cancellation]:
    """The first Ctrl+C asks the work to stop after its current step; the second interrupts it."""
    state = Cancellation()
    before = signal.getsignal(signal.SIGINT)

    def stop(_number: int, _frame: FrameType | None) -> None:
        state.requested = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, before)


def policy_of(configuration: Configuration, options: Options) -> Policy:
    """The settings in force; files named on the command line are those of the current folder."""
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    return Policy(configuration, profile=options.profile, values=values)


def with_chosen(configuration: Configuration, options: Options, *, own: Path) -> Configuration:
    """Add what the settings bring to what needs consent. Raises ConfigError.

    That is the predicate file with its digest, what else they name, which changed files ask again, and the
    folder that servers may learn. Files in the folder `own` are Toolsight's own: nobody is asked about them.
    """
    chosen = policy_of(configuration, options).settings
    path = chosen.access.predicates
    found = digest(Path(path)) if path else ""
    named = tuple(_named(configuration, chosen, found, options, own.resolve()))
    servers = configuration.servers
    if chosen.consent.changed_files == "ask":
        servers = tuple(
            replace(spec, files=tuple(replace(file, asks=True) for file in spec.files)) for spec in servers
        )
    return replace(
        configuration,
        servers=servers,
        client=chosen.client,
        folders=_folders(configuration, options),
        predicates=path,
        predicates_digest=found,
        named=named,
    )


def _named(
    configuration: Configuration, chosen: Settings, predicates: str, options: Options, own: Path
) -> Iterator[Named]:
    """What the configuration's file or a scenario names, and neither the person nor Toolsight itself."""
    files = [("access.policy", chosen.access.policy)]
    files += [("marketplace.catalogs", catalog) for catalog in chosen.marketplace.catalogs]
    typed = {**options.values, **({"access.policy": options.policy} if options.policy else {})}
    model = chosen.discovery.embedding_model
    if model not in ("packaged", "none") and "discovery.embedding_model" not in typed:
        yield Named("discovery.embedding_model", model)
    for setting, file in files:
        if file and setting not in typed and not Path(file).resolve().is_relative_to(own):
            yield Named(setting, file)
    if predicates and configuration.trusted and "access.predicates" not in typed:
        yield Named("access.predicates", chosen.access.predicates, predicates)


def _folders(configuration: Configuration, options: Options) -> tuple[str, ...]:
    """The folder that servers may learn.

    No question comes before a typed address, so it learns none unless the person types that, too: what a
    client declares, or a scenario sets, is not the person's own wish.
    """
    is_typed_address = configuration.trusted and any(spec.is_http for spec in configuration.servers)
    is_wanted = options.values.get("client.roots") is True
    return () if is_typed_address and not is_wanted else (str(Path.cwd()),)
