"""`toolsight access`: who may see which tools, for whoever may know all of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from inspector.cli.launch import run_headless
from inspector.cli.options import Options, as_json as json_option, options, require_nobody, shared
from inspector.cli.problem import require_policy
from inspector.cli.render import say, say_json, say_table
from inspector.domain.access import AccessPolicy
from inspector.domain.access_ruling import Ruling, UserRow, holder, ruling, sight_difference, user_rows
from inspector.domain.error import ConfigError
from inspector.domain.number import count
from inspector.engine.workbench import Workbench

Work = Callable[[Workbench, AccessPolicy], None]


@click.group()
def access() -> None:
    """Show who may see which tools, and which grant decides. Names everything: for administrators."""


@access.command(name="list")
@shared
@json_option
def list_users(as_json: bool, **values: Any) -> None:
    """List every user with the number of tools by server; exit with 2 if a pattern matches no tool."""
    chosen = options(**values)

    def show(bench: Workbench, policy: AccessPolicy) -> None:
        rows = user_rows(policy, bench.catalog.tools, chosen.expert)
        if as_json:
            say_json([{**_row(row), "servers": dict(row.by_server)} for row in rows])
        else:
            servers = bench.catalog.servers
            told = [
                (
                    *(row.name, row.organisation, ", ".join(row.roles), str(row.tools)),
                    *(str(number) for _, number in row.by_server),
                )
                for row in rows
            ]
            numbers = frozenset(range(3, 4 + len(servers)))
            say_table(("user", "organisation", "roles", "tools", *servers), told, right=numbers)

    _as_administrator(chosen, show)


@access.command()
@click.argument("name", metavar="USER")
@shared
@json_option
def show(name: str, as_json: bool, **values: Any) -> None:
    """Show every tool that USER may see, with the grant that decides."""
    chosen = options(**values)

    def shown(bench: Workbench, policy: AccessPolicy) -> None:
        sight = policy.sight(name, chosen.expert)
        rulings = [ruling(sight, tool.id) for tool in sight.of(bench.catalog.tools)]
        if as_json:
            say_json([_data(one) for one in rulings])
            return
        if rulings:
            say_table(("tool", "granted to"), [(one.tool, one.why) for one in rulings], whole=frozenset({0}))
        say(f"{name} may see {len(rulings):,} of {count(len(bench.catalog.tools), 'tool')}")

    _as_administrator(chosen, shown)


@access.command()
@click.argument("name", metavar="USER")
@click.argument("tool")
@shared
@json_option
def explain(name: str, tool: str, as_json: bool, **values: Any) -> None:
    """Say whether USER may see TOOL, and which grant decides, or that none does."""
    chosen = options(**values)

    def explained(bench: Workbench, policy: AccessPolicy) -> None:
        found = ruling(policy.sight(name, chosen.expert), bench.catalog.require(tool).id)
        if as_json:
            say_json({"user": name, "expert": chosen.expert, **_data(found)})
            return
        say(f"{name} {'may' if found.is_seen else 'may not'} see {found.tool}")
        for grant in found.grants:
            say(f"  granted to the {holder(grant)}")
        if not found.is_seen:
            say(f"  {found.why}")

    _as_administrator(chosen, explained)


@access.command()
@click.argument("first")
@click.argument("second")
@shared
@json_option
def diff(first: str, second: str, as_json: bool, **values: Any) -> None:
    """Show which tools only user FIRST and only user SECOND may see."""
    chosen = options(**values)

    def compared(bench: Workbench, policy: AccessPolicy) -> None:
        one, other = policy.sight(first, chosen.expert), policy.sight(second, chosen.expert)
        found = sight_difference(one, other, bench.catalog.tools)
        if as_json:
            say_json({"first": first, "second": second, "only": {first: found.first, second: found.second}})
            return
        for name, sight, tools in ((first, one, found.first), (second, other, found.second)):
            say(f"only {name}: {count(len(tools), 'tool')}")
            for tool_id in tools:
                say(f"  {tool_id}   {ruling(sight, tool_id).why}")
        say(f"both: {count(len(found.both), 'tool')}")

    _as_administrator(chosen, compared)


def _as_administrator(chosen: Options, work: Work) -> None:
    """Connect every server, whoever the settings name, and do the work with the policy."""
    require_nobody(chosen, but_policy=True)

    async def worked(bench: Workbench) -> None:
        policy = bench.access.policy
        if policy is None:
            hint = "Name it with --policy FILE, or with access.policy in the settings."
            raise ConfigError("there is no policy: everybody may see everything", hint=hint)
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
