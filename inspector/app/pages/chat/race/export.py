"""Exports a race as a picture, a page or a recording, depending on the file's extension."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path

from inspector.app.pages.chat.race import outcome
from inspector.app.pages.chat.race.cast import cast
from inspector.app.pages.chat.race.picture import picture
from inspector.scenario.race import Race, Verdict

# A race as a page to hand on: Markdown, or HTML with its picture.

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "td{padding:.1rem 1rem}td:not(:first-child){text-align:right}svg{max-width:100%;height:auto}"
)


def markdown(race: Race, verdict: Verdict) -> str:
    """Return the race as Markdown: what was measured, what came of it, both sides, the notes."""
    title = race.scenario.title
    head, *lines = ([cell.replace("|", "\\|") for cell in row] for row in outcome.rows(verdict))
    table = [head, ["---", "--:", "--:", "--:"], *lines]
    return "\n".join(
        [
            f"# {outcome.headline(verdict).plain.splitlines()[0]}",
            "",
            outcome.measured(title, verdict),
            "",
            *(f"| {' | '.join(row)} |" for row in table),
            "",
            *(f"- {line}" for line in _notes(verdict)),
            "",
        ]
    )


def _notes(verdict: Verdict) -> list[str]:
    return [line.removeprefix("· ") for line in outcome.notes(verdict).plain.splitlines()]


def _tagged(tag: str, inside: Iterable[str]) -> str:
    return f"<{tag}>{''.join(inside)}</{tag}>"


def html(race: Race, verdict: Verdict) -> str:
    """Return the race as a page that stands alone."""
    title = race.scenario.title
    rows = (_tagged("tr", (_tagged("td", escape(cell)) for cell in row)) for row in outcome.rows(verdict))
    notes = (_tagged("li", escape(line)) for line in _notes(verdict))
    drawing = picture(title, race.frames(), verdict)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n"
        f"<h1>{escape(outcome.headline(verdict).plain.splitlines()[0])}</h1>\n"
        f"<p>{escape(outcome.measured(title, verdict))}</p>\n{drawing[drawing.index('<svg') :]}\n"
        f"<table>{''.join(rows)}</table>\n<ul>{''.join(notes)}</ul>\n</body></html>\n"
    )


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
