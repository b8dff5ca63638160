"""What can be opened where nothing was named: used before, found on this machine, or the demo."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspector.app.draw.line import shown_path
from inspector.app.start import Opens, Way
from inspector.cli import location
from inspector.cli.configuration import demo_configuration
from inspector.cli.options import Options
from inspector.cli.stores import open_store
from inspector.config.client import ClientConfiguration, client_files, is_there, read_client_file
from inspector.config.client_format import OTHER_FORMATS
from inspector.config.configuration import HIDDEN
from inspector.config.file import is_file
from inspector.config.reader import typed_configuration
from inspector.core.error import ToolsightError
from inspector.core.number import count
from inspector.core.server import ServerSpec
from inspector.store.shared_session import is_shared

_RECENT = 5
_NAMED = 4


def problem(words: tuple[str, ...]) -> str:
    """Why these words start no server; "" if it can be tried, or they name the file of a session."""
    if is_shared(" ".join(words)):
        return ""
    try:
        typed_configuration(words, environment=os.environ)
    except ToolsightError as error:
        return f"{error.message}. {error.hint}"
    return ""


def ways(options: Options) -> Sequence[Way]:
    """What was used before, the configurations of this machine, and the demo, in this order."""
    recent = list(_recent(options))
    known = {way.opens for way in recent}
    found = [way for way in _found(options) if way.opens not in known]
    specs = demo_configuration(Path.cwd()).servers
    demo = Way("demo", count(len(specs), "demo server"), _names(specs), Opens(demo=True))
    return [*recent, *found, demo]


def _recent(options: Options) -> Iterator[Way]:
    """The servers of the last sessions that are still there, newest first, each once."""
    demo = str(location.demo_path())
    stored = open_store(options).sessions()
    sources = dict.fromkeys(session.config for session in stored if not session.agent)
    named = [source for source in sources if source and source != demo][:_RECENT]
    for source in named:
        path = Path(source)
        if is_file(path) and path.suffix in (".json", ".jsonc", *OTHER_FORMATS):
            yield Way("recent", shown_path(str(path.absolute())), "", Opens(config=str(path.absolute())))
        elif (words := _words(source)) and not problem(words):
            yield Way("recent", source, "", Opens(server=words))


def _found(options: Options) -> Iterator[Way]:
    """The files of clients on this machine that have servers."""
    inputs = location.given_inputs(options)
    for file in filter(is_there, client_files(Path.home(), Path.cwd(), sys.platform, os.environ)):
        parts = read_client_file(file, environment=os.environ, inputs=inputs)
        whole = [part for part in parts if isinstance(part, ClientConfiguration)]
        if whole and whole[0].configuration.servers:
            specs = whole[0].configuration.servers
            title = f"{file.client}  {shown_path(str(file.path.absolute()))}"
            opens = Opens(config=str(file.path.absolute()))
            yield Way("found", title, _names(specs), opens)


def _names(specs: Sequence[ServerSpec]) -> str:
    return ", ".join([spec.name for spec in specs[:_NAMED]] + ["…"] * (len(specs) > _NAMED))


def _words(source: str) -> tuple[str, ...]:
    """The words of a recorded command; none if a secret of it was not recorded."""
    if HIDDEN in source:
        return ()
    try:
        return tuple(shlex.split(source))
    except ValueError:
        return ()
