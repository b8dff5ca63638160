"""`toolsight gateway`: one server in front of all others, which finds tools for a client that cannot."""

from pathlib import Path

import click

from inspector.cli.client_file import changes_file
from inspector.cli.location import database_path
from inspector.cli.options import COMMON, CommandGroup, Options
from inspector.cli.run import run
from inspector.core.error import ConfigError


@click.group(cls=CommandGroup, invoke_without_command=True, takes=COMMON)
@click.option("--port", type=click.IntRange(1, 65535), help="Serve over HTTP at this port of this machine.")
@click.pass_context
def gateway(context: click.Context, port: int | None, chosen: Options) -> None:
    """Serve all servers as one, with a search for their tools.

    A client gets search_tools, call_tool and the pinned tools in place of every definition. All else is as in
    the app: profile, toolset, policy, guards, and a recorded session.

    \b
    toolsight gateway --config .mcp.json               over stdio, for a client's configuration
    toolsight gateway --config .mcp.json --port 8100   for clients that take an address
    toolsight gateway add --client claude-code         change the client's configuration to that
    """
    if context.invoked_subcommand is not None:
        return
    from inspector.features.gateway.serve import Front, over_http, over_stdio, serve

    async def served() -> None:
        front = Front()
        serving = over_stdio(front) if port is None else over_http(front, port)
        await serve(chosen, front, serving, is_shared=port is not None)

    run(served())


_placed = changes_file("opencode")


@click.command()
@_placed
def add(client: str | None, config: Path | None, yes: bool) -> None:
    """Put the gateway in place of the servers in a client's configuration.

    Shows the change, asks, keeps a backup. The servers stand in a copy of the file from then on, which only
    you can read and the gateway starts them from; saying yes approves them as they are.

    \b
    toolsight gateway add --client claude-code
    toolsight gateway add --config .mcp.json
    """
    from inspector.cli.client_file import own_program, text_of
    from inspector.cli.composition import open_memory
    from inspector.cli.configuration import read_configuration
    from inspector.cli.consent import require_consent
    from inspector.features.gateway.placing import place, placed, require_absent

    where = place(_one(client, config), config, _copies())
    require_absent(where)
    words = [*own_program(), "gateway", "--config", str(where.copy)]
    after = placed(text_of(where.path), where, words)
    where.copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    where.copy.touch(mode=0o600)
    where.copy.write_bytes(where.path.read_bytes())
    try:
        servers = read_configuration(Options(config=where.copy)).unrestricted
        _write(where.path, after, yes=yes)
    except BaseException:
        where.copy.unlink()
        raise
    require_consent(servers, open_memory(Options()), approve=True)


@click.command()
@_placed
def remove(client: str | None, config: Path | None, yes: bool) -> None:
    """Put a client's own servers back in place of the gateway.

    If nothing else has changed in the file since, it has the same bytes again as before.

    \b
    toolsight gateway remove --client claude-code
    """
    from inspector.cli.client_file import text_of
    from inspector.features.gateway.placing import place, removed

    where = place(_one(client, config), config, _copies())
    if not where.is_changed:
        raise ConfigError(f"the gateway is not in {where.path}")
    _write(where.path, removed(text_of(where.path), where, text_of(where.copy)), yes=yes)
    where.copy.unlink()


def _one(client: str | None, config: Path | None) -> str | None:
    if (client is None) == (config is None):
        raise click.UsageError("use either --client or --config")
    return client


def _copies() -> Path:
    return database_path(Options()).parent / "gateway"


def _write(path: Path, text: str, *, yes: bool) -> None:
    """Show the change, ask, write it, and say where the backup is."""
    from inspector.cli.client_file import encoded, write_all_with_consent
    from inspector.cli.table import show

    [(backup, lines)] = write_all_with_consent({path: encoded(path, text)}, yes=yes).values()
    changed = {"file": str(path), "backup": backup, "diff": list(lines)}
    show({"changed": [changed]}, [f"changed {path}", f"backup: {backup}"])
