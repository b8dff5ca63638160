"""Published numbers beside Toolsight's own, as one report in Markdown or JSON: `make reproduce`.

`python -m docs.papers` lists the sections, `python -m docs.papers latency` measures one.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import to_builtins

from docs.papers.published import report
from docs.papers.report import Section, Table, markdown
from docs.papers.run import CHAPTERS, Chapter, chapters, make
from docs.papers.shipped_source import ShippedSource
from docs.papers.source import Source, Steps, Stopped
from inspector.cli.run import Exit
from inspector.cli.table import Progress, cancellation, say, say_json, say_report, write_file
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.report import Column

_CHAPTER = (Column("section", "id"), Column("published in", "source"), Column("measured", "about"))


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(prog="python -m docs.papers", description=(__doc__ or "").splitlines()[0])
    made.add_argument("sections", nargs="*", metavar="SECTION", help="none: list them")
    made.add_argument("--all", action="store_true", help="measure every section")
    made.add_argument(
        "--data",
        action="append",
        default=[],
        type=Path,
        help="also measure this catalog: a folder with tools.jsonl and labelled requests in queries.jsonl, "
        "a folder of such folders, or a file of tools/list answers; may be repeated",
    )
    made.add_argument("--output", type=Path, help="write the report to this file")
    made.add_argument("--db", type=Path, help="keeps vectors between runs (default: in the user's cache)")
    made.add_argument("--embedding-model", default="packaged", help="packaged, none, or a fastembed model")
    made.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print or write the report; return the exit code, as `toolsight` has them."""
    try:
        return _run(parser().parse_args(arguments))
    except ToolsightError as error:
        say(f"error: {error.message}", err=True)
        say(f"hint:  {error.hint}", err=True)
        return Exit.USAGE if isinstance(error, ConfigError) else Exit.FAILED


def _run(given: argparse.Namespace) -> int:
    wanted = CHAPTERS if given.all else chapters(given.sections)
    if not wanted:
        say_report([Table.of(_CHAPTER, CHAPTERS), "\nPass one or more sections, or --all."])
        return Exit.DONE
    if given.output is not None and not given.output.parent.is_dir():
        hint = "Create the folder first."
        raise ConfigError(f"{given.output} cannot be written: its folder does not exist", hint=hint)
    with ShippedSource(given.data, model=given.embedding_model, database=given.db) as source:
        sections = _sections(wanted, source)
        if sections is None:
            say("cancelled: nothing was written", err=True)
            return Exit.INTERRUPTED
        result = report(sections, source, _command(wanted, bool(given.data)))
    if given.output is not None:
        write_file(given.output, markdown(result))
    if given.json:
        say_json(to_builtins(result))
    elif given.output is None:
        say_report(markdown(result).splitlines())
    return Exit.DONE


def _sections(wanted: Sequence[Chapter], source: Source) -> list[Section] | None:
    """The sections, or None if Ctrl+C was pressed."""
    with suppress(Stopped), Progress() as progress, cancellation() as cancelled:
        return list(make(wanted, source, Steps(progress, cancelled)))
    return None


def _command(wanted: Sequence[Chapter], has_data: bool) -> str:
    """The command that repeats the report, without this machine's paths."""
    which = "--all" if len(wanted) == len(CHAPTERS) else " ".join(chapter.id for chapter in wanted)
    return f"python -m docs.papers {which}{' --data FOLDER' if has_data else ''}"


if __name__ == "__main__":
    sys.exit(main())
