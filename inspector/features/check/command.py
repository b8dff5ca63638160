"""`toolsight check`: expectations and findings about definitions, for people and for CI."""

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import click
from msgspec.structs import replace
from pydantic import Field

from inspector.cli.composition import chosen_model
from inspector.cli.launch import as_clients, run_headless
from inspector.cli.options import COMMON, DEMO_MODEL, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import is_json, say, say_json, say_raw, say_report
from inspector.clients.client import Client, find_client, real_clients
from inspector.config.client import client_files, is_there
from inspector.config.file import MEGABYTE, is_file, read_text
from inspector.config.problem import Strict, meant, validated
from inspector.core.error import ConfigError
from inspector.core.ports import ChatModel
from inspector.features.check.checking import (
    RULES,
    CheckReport,
    Demands,
    check as check_session,
    snapshot_of,
    with_proposals,
)
from inspector.features.check.facts import report_blocks, report_json
from inspector.features.check.finding import Severity
from inspector.features.check.format import github, junit, sarif
from inspector.features.check.lock import Snapshot
from inspector.search.answer.expectation import parse
from inspector.search.answer.request_file import read_expectations
from inspector.session.workbench import Workbench
from inspector.store.saved_call import SAVED_CALLS, saved_calls

_FORMATS: dict[str, Callable[[CheckReport, Severity | None], str]] = {
    "sarif": lambda report, _: sarif(report),
    "junit": junit,
    "github": lambda report, _: github(report),
}


@session_command(takes=COMMON)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="'REQUEST -> TOOL'",
    help="The request has to find this tool first: `TOOL@5`: among five, `TOOL>=0.6`: with this confidence. "
    "May be repeated.",
)
@click.option(
    "--requests",
    type=click.Path(path_type=Path),
    help="A file of requests that have to hold: lines REQUEST -> TOOL, or JSON. Without it and --expect: "
    "toolsight.requests, in the folder of the server's script or else in this one.",
)
@as_clients
@click.option("--installed", is_flag=True, help="Those clients that have a file of servers on this machine.")
@click.option("--budget", type=click.IntRange(min=1), help="The most tokens that all definitions may take.")
@click.option(
    "--snapshot",
    type=click.Path(path_type=Path),
    help="Tell what changed since this file was written: tools.lock.json.",
)
@click.option("--update", is_flag=True, help="Write the snapshot, which accepts what is there now.")
@click.option(
    "--runs",
    type=click.IntRange(min=0),
    default=0,
    help="Let the model of --model choose a tool for each expectation so many times. Nothing is called.",
)
@click.option("--no-model", is_flag=True, help="Rank by words alone, which is fast.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    help="The findings that fail the check, besides expectations. Default: error.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "junit", "github"]),
    default="text",
    show_default=True,
    help="Output for people or for programs: SARIF 2.1.0, JUnit XML, annotations of GitHub Actions.",
)
@click.option("--all", "in_full", is_flag=True, help="Show notes and all expectations.")
@as_json
def check(
    expected: tuple[str, ...],
    requests: Path | None,
    clients: tuple[Client, ...],
    budget: int | None,
    snapshot: Path | None,
    fail_on: str | None,
    form: str,
    runs: int,
    *,
    update: bool,
    installed: bool,
    no_model: bool,
    in_full: bool,
    chosen: Options,
) -> None:
    """Check that requests find tools and clients get them.

    The exit code is 3 if an expectation does not hold or a finding is as severe as --fail-on, and 1 if a
    server failed, or a tool or a page of its list could not be read. The model of --model writes sentences
    for tools that are missed, too.

    \b
    toolsight check server.py --expect "show bill 77 -> get_invoice"
    """
    own, folder = find_check(Path.cwd(), [rule.name for rule in RULES])
    path = snapshot or (folder / own.snapshot if own.snapshot else None)
    if update and path is None:
        raise click.UsageError("--update needs --snapshot FILE, or a snapshot in the check's configuration.")
    files = [*([requests] if requests else []), *(folder / name for name in own.requests)]
    demands = Demands(
        tuple(chain(map(parse, (*own.expect, *expected)), *map(read_expectations, files))),
        (*clients, *_installed(installed)) or tuple(map(find_client, own.client)) or real_clients(),
        budget or own.budget or 0,
        Snapshot.read(path) if path and not update else None,
        own.disable,
        saved=tuple(saved_calls(Path(SAVED_CALLS)).values()),
    )
    found: list[CheckReport] = []

    async def work(bench: Workbench) -> None:
        report = check_session(bench, demands if files or expected else _with_own(demands, bench))
        if update and path:
            _write_snapshot(bench, path, report)
        found.append(report)
        await _ask(bench, chosen, runs, found)

    fails = fail_on or own.fail_on or "error"
    least = None if fails == "never" else Severity(fails)
    try:
        run_headless(chosen, work, listing=no_model, tell_problems=False)
    except KeyboardInterrupt as error:
        raise click.Abort from error
    finally:
        # Where a model fails or is stopped, what was found until then stays.
        if found:
            _print(found[-1], "json" if is_json() else form, least, in_full=in_full)
    report = found[-1]
    if code := Exit.FAILED if not report.is_whole else Exit.DONE if report.passes(least) else Exit.GATE:
        sys.exit(code)


