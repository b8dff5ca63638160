"""Opens a connection: the protocol eras are tried in turn."""

import asyncio
from collections.abc import Callable, Mapping

from inspector.core.error import ConnectError, ServerExited
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.host import Channel, Host
from inspector.mcp.client.http import HttpChannel
from inspector.mcp.client.link import McpLink
from inspector.mcp.client.message import Recorder
from inspector.mcp.client.process import StdioChannel
from inspector.mcp.client.reader import Reader
from inspector.mcp.client.server_request import ServerRequests
from inspector.mcp.frame import StderrLog
from inspector.mcp.reaper import Reaper
from inspector.mcp.sign_in.person import SignInWay

_MODES = {Era.LEGACY: "legacy", Era.MODERN: "auto", Era.AUTO: "auto"}


async def open_link(
    spec: ServerSpec,
    remembered: Era | None,
    *,
    environment: Mapping[str, str],
    reaper: Reaper | None,
    stderr: StderrLog,
    new_recorder: Callable[[], Recorder],
    on_tools_changed: Callable[[], None],
    requests: ServerRequests,
    way: SignInWay | None = None,
) -> McpLink:
    """Try the eras in order, each with a fresh process and recorder. Raises the first ConnectError."""
    deadline = asyncio.get_running_loop().time() + spec.connect_timeout
    first: ConnectError | None = None
    for era in _eras_to_try(spec, remembered):
        reader = Reader(new_recorder(), on_tools_changed)
        channel: Channel = (
            HttpChannel(spec, reader, way)
            if spec.is_http
            else StdioChannel(spec, environment, stderr, reader, reaper)
        )
        host = Host(channel, _MODES[era], reader, requests)
        try:
            link = McpLink(spec, host, await host.open(deadline))
            if spec.era is Era.MODERN and link.info.era is not Era.MODERN:
                await link.close()
                raise ConnectError(
                    f"The server speaks {link.info.protocol}, not {Era.MODERN}",
                    hint="Remove `era` to let Toolsight detect it.",
                )
            return link
        except ConnectError as error:
            first = first or error
            # Some older servers exit when they get the probe of 2026-07-28.
            if not host.refused and not (era is Era.MODERN and isinstance(error, ServerExited)):
                break
    assert first is not None
    raise first


def _eras_to_try(spec: ServerSpec, remembered: Era | None) -> tuple[Era, ...]:
    """The eras to try in order: the configured one; automatic for HTTP; else what worked last, or legacy."""
    if spec.era is not None:
        return (spec.era,)
    if spec.is_http:
        return (Era.AUTO,)
    return (Era.MODERN, Era.LEGACY) if remembered is Era.MODERN else (Era.LEGACY, Era.MODERN)
