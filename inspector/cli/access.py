"""`toolsight access`: who may see which tools, for whoever may know all of it."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import click

from inspector.cli.launch import require_policy, run_headless
from inspector.cli.options import Options, as_json as json_option, options, require_nobody, shared
from inspector.cli.table import say, say_json, say_table
from inspector.core.access import AccessPolicy, Ruling, UserRow, holder, ruling, sight_difference, user_rows
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.session.workbench import Workbench

Work = Callable[[Workbench, AccessPolicy], None]


@click.command()
@click.argument("name", default="", metavar="[USER]")
@click.argument("tool", default="", metavar="[TOOL]")
@click.option(
    "--compare", "other", default="", metavar="USER", help="Show the tools that only one of the two sees."
)
@shared
@json_option
def access(name: str, tool: str, other: str, as_json: bool, **values: Any) -> None:
    """Show who may see which tools, and why.

    Lists every user, all of USER's tools, or why USER may or may not see TOOL. It shows everything, so it is
    for administrators. The exit code is 2 if a pattern in the policy matches no tool.

    \b
    toolsight access ada shop:list_orders --policy policy.yaml --config .mcp.json
    """
    if other and (tool or not name):
        raise click.UsageError("--compare needs one USER and no TOOL")
    chosen = options(**values)
    work: Callable[[Workbench, AccessPolicy, str, bool], None]
    if other:
        work = partial(_compare, name, other)
    elif tool:
        work = partial(_explain, name, tool)
    else:
        work = partial(_show, name) if name else _list
    _as_administrator(chosen, lambda bench, policy: work(bench, policy, chosen.expert, as_json))


def _list(bench: Workbench, policy: AccessPolicy, expert: str, as_json: bool) -> None:
    """Print every user with the number of tools by server."""
    rows = user_rows(policy, bench.catalog.tools, expert)
    if as_json:
        say_json([{**_row(row), "servers": dict(row.by_server)} for row in rows])
        return
    servers = bench.catalog.servers
    cells = [
        (
            *(row.name, row.organisation, ", ".join(row.roles), str(row.tools)),
            *(str(number) for _, number in row.by_server),
        )
        for row in rows
    ]
    numbers = frozenset(range(3, 4 + len(servers)))
    say_table(("user", "organisation", "roles", "tools", *servers), cells, right=numbers)


def _show(name: str, bench: Workbench, policy: AccessPolicy, expert: str, as_json: bool) -> None:
    """Print every tool that a user may see, with the grant that decides."""
    sight = policy.sight(name, expert)
    rulings = [ruling(sight, tool.id) for tool in sight.of(bench.catalog.tools)]
    if as_json:
        say_json([_data(one) for one in rulings])
        return
    if rulings:
        say_table(("tool", "granted to"), [(one.tool, one.why) for one in rulings], whole=frozenset({0}))
    say(f"{name} may see {len(rulings):,} of {count(len(bench.catalog.tools), 'tool')}")


def _explain(
    name: str, tool: str, bench: Workbench, policy: AccessPolicy, expert: str, as_json: bool
) -> None:
    """Print whether a user may see a tool, and which grant decides, or that none does."""
    found = ruling(policy.sight(name, expert), bench.catalog.require(tool).id)
    if as_json:
        say_json({"user": name, "expert": expert, **_data(found)})
        return
    say(f"{name} {'may' if found.is_seen else 'may not'} see {found.tool}")
    for grant in found.grants:
        say(f"  granted to the {holder(grant)}")
    if not found.is_seen:
        say(f"  {found.why}")


def _compare(
    first: str, second: str, bench: Workbench, policy: AccessPolicy, expert: str, as_json: bool
) -> None:
    """Print which tools only one of two users may see."""
    one, other = policy.sight(first, expert), policy.sight(second, expert)
    found = sight_difference(one, other, bench.catalog.tools)
    if as_json:
        say_json({"first": first, "second": second, "only": {first: found.first, second: found.second}})
        return
    for name, sight, tools in ((first, one, found.first), (second, other, found.second)):
        say(f"only {name}: {count(len(tools), 'tool')}")
        for tool_id in tools:
            say(f"  {tool_id}   {ruling(sight, tool_id).why}")
    say(f"both: {count(len(found.both), 'tool')}")


def _as_administrator(chosen: Options, work: Work) -> None:
    """Connect every server, whoever the settings name, and do the work with the policy."""
    own = f"`toolsight access {shlex.quote(chosen.user)}` lists that user's tools." if chosen.user else ""
    require_nobody(chosen, but_policy=True, hint=own)

    async def worked(bench: Workbench) -> None:
        policy = bench.access.policy
        if policy is None:
            hint = "Give one with --policy FILE or the setting access.policy."
            raise ConfigError("there is no policy: everyone may see everything", hint=hint)
        await bench.see_as("")
        await bench.wait_connected()
        work(bench, policy)
        require_policy(bench.state.problems)

    run_headless(replace(chosen, user="", expert="", trust=()), worked, listing=True, tell_problems=False)


def _data(found: Ruling) -> dict[str, Any]:
    grants = [
        {"scope": one.scope, "holder": one.holder, "organisation": one.organisation, "patterns": one.patterns}
        for one in found.grants
    ]
    return {"tool": found.tool, "seen": found.is_seen, "grants": grants, "withheld_by": found.withheld}


def _row(row: UserRow) -> dict[str, Any]:
    return {"user": row.name, "organisation": row.organisation, "roles": row.roles, "tools": row.tools}
