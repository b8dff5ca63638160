"""A race as a file: a picture or a recording, by the file's ending."""

from pathlib import Path

from inspector.app.pages.chat.race.cast import cast
from inspector.app.pages.chat.race.picture import picture
from inspector.engine.scenario.race import Race

ENDINGS = ".svg is a picture for a slide, .cast a recording for asciinema."


def exported(race: Race, path: Path) -> str:
    """The race as the path's ending says. Raises ValueError for another ending, and before it is over."""
    verdict = race.verdict
    if verdict is None:
        raise ValueError("the race is not over")
    if path.suffix == ".svg":
        return picture(race.scenario.title, race.frames(), verdict)
    if path.suffix == ".cast":
        return cast(race.scenario.title, race.frames(), verdict)
    raise ValueError(f"{path.suffix or 'no ending'} is neither .svg nor .cast")