def _with_own(demands: Demands, bench: Workbench) -> Demands:
    """With what the file of requests beside the server expects, if it is there. Raises ConfigError."""
    path = Path(bench.configuration.requests)
    own = read_expectations(path) if is_file(path) else ()
    return replace(demands, expectations=(*demands.expectations, *own))


def _installed(is_asked: bool) -> Iterator[Client]:
    """The clients whose files of servers are here, if that was asked for. Raises ConfigError without any."""
    if not is_asked:
        return
    files = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    there = {file.client for file in files if is_there(file)}
    found = [one for one in real_clients() if any(f"{name} ".startswith(f"{one.title} ") for name in there)]
    if not found:
        raise ConfigError("no known client has a file of servers here", hint="Name clients with --client.")
    yield from found


def _write_snapshot(bench: Workbench, path: Path, report: CheckReport) -> None:
    """Accept what is there now, if that is all there is."""
    if report.is_whole:
        snapshot_of(bench).write(path)
    else:
        say(f"{path} was not written, because tools are missing.", err=True)


async def _ask(bench: Workbench, given: Options, runs: int, found: list[CheckReport]) -> None:
    """Add the report with sentences for what is missed, then with what a model does with each request."""
    writer = None if given.model == DEMO_MODEL else chosen_model(given.model, given)
    found.append(await with_proposals(bench, found[-1], writer))
    if runs and not found[-1].failed:
        await _prove(bench, chosen_model(given.model, given), runs, found)


async def _prove(bench: Workbench, model: ChatModel, times: int, found: list[CheckReport]) -> None:
    """Add to the report what the model does, also if this is stopped."""
    from inspector.features.check.model_proof import ModelProof, Run, prove

    report, runs, prices = found[-1], list[Run](), bench.accounting.prices(model.name)
    wanted = [one.expectation for one in report.expectations]
    try:
        async for run in prove(bench, model, wanted, times):
            runs.append(run)
    finally:
        proof = ModelProof(model.label, tuple(runs), times * len(wanted), prices)
        found[-1] = replace(report, proof=proof)


def _print(report: CheckReport, form: str, fail_on: Severity | None, *, in_full: bool) -> None:
    """Print the report in the form that was asked for."""
    if form == "json":
        say_json(report_json(report))
    elif form in _FORMATS:
        say_raw(_FORMATS[form](report, fail_on))
        if report.note:
            say(report.note, err=True)
    else:
        say_report(report_blocks(report, in_full=in_full))


# The configuration of a check: `[tool.toolsight.check]` in pyproject.toml, `[check]` in toolsight.toml.

# The tables by file, in the order in which a folder's files are read.
_TABLES = {"toolsight.toml": ("check",), "pyproject.toml": ("tool", "toolsight", "check")}
_REASON = 'Say why: `{rule} = "the reason"`.'


class CheckFile(Strict):
    """What a file says; the paths in it are relative to its folder."""

    expect: list[str] = Field([], description='Write a list: ["REQUEST -> TOOL"].')
    requests: list[str] = Field([], description="Write a list of files with labelled requests.")
    client: list[str] = Field([], description='Write a list: ["codex", "claude-code"].')
    budget: int | None = Field(None, gt=0, description="Write how many tokens definitions may take.")
    snapshot: str | None = Field(None, description="Write a file's name: tools.lock.json.")
    fail_on: Literal["error", "warning", "never"] | None = Field(None, alias="fail-on")
    disable: dict[str, str] = Field({}, description=_REASON.format(rule="RULE"))


def find_check(folder: Path, rules: Sequence[str]) -> tuple[CheckFile, Path]:
    """The nearest table from here up to the repository's root, and the folder of its file; else an empty one.

    Without a repository only the folder itself is looked into. Raises ConfigError, also for a rule that is
    not among the `rules`, or turned off without a reason.
    """
    for place in _places(folder.absolute()):
        for name, keys in _TABLES.items():
            path = place / name
            if is_file(path) and (table := _table(path, keys)) is not None:
                return _read(path, keys, table, rules), place
    return CheckFile(), folder


def _places(folder: Path) -> Sequence[Path]:
    above = [folder, *folder.parents]
    root = next((number for number, place in enumerate(above) if (place / ".git").exists()), 0)
    return above[: root + 1]


def _table(path: Path, keys: Sequence[str]) -> Mapping[str, Any] | None:
    """The file's table; None if it has none."""
    try:
        found: Any = tomllib.loads(read_text(path, "TOML", limit=MEGABYTE))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint="Correct the line.") from error
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    if found is None or isinstance(found, Mapping):
        return found
    raise ConfigError(f"{path}: {'.'.join(keys)} must be a table", hint=f"Write [{'.'.join(keys)}].")


def _read(path: Path, keys: Sequence[str], table: Mapping[str, Any], rules: Sequence[str]) -> CheckFile:
    read = validated(CheckFile, table, str(path), at=tuple(keys))
    for rule, reason in read.disable.items():
        where = f"{path}: {'.'.join(keys)}.disable.{rule}"
        if rule not in rules:
            raise ConfigError(f"{where} is not a rule", hint=meant(rule, rules))
        if not reason.strip():
            raise ConfigError(f"{where} has no reason", hint=_REASON.format(rule=rule))
    return read
