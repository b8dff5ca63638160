"""`toolsight gateway`: one server in front of all others, which finds tools for a client that cannot."""

from inspector.cli.options import COMMON, Options, session_command
from inspector.cli.run import run


@session_command(takes=COMMON)
def gateway(chosen: Options) -> None:
    """Serve all servers of a configuration to an MCP client as one, with a search for their tools.

    The client gets search_tools, call_tool and the pinned tools in place of every definition. Everything else
    is as in the app: profile, toolset, policy, guards, and a recorded session.

    \b
    toolsight gateway --config .mcp.json        over stdio, as a client's configuration starts it
    """
    from inspector.features.gateway.serve import Front, over_stdio, serve

    async def served() -> None:
        front = Front()
        await serve(chosen, front, over_stdio(front))

    run(served())
