"""Published numbers beside Toolsight's own, as one report."""

import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from inspector.cli.bench.paper_sources import ShippedSource
from inspector.cli.options import as_json as json_option
from inspector.cli.outcome import Exit
from inspector.cli.progress import Progress, cancellation
from inspector.cli.table import say, say_json, say_table
from inspector.core.error import ConfigError
from inspector.core.ports import SystemClock
from inspector.core.report import Report, Section, markdown
from inspector.research.published import report
from inspector.research.run import CHAPTERS, Chapter, chapters, make
from inspector.research.source import Source, Steps, Stopped

_Path = click.Path(path_type=Path)


@click.command()
@click.argument("names", nargs=-1, metavar="[SECTION]...")
@click.option("--all", "is_all", is_flag=True, help="Run every section.")
@click.option(
    "--data",
    "folders",
    multiple=True,
    type=_Path,
    help="Also measure this catalog: a folder with tools.jsonl and labelled requests in queries.jsonl, or a "
    "folder of such folders. May be repeated.",
)
@click.option("--output", type=_Path, help="Write the report to this file.")
@click.option(
    "--db",
    "database",
    type=_Path,
    help="SQLite file that keeps vectors between runs. Default: a file in the user's cache.",
)
@click.option(
    "--embedding-model", default="packaged", show_default=True, help="packaged, none, or any fastembed model."
)
@json_option
def papers(
    names: tuple[str, ...],
    is_all: bool,
    folders: tuple[Path, ...],
    output: Path | None,
    database: Path | None,
    embedding_model: str,
    as_json: bool,
) -> None:
    """Reproduce published measurements and compare the results.

    Without SECTION, lists the sections. The report is Markdown.

    \b
    toolsight bench papers latency
    """
    wanted = CHAPTERS if is_all else chapters(names)
    if not wanted:
        _list(as_json=as_json)
        return
    if output is not None and not output.parent.is_dir():
        hint = "Create the folder first."
        raise ConfigError(f"{output} cannot be written: its folder does not exist", hint=hint)
    with ShippedSource(folders, model=embedding_model, database=database) as source:
        sections = _sections(wanted, source)
        if sections is None:
            say("cancelled: nothing was written", err=True)
            sys.exit(Exit.INTERRUPTED)
        result = report(sections, source, _command(wanted, bool(folders)))
    _publish(result, output, as_json=as_json)


def _sections(wanted: Sequence[Chapter], source: Source) -> list[Section] | None:
    """The sections, or None if Ctrl+C was pressed."""
    progress = Progress(SystemClock())
    try:
        with cancellation() as cancelled:
            return list(make(wanted, source, Steps(progress, cancelled)))
    except Stopped:
        return None
    finally:
        progress.clear()


def _command(wanted: Sequence[Chapter], has_data: bool) -> str:
    """The command that repeats the report, without this machine's paths."""
    which = "--all" if len(wanted) == len(CHAPTERS) else " ".join(chapter.id for chapter in wanted)
    return f"toolsight bench papers {which}{' --data FOLDER' if has_data else ''}"


def _list(*, as_json: bool) -> None:
    rows = [(chapter.id, chapter.source, chapter.about) for chapter in CHAPTERS]
    if as_json:
        say_json([dict(zip(("id", "source", "about"), row, strict=True)) for row in rows])
        return
    say_table(("section", "published in", "measured"), rows)
    say("\nPass one or more sections, or --all.")


def _publish(result: Report, output: Path | None, *, as_json: bool) -> None:
    if output is not None:
        _write(output, markdown(result))
    if as_json:
        say_json(asdict(result))
    elif output is None:
        for line in markdown(result).splitlines():
            say(line)


def _write(path: Path, text: str) -> None:
    """Write the file completely, or leave the old one. Raises ConfigError."""
    draft: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", newline="", dir=path.parent, delete=False
        ) as file:
            draft = Path(file.name)
            file.write(text)
        draft.chmod(path.stat().st_mode if path.exists() else 0o644)
        draft.replace(path)
    except (OSError, ValueError) as error:
        if draft is not None:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{path} cannot be written: {reason}", hint="Check that its folder exists."
        ) from error
