"""`toolsight clients measure`: what the person's own clients and programs do with tools."""

import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from inspector.cli.composition import lent
from inspector.cli.location import fixtures_path
from inspector.cli.options import TYPED_SERVER, as_json
from inspector.cli.run import Exit, interruptible
from inspector.cli.table import Progress, say, say_raw, show, write_file
from inspector.clients.client import NAMES, read_client
from inspector.clients.golden import write_golden
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.number import count
from inspector.core.redaction import learn_environment, private_folder
from inspector.core.report import NAME, NUMBER, Column, Table
from inspector.features.clients.facts import today
from inspector.features.clients.measured.measurement import Measured, Subject, agreed, measured
from inspector.features.clients.measured.own_program import own_name, samples
from inspector.features.clients.measured.program import is_installed, require_start
from inspector.features.clients.measured.start import STARTS, Start

_COLUMNS = (
    Column("client", lambda row: row["client"], NAME),
    Column("version", lambda row: row["version"] or None),
    Column("facts", lambda row: row["facts"], NUMBER),
    Column("seconds", lambda row: row["seconds"], NUMBER),
    Column("outcome", lambda row: row["outcome"]),
)


@click.command()
@click.argument("client", metavar="[CLIENT]", default="")
@click.option(
    "--all-installed", "every", is_flag=True, help="Measure each client that is installed, in turn."
)
@click.option("--name", default="", help="The name of your own program. Default: its file's.")
@click.option(
    "--sample",
    metavar="FRAMEWORK",
    help=f"Print an agent to begin with, and what installs it: {', '.join(samples())}.",
)
@click.option(
    "--model", default="", metavar="MODEL", help="Have the client ask for this model. Default: its own."
)
@click.option(
    "--wire",
    type=click.Choice(["chat", "responses", "messages"]),
    help="The API that the client is to speak, if it can speak several. Default: by its model.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the client's file here (measured.toml); with --all-installed, to this folder (measured).",
)
@click.option(
    "--requests",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the run in this new folder: the client's requests, without secrets, and what the server saw.",
)
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="Give up on a client after so many seconds.",
)
@click.option(
    "--golden",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the run in small to this folder, for Toolsight's rules to be held against.",
)
@click.option(
    "--skills",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="Measure instead which skills of a folder it shows. Default: those made for this, most with a flaw.",
)
@click.option("--quick", is_flag=True, help="Leave out the calls that take 7 and 70 seconds.")
@click.option("--by-hand", is_flag=True, help="Print what to start your client with, and wait for it.")
@click.option("--yes", is_flag=True, help="Start clients without asking.")
@as_json
@click.pass_context
def measure(
    context: click.Context,
    client: str,
    name: str,
    sample: str | None,
    model: str,
    wire: str | None,
    output: Path | None,
    requests: Path | None,
    golden: Path | None,
    timeout: int,
    skills: str | None,
    *,
    every: bool,
    quick: bool,
    by_hand: bool,
    yes: bool,
) -> None:
    """Measure what your own client or program does with tools.

    The client is started with servers made for this and, in place of its model, a stand-in on this machine
    that has it search and call tools. That needs no key and no network, and your own configuration stays as
    it is. The outcome is a file for --client.

    It starts Claude Code, Codex, opencode, Gemini CLI, Qwen Code, Copilot CLI, Cline CLI, Continue CLI, Kimi
    Code, Mistral Vibe, Droid, OpenHands, fast-agent and gptme; any other with --by-hand.

    A program of your own follows --. It runs as you would run it, but without your keys: OPENAI_BASE_URL and
    the like point at the stand-in, and TOOLSIGHT_MCP_SERVERS has the servers it is to use, as JSON.

    \b
    toolsight clients measure claude-code
    toolsight clients measure --all-installed -o measured
    toolsight clients measure --sample langchain > agent.py
    toolsight clients measure --name mine -- python agent.py
    toolsight tools --client ./measured.toml
    """
    if sample is not None:
        say_raw(_sample(sample))
        return
    program = context.meta.get(TYPED_SERVER, ())
    _require_one(client, program, every=every, by_hand=by_hand)
    if requests is not None and requests.exists():
        raise ConfigError(f"{requests} exists already", hint="Choose a new folder.")
    learn_environment(os.environ)
    subject = Subject(
        client or name or own_name(program), model, wire or "", timeout, program, by_hand, not quick
    )
    if skills is not None:
        _measure_skills(subject, skills, requests, asks=not yes)
        return
    if every:
        _measure_all(subject, output or Path("measured"), requests, golden, asks=not yes)
        return
    agree = partial(_agree, subject.name) if not yes and not program else agreed
    with Progress() as progress:
        found = _measured(subject, requests, partial(progress, "measuring"), agree)
    _show(found, output or Path("measured.toml"), golden)


def _measure_skills(subject: Subject, skills: str, requests: Path | None, *, asks: bool) -> None:
    from inspector.features.clients.measured.skills_run import measure_skills

    if subject.name not in STARTS:
        raise ConfigError("--skills needs a known client", hint=f"Known: {', '.join(STARTS)}.")
    skills_of = Path(skills) if skills else fixtures_path() / "skills"
    agree = partial(_agree, subject.name) if asks else agreed
    with tempfile.TemporaryDirectory(prefix="toolsight-") as temporary, Progress() as progress:
        folder = Path(temporary) if requests is None else requests
        found = measure_skills(subject, skills_of, folder.resolve(), partial(progress, "measuring"), agree)
        data, report = lent("skills measured")(found)
    show(data, report)


