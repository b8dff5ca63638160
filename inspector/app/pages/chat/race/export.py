"""Exports a race as a picture or a recording, depending on the file's extension."""

from pathlib import Path

from inspector.app.pages.chat.race.cast import cast
from inspector.app.pages.chat.race.picture import picture
from inspector.engine.scenario.race import Race

ENDINGS = ".svg is a picture for a slide, .cast a recording for asciinema."


def exported(race: Race, path: Path) -> str:
    """Return the race in the format of the path's extension.

    Raises ValueError for any other extension, and while the race is not over.
    """
    verdict = race.verdict
    if verdict is None:
        raise ValueError("the race is not over")
    if path.suffix == ".svg":
        return picture(race.scenario.title, race.frames(), verdict)
    if path.suffix == ".cast":
        return cast(race.scenario.title, race.frames(), verdict)
    raise ValueError("the name has to end in .svg or .cast")
