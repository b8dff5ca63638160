"""`toolsight skills`: what real clients show of the skills in a folder, in HOME, and on servers."""

import sys
from functools import partial
from itertools import starmap
from pathlib import Path

import click
from msgspec.structs import replace

from inspector.cli.launch import run_headless
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import show, terminal_width
from inspector.config.file import is_folder
from inspector.core.error import ConfigError
from inspector.core.feature import Given
from inspector.core.settings import SERVED
from inspector.core.text import closest
from inspector.features.skills.facts import inventory_json, list_report, skill_report
from inspector.features.skills.feature import SKILLS
from inspector.features.skills.inventory import Inventory, configured
from inspector.features.skills.rule import RULES
from inspector.features.skills.served import served_json, served_report, served_skills
from inspector.session.workbench import Workbench
from inspector.tokens.counter import TiktokenCounter

_RESULTS = 5


@session_command(takes=COMMON)
@click.argument("words", metavar="[PATH] [NAME]", nargs=-1)
@click.option(
    "--client",
    "clients",
    multiple=True,
    type=click.Choice(list(RULES)),
    metavar="CLIENT",
    help=f"Only this client: {', '.join(RULES)}. May be repeated.",
)
@as_json
def skills(words: tuple[str, ...], clients: tuple[str, ...], *, chosen: Options) -> None:
    """Show what real clients make of skills (SKILL.md).

    Looks where 14 clients look in this folder (or PATH) and in HOME; a PATH that holds skills is taken to be
    such a place of each. NAME shows everything about one. With servers, lists the skills that they serve.
    With --set discovery.skills=. the app and other commands find skills beside tools, and a check tells
    which are gone.

    \b
    toolsight skills                    this folder's skills and your own, in each client
    toolsight skills pdf --client codex
    toolsight skills -- python server.py
    """
    folders, names = ([word for word in words if is_folder(Path(word)) is it_is] for it_is in (True, False))
    if len(folders) > 1 or len(names) > 1:
        raise click.UsageError("Give at most one folder and one skill.")
    name = "".join(names)
    if chosen.server or chosen.config or chosen.demo:
        _serve(name, chosen)
        return
    rules = [RULES[client].at(chosen.window) for client in dict.fromkeys(clients or RULES)]
    found = Inventory.of(Path(*folders).resolve(), Path.home(), rules)
    wanted = tuple(one for one in found.skills if name in ("", one.name, one.folder))
    if name and not wanted:
        near = ", ".join(closest(name, list(found.by_name())) or list(found.by_name())[:_RESULTS])
        raise ConfigError(f"there is no skill '{name}'", hint=f"Skills: {near}." if near else "")
    tokens = TiktokenCounter("").count
    report = skill_report(found, wanted) if name else list_report(found, tokens, terminal_width())
    show(inventory_json(found, tokens, wanted), report)


def _serve(name: str, chosen: Options) -> None:
    """List what servers serve."""

    async def work(bench: Workbench) -> None:
        served, problems = await served_skills(bench)
        wanted = [pair for pair in served if name in ("", pair[1].name, pair[1].id)]
        data = {"skills": list(starmap(served_json, wanted)), "problems": problems}
        show(data, served_report(wanted, problems))

    wanting = replace(chosen, implied={"discovery.skills": [SERVED], **chosen.implied})
    if not run_headless(wanting, work, listing=True):
        sys.exit(Exit.FAILED)


def provide(options: Options, bench: Workbench) -> Given:
    """What reads the skills."""
    return {SKILLS: partial(configured, bench.configuration, options.window)}