def _show(found: Measured, file: Path, golden: Path | None) -> None:
    """Print what came of one client, and write its files. Raises what kept it from its end."""
    if found.text:
        row = _row(found, file, golden)
        told = f"{row['title']}: {count(row['facts'], 'fact')} in {row['file']}"
        if found.name in NAMES:
            told += f"; `toolsight clients {found.name} {row['file']}` compares it with what was known"
        show(row, [told])
    if found.failure is not None:
        raise found.failure


def _sample(framework: str) -> str:
    if framework not in samples():
        raise ConfigError(
            f"there is no sample of '{framework}'", hint=f"Choose from: {', '.join(samples())}."
        )
    found = samples()[framework]
    begins = "//" if found["installs"].startswith("npm") else "#"
    return f"{begins} {found['installs']}\n{found['code']}"


def _require_one(client: str, program: Sequence[str], *, every: bool, by_hand: bool) -> None:
    """Raises ConfigError unless one thing is named that can be measured."""
    if bool(client) + bool(program) + every != 1:
        hint = "For example: toolsight clients measure codex; toolsight clients measure -- python agent.py"
        raise ConfigError("name a client, or --all-installed, or your program after --", hint=hint)
    if client and not by_hand:
        require_start(client, "Any program can follow --; add --by-hand to start it yourself.")


def _measured(
    subject: Subject,
    requests: Path | None,
    progress: Callable[[int, int], None],
    agree: Callable[[Start], None],
) -> Measured:
    with tempfile.TemporaryDirectory(prefix="toolsight-") as temporary:
        folder = Path(temporary) if requests is None else requests
        return measured(subject, folder.resolve(), progress, agree)


def _row(found: Measured, file: Path, golden: Path | None) -> dict[str, Any]:
    """What came of a client, for programs; its files are written, if there is something to write."""
    failure = found.failure
    row = {
        "client": found.name,
        "version": found.version,
        "title": "",
        "file": "",
        "facts": None,
        "seconds": round(found.seconds, 1),
        "exit_code": found.exit_code,
        "outcome": "measured" if failure is None else f"failed: {failure.message}",
        "hint": failure.hint if failure else "",
    }
    if found.text:
        client = read_client(str(file), found.text)
        write_file(file, found.text)
        row |= {"title": client.title, "file": str(file), "facts": len(client.facts)}
    if golden is not None and failure is None and found.reading is not None:
        write_golden(golden, found.reading.golden(found.name, today()), found.reading.servers())
    return row


def _measure_all(
    like: Subject, output: Path, requests: Path | None, golden: Path | None, *, asks: bool
) -> None:
    """Measure every client that is installed, and go on after one that cannot be."""
    there = [name for name in STARTS if is_installed(name)]
    if there and asks:
        say("This starts one after the other, with nothing of your own configuration:", err=True)
        require_yes(", ".join(there))
    private_folder(output)
    rows = []
    for name in STARTS:
        if name not in there:
            absent = dict.fromkeys(("facts", "seconds", "exit_code"))
            rows.append(
                {"client": name, "version": "", "outcome": f"not installed: {STARTS[name]['installs']}"}
                | absent
            )
            continue
        kept = None if requests is None else requests / name
        with Progress() as progress:
            shown = partial(progress, f"measuring {name} ({there.index(name) + 1} of {len(there)})")
            shown(0, 0)
            rows.append(_one_of_all(replace(like, name=name), kept, shown, (output / f"{name}.toml", golden)))
        say(f"{name}: {rows[-1]['outcome']}", err=True)
    show({"clients": rows}, [Table.of(_COLUMNS, rows)])
    if any(str(row["outcome"]).startswith("failed") for row in rows):
        sys.exit(Exit.FAILED)


def _one_of_all(
    subject: Subject,
    kept: Path | None,
    progress: Callable[[int, int], None],
    files: tuple[Path, Path | None],
) -> dict[str, Any]:
    """The row of one client; a fault in measuring it does not cost the rows of the others."""
    try:
        return _row(_measured(subject, kept, progress, agreed), *files)
    except Exception as error:
        told = f"unexpected {type(error).__name__}: {error}"
        hint = f"`toolsight clients measure {subject.name}` shows where it is raised."
        return _row(Measured(subject.name, failure=ToolsightError(told, hint=hint)), *files)


def _agree(name: str, start: Start) -> None:
    """Ask before the client is started. Raises ConfigError without a yes."""
    say("This starts a program, with nothing of your own configuration:", err=True)
    for variable, value in start.variables.items():
        say(f"  {variable}={value}", err=True, exact=True)
    require_yes(f"{name}: {shlex.join(start.argv)}")


def require_yes(what: str, asked: str = "Start?") -> None:
    """Ask before something is started. Raises ConfigError without a yes."""
    say(f"  {what}", err=True, exact=True)
    with interruptible():
        if sys.stdin.isatty() and click.confirm(asked, default=False, err=True):
            return
    raise ConfigError("nothing was started", hint="Run the command in a terminal to confirm, or add --yes.")
