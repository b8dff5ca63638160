"""`toolsight skills`: what real clients show of the skills in a folder, in HOME, and on servers."""

import sys
from itertools import starmap
from pathlib import Path

import click

from inspector.cli.launch import run_headless
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import show, terminal_width
from inspector.config.file import is_folder
from inspector.core.error import ConfigError
from inspector.core.report import NUMBER, TWO, Column, Table
from inspector.core.text import closest
from inspector.features.skills.facts import check_report, inventory_json, list_report, shortened, skill_report
from inspector.features.skills.inventory import Inventory
from inspector.features.skills.rule import RULES
from inspector.features.skills.served import served_json, served_report, served_skills
from inspector.session.workbench import Workbench
from inspector.tokens.counter import TiktokenCounter

_RESULTS = 5
_HITS = (
    Column("", lambda hit: f"{hit[0]}.", NUMBER),
    Column("skill", lambda hit: hit[1]),
    Column("score", lambda hit: hit[2], TWO),
    Column("what is searched", lambda hit: shortened(hit[3])),
)


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
@click.option("--check", "is_check", is_flag=True, help="Show what is gone in which client, and why.")
@click.option("--query", metavar="TEXT", help="Search the skills, by what the --client shows of them.")
@as_json
def skills(
    words: tuple[str, ...], clients: tuple[str, ...], query: str | None, *, is_check: bool, chosen: Options
) -> None:
    """Show what real clients make of skills (SKILL.md).

    Looks where 14 clients look in this folder (or PATH) and in HOME; a PATH that holds skills is taken to be
    such a place of each. NAME shows everything about one. With --check, the exit code is 3 if one is gone in
    a client that looks there. With servers, lists the skills that they serve.

    \b
    toolsight skills                    this folder's skills and your own, in each client
    toolsight skills pdf --client codex
    toolsight skills -- python server.py
    """
    folders, names = ([word for word in words if is_folder(Path(word)) is it_is] for it_is in (True, False))
    if len(folders) > 1 or len(names) > 1 or (query is not None and len(clients) > 1):
        raise click.UsageError("Give at most one folder and one skill; with --query, one --client.")
    name = "".join(names)
    if chosen.server or chosen.config or chosen.demo:
        _serve(name, chosen)
        return
    rules = [RULES[client] for client in dict.fromkeys(clients)] or list(RULES.values())
    found = Inventory.of(Path(*folders).resolve(), Path.home(), rules)
    if query is not None:
        _search(found, query, "".join(clients))
        return
    wanted = tuple(one for one in found.skills if name in ("", one.name, one.folder))
    if name and not wanted:
        near = ", ".join(closest(name, list(found.by_name())) or list(found.by_name())[:_RESULTS])
        raise ConfigError(f"there is no skill '{name}'", hint=f"Skills: {near}." if near else "")
    tokens = TiktokenCounter("").count
    report = skill_report(found, wanted) if name else list_report(found, tokens, terminal_width())
    show(inventory_json(found, tokens, wanted), check_report(found, wanted) if is_check else report)
    if is_check and found.faults(wanted):
        sys.exit(Exit.GATE)


def _search(found: Inventory, query: str, client: str) -> None:
    """Rank the skills by the words that a client's model reads of them."""
    from inspector.search.index.tool_index import ToolIndex
    from inspector.search.ranker.bm25 import Bm25Ranker

    tools = found.tools(client)
    values = Bm25Ranker(ToolIndex(tools)).rank(query).values.tolist()
    ranked = sorted(zip(values, tools, strict=True), key=lambda pair: -pair[0])[:_RESULTS]
    scored = [(value, tool) for value, tool in ranked if value > 0]
    hits = [(place, tool.name, score, tool.description) for place, (score, tool) in enumerate(scored, 1)]
    where = f"what {client} shows of {len(tools)} skills" if client else f"{len(tools)} whole descriptions"
    data = [{"skill": hit[1], "score": hit[2], "text": hit[3]} for hit in hits]
    show(data, (f"bm25 over {where}", Table.of(_HITS, hits) if hits else "No skill has a word of it."))


def _serve(name: str, chosen: Options) -> None:
    """List what servers serve."""

    async def work(bench: Workbench) -> None:
        served, problems = await served_skills(bench)
        wanted = [pair for pair in served if name in ("", pair[1].name, pair[1].id)]
        data = {"skills": list(starmap(served_json, wanted)), "problems": problems}
        show(data, served_report(wanted, problems))

    if not run_headless(chosen, work, listing=True):
        sys.exit(Exit.FAILED)
