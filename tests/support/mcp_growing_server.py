"""A server whose tool `grow` adds the tool `sprout` and notifies in both eras. `python FILE` serves stdio."""

from mcp.server.mcpserver import Context, MCPServer

INSTRUCTIONS = "Grows a tool. Everything else is left out."


def growing_server() -> MCPServer[None]:
    server: MCPServer[None] = MCPServer("growing", version="1.2.3", instructions=INSTRUCTIONS)

    def sprout() -> str:
        """Came later."""
        return "green"

    @server.tool()
    async def grow(ctx: Context) -> str:
        """Add the tool `sprout`."""
        server.add_tool(sprout)
        await ctx.notify_tools_changed()
        if (ctx.protocol_version or "") < "2026-07-28":
            await ctx.session.send_tool_list_changed()
        return "grown"

    return server


if __name__ == "__main__":
    growing_server().run("stdio")
