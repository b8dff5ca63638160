"""Starts a client without skills and with some, and lets what is known of it be held against its requests."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

from msgspec import Struct

from inspector.cli.composition import lent
from inspector.cli.run import run
from inspector.core.error import ConfigError
from inspector.core.redaction import private_folder
from inspector.features.clients.measured.conversation import Conversation, Exchange
from inspector.features.clients.measured.marks import ServerLog
from inspector.features.clients.measured.measurement import Measured, Measuring, Subject
from inspector.features.clients.measured.start import Start
from inspector.features.clients.measured.wire import Call, Heard
from inspector.schema.json_value import compact


class SkillRun(Struct, frozen=True):
    """The texts of the first request without and with skills; these stand in `work`, or in its `home`."""

    client: str
    version: str
    work: Path
    home: Path
    bare: tuple[str, ...]
    given: tuple[str, ...]


class _NoServer(ServerLog):
    def is_listed(self) -> bool:
        return True


class _OneRequest(Conversation):
    """Ends with the first request that has tools: the list of skills comes with them."""

    @property
    def is_begun(self) -> bool:
        return self.is_done

    def reply(self, heard: Heard) -> tuple[tuple[Call, ...], str]:
        self.exchanges.append(Exchange(len(self.exchanges) + 1, heard, 0, is_ready=True))
        self.is_done = self.is_done or bool(heard.tools)
        return (), "Measured."


def measure_skills(
    subject: Subject,
    skills: Path,
    folder: Path,
    progress: Callable[[int, int], None],
    agree: Callable[[Start], None],
) -> SkillRun:
    """The client's first requests, with the skills of that folder where it looks first in a project.

    Raises ToolsightError.
    """
    place = lent("skill place")(subject.name)
    if not skills.is_dir():
        raise ConfigError(f"{skills} is no folder", hint="Name a folder of skills: each with its SKILL.md.")
    requests, found = list[tuple[str, ...]](), Measured(subject.name)
    for number, name in enumerate(("0", "1")):
        own = folder / name
        private_folder(own)
        if number:
            copytree(skills, own / "work" / place, symlinks=True)
        progress(number, 2)
        requests.append(_first(subject, own, agree, found))
    return SkillRun(subject.name, found.version, own / "work", own, *requests)


def _first(
    subject: Subject,
    folder: Path,
    agree: Callable[[Start], None],
    found: Measured,
) -> tuple[str, ...]:
    """What the model reads first: messages and definitions; without tools if none come before it ends well.

    Raises ToolsightError.
    """
    talk = _OneRequest(_NoServer(folder))
    measuring = Measuring(subject, folder, lambda *_: None, agree, found)
    run(measuring.lead({}, only_first=True, talk=talk))
    if measuring.failure is not None and (found.exit_code != 0 or not talk.exchanges):
        raise measuring.failure
    heard = next((one.heard for one in talk.exchanges if one.heard.tools), talk.exchanges[0].heard)
    tools = (f"{one.name} {one.description} {compact(one.parameters)}" for one in heard.tools)
    return (*(one.text for one in heard.texts), *tools)
