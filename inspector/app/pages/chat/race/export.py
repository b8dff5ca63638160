"""Exports a race as a picture, a page or a recording, depending on the file's extension."""

from collections.abc import Callable, Mapping
from pathlib import Path

from inspector.app.pages.chat.race.cast import cast
from inspector.app.pages.chat.race.page import html, markdown
from inspector.app.pages.chat.race.picture import picture
from inspector.engine.scenario.race import Race, Verdict

ENDINGS = ".svg is a picture for a slide, .md and .html a page, .cast a recording for asciinema."
FORMATS: Mapping[str, Callable[[Race, Verdict], str]] = {
    ".svg": lambda race, verdict: picture(race.scenario.title, race.frames(), verdict),
    ".md": markdown,
    ".html": html,
    ".cast": lambda race, verdict: cast(race.scenario.title, race.frames(), verdict),
}


def exported(race: Race, path: Path) -> str:
    """Return the race in the format of the path's extension.

    Raises ValueError for any other extension, and while the race is not over.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"the name has to end in {', '.join(FORMATS)}")
    if race.verdict is None:
        raise ValueError("the race is not over")
    return FORMATS[path.suffix](race, race.verdict)
