"""`toolsight config access`: who may see which tools, for whoever may know all of it."""

import shlex
from collections.abc import Iterator
from functools import partial
from typing import Any

import click
from msgspec.structs import replace

from inspector.cli.launch import require_policy, run_headless
from inspector.cli.options import COMMON, Options, as_json, require_nobody, session_command
from inspector.cli.table import show
from inspector.core.access import AccessPolicy
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.core.report import COUNT, NAME, Column, Table
from inspector.features.access.ruling import Ruling, UserRow, holder, ruling, sight_difference, user_rows
from inspector.session.workbench import Workbench


@session_command(takes=COMMON)
@click.argument("name", default="", metavar="[USER]")
@click.argument("tool", default="", metavar="[TOOL]")
@click.option(
    "--compare", "other", default="", metavar="USER", help="Show the tools that only one of the two sees."
)
@as_json
def access(name: str, tool: str, other: str, chosen: Options) -> None:
    """Show who may see which tools, and why.

    Lists every user, all of USER's tools, or why USER may or may not see TOOL. It shows everything, so it is
    for administrators. The exit code is 2 if a pattern in the policy matches no tool.

    \b
    toolsight config access ada shop:list_orders --policy policy.yaml --config .mcp.json
    """
    if other and (tool or not name):
        raise click.UsageError("--compare needs one USER and no TOOL")
    own = (
        f"`toolsight config access {shlex.quote(chosen.user)}` lists that user's tools."
        if chosen.user
        else ""
    )
    require_nobody(chosen, but_policy=True, hint=own)

    async def work(bench: Workbench) -> None:
        policy = bench.access.policy
        if policy is None:
            hint = "Give one with --policy FILE or the setting access.policy."
            raise ConfigError("there is no policy: everyone may see everything", hint=hint)
        # As an administrator: every server is connected, whoever the settings name.
        await bench.see_as("")
        await bench.wait_connected()
        if other:
            _compare(name, other, bench, policy, chosen.expert)
        elif tool:
            _explain(name, tool, bench, policy, chosen.expert)
        elif name:
            _show(name, bench, policy, chosen.expert)
        else:
            _list(bench, policy, chosen.expert)
        require_policy(bench.state.problems)

    run_headless(replace(chosen, user="", expert="", trust=()), work, listing=True, tell_problems=False)


def _list(bench: Workbench, policy: AccessPolicy, expert: str) -> None:
    """Print every user with the number of tools by server."""
    rows = user_rows(policy, bench.catalog.tools, expert)
    columns = (
        Column("user", "name"),
        Column("organisation"),
        Column("roles", lambda row: ", ".join(row.roles)),
        Column("tools", kind=COUNT),
        *(Column(server, partial(_of_server, server), COUNT) for server in bench.catalog.servers),
    )
    data = [
        {
            "user": row.name,
            "organisation": row.organisation,
            "roles": row.roles,
            "tools": row.tools,
            "servers": dict(row.by_server),
        }
        for row in rows
    ]
    show(data, [Table.of(columns, rows)])


def _of_server(server: str, row: UserRow) -> int:
    return dict(row.by_server)[server]


def _show(name: str, bench: Workbench, policy: AccessPolicy, expert: str) -> None:
    """Print every tool that a user may see, with the grant that decides."""
    sight = policy.sight(name, expert)
    rulings = [ruling(sight, tool.id) for tool in sight.of(bench.catalog.tools)]

    def report() -> Iterator[str | Table]:
        if rulings:
            yield Table.of((Column("tool", kind=NAME), Column("granted to", "why")), rulings)
        yield f"{name} may see {len(rulings):,} of {count(len(bench.catalog.tools), 'tool')}"

    show([*map(_ruling_json, rulings)], report())


def _ruling_json(one: Ruling) -> dict[str, Any]:
    return {"tool": one.tool, "seen": one.is_seen, "grants": one.grants, "withheld_by": one.withheld}


def _explain(name: str, tool: str, bench: Workbench, policy: AccessPolicy, expert: str) -> None:
    """Print whether a user may see a tool, and which grant decides, or that none does."""
    found = ruling(policy.sight(name, expert), bench.catalog.require(tool).id)
    show({"user": name, "expert": expert, **_ruling_json(found)}, _explained(name, found))


def _explained(name: str, found: Ruling) -> Iterator[str]:
    yield f"{name} {'may' if found.is_seen else 'may not'} see {found.tool}"
    yield from (f"  granted to the {holder(grant)}" for grant in found.grants)
    if not found.is_seen:
        yield f"  {found.why}"


def _compare(first: str, second: str, bench: Workbench, policy: AccessPolicy, expert: str) -> None:
    """Print which tools only one of two users may see."""
    sights = policy.sight(first, expert), policy.sight(second, expert)
    found = sight_difference(*sights, bench.catalog.tools)

    def report() -> Iterator[str]:
        for name, sight, tools in zip((first, second), sights, (found.first, found.second), strict=True):
            yield f"only {name}: {count(len(tools), 'tool')}"
            yield from (f"  {tool_id}   {ruling(sight, tool_id).why}" for tool_id in tools)
        yield f"both: {count(len(found.both), 'tool')}"

    only = {first: found.first, second: found.second}
    show({"first": first, "second": second, "only": only}, report())
