"""Signs in to a server in the browser, and out again."""

import asyncio
import sys
from collections.abc import Sequence
from threading import Thread

from inspector.cli.composition import mcp_connector, open_memory, open_sign_ins
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import require_consent, say_question
from inspector.cli.options import Options, require_nobody
from inspector.cli.table import say, show
from inspector.core.error import AuthRequired, ConfigError
from inspector.core.number import count
from inspector.core.server import ServerSpec
from inspector.core.text import did_you_mean
from inspector.mcp.question import sign_in_question
from inspector.mcp.sign_in.person import open_in_browser


async def sign_in(name: str, chosen: Options) -> None:
    """Sign in to a server, and say how many tools it lists then. Raises ConfigError or ConnectError."""
    require_nobody(chosen)
    opened = read_configuration(chosen)
    spec = _named(opened.seen.servers, name)
    require_consent(opened.only(spec.name).unrestricted, open_memory(chosen), approve=chosen.approve)
    try:
        tools, place = await mcp_connector(chosen).sign_in(spec, TerminalVisitor())
    except AuthRequired as error:
        for one in error.documents:
            say(str(one), err=True)
        raise
    told = f"signed in; kept in {place}" if place else "no sign-in had to be kept"
    data = {"server": spec.name, "signed_in": bool(place), "kept": place, "tools": tools}
    show(data, [f"{spec.name}: {told}", f"{spec.name}: {count(tools, 'tool')}"])


def sign_out(name: str, chosen: Options) -> None:
    """Forget a sign-in. Raises ConfigError or StoreError."""
    require_nobody(chosen)
    spec = _named(read_configuration(chosen).seen.servers, name)
    was = open_sign_ins(chosen).remove(spec.url)
    told = "signed out; the issuer may accept the sign-in until it expires" if was else "there was no sign-in"
    show({"server": spec.name, "signed_out": was}, [f"{spec.name}: {told}"])


def _named(servers: Sequence[ServerSpec], name: str) -> ServerSpec:
    """The server behind an address of that name, or the only one for "". Raises ConfigError."""
    known = {spec.name: spec for spec in servers if spec.is_http}
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        hint = did_you_mean("Name one of the servers with an address", name, list(known))
        what = (
            f"no server '{name}' with an address" if name else f"{count(len(known), 'server')} to choose from"
        )
        raise ConfigError(f"there is {what}" if name else f"there are {what}", hint=hint or "There is none.")
    return known[name]


class TerminalVisitor:
    """Shows the address on the terminal; enter opens it, and a pasted answer is taken."""

    async def visit(self, server: str, where: str) -> str:
        """See `Visitor`."""
        say_question(sign_in_question(server, where))
        say(
            "Press enter to open it in the browser. Without one here, open it elsewhere and paste\n"
            "the address you end up at (it begins with http://127.0.0.1):",
            err=True,
        )
        while True:
            line = await _typed()
            if line.strip():
                return line
            if line and not await open_in_browser(where):
                say("There is no browser here.", err=True)


async def _typed() -> str:
    """The next line of standard input; waits for ever at its end.

    A thread of its own reads: one that waits for a line must not hold up the end of the program.
    """
    here = asyncio.get_running_loop()
    read: asyncio.Future[str] = here.create_future()

    def settle(line: str) -> None:
        if line and not read.done():
            read.set_result(line)

    def wait() -> None:
        here.call_soon_threadsafe(settle, sys.stdin.readline())

    Thread(target=wait, daemon=True).start()
    return await read
