"""Reads the current tools of servers, each server once, or records why they are unknown."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from inspector.core.error import AuthRequired, ConnectError, ToolsightError
from inspector.core.ports import Clock, Connector
from inspector.core.server import ServerSpec
from inspector.core.sink import SECRETS, clean
from inspector.core.store_ports import ServerMemory, Snapshot
from inspector.core.tool import Tool
from inspector.core.toolset import ServerRule
from inspector.mcp.client_side import Unattended
from inspector.mcp.listing import list_tools, remember_tools

NOT_APPROVED = "not approved"
# How many servers start at the same time: many of them unpack a package first.
_AT_ONCE = 4
_LONGEST_REASON = 200
# A server's complaint about a missing key: a variable name of this form, and words that say it is missing.
_KEY = re.compile(r"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT|AUTH)\b")
_LACKING = re.compile(
    r"\b(?:not (?:set|found|provided|defined|configured)|unset|missing|required?|requires|must|provide"
    r"|needs?|undefined|no|without)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One server's tools, or the reason why they could not be measured.

    `at` is the time (seconds since 1970, UTC) of a snapshot used instead of the server; None if the server
    itself was asked. `left_out` counts tools that the client excludes.
    """

    tools: tuple[Tool, ...] | None = None
    summary: str = ""
    at: float | None = None
    reason: str = ""
    hint: str = ""
    left_out: int = 0

    @property
    def is_measured(self) -> bool:
        return self.tools is not None

    def named(self, server: str) -> "Reading":
        """The same reading under the server name of a configuration."""
        if all(tool.server == server for tool in self.tools or ()):
            return self
        assert self.tools is not None
        return replace(self, tools=tuple(replace(tool, server=server) for tool in self.tools))

    def within(self, rule: ServerRule) -> "Reading":
        """The same reading without the tools that a rule does not permit."""
        if self.tools is None:
            return self
        kept = tuple(tool for tool in self.tools if rule.permits(tool.name))
        return replace(self, tools=kept, left_out=len(self.tools) - len(kept))


async def ask_servers(
    specs: Sequence[ServerSpec],
    connector: Connector,
    memory: ServerMemory,
    clock: Clock,
    progress: Callable[[int, int], None],
) -> dict[str, Reading]:
    """Start every server, list its tools and stop it; return readings by fingerprint, including failed ones.

    Specs with the same fingerprint are one server. The tools are stored as a snapshot. `progress` receives
    how many servers are done. Raises StoreError.
    """
    unique = {spec.fingerprint(): spec for spec in specs}
    gate, done = asyncio.Semaphore(_AT_ONCE), 0

    async def ask(spec: ServerSpec) -> Reading:
        nonlocal done
        async with gate:
            reading = await _ask(spec, connector, memory, clock)
        done += 1
        progress(done, len(unique))
        return reading

    progress(0, len(unique))
    readings = await asyncio.gather(*map(ask, unique.values()))
    return dict(zip(unique, readings, strict=True))


def stored(spec: ServerSpec, memory: ServerMemory) -> Reading:
    """The snapshot of a server that may not or cannot be started, if there is one. Raises StoreError."""
    if spec.lacks:
        return Reading(reason=f"needs {spec.lacks}", hint=spec.advice)
    snapshot = memory.snapshot(spec.fingerprint())
    if snapshot is None:
        return Reading(
            reason=NOT_APPROVED,
            hint="Run the command in a terminal to see what it would start, or add --approve.",
        )
    return Reading(snapshot.tools, snapshot.summary, snapshot.at)


def unreadable(fault: ToolsightError) -> Reading:
    """The reading of a server whose entry in the file is invalid."""
    return Reading(reason=_first_line(fault.message), hint=fault.hint)


async def _ask(spec: ServerSpec, connector: Connector, memory: ServerMemory, clock: Clock) -> Reading:
    SECRETS.learn(spec.secrets)
    fingerprint = spec.fingerprint()
    era = memory.era(fingerprint)
    try:
        client = Unattended()
        opening = connector.connect(spec, era=era, on_tools_changed=lambda: None, client=client)
        async with opening as link:
            listing, info = await list_tools(link, spec.connect_timeout), link.info
    except ToolsightError as error:
        return _failed(error)
    if info.era is not era:
        memory.remember_era(fingerprint, info.era)
    remember_tools(memory, spec, Snapshot(listing.tools, clock.now(), info.summary))
    return Reading(listing.tools, info.summary)


def _failed(error: ToolsightError) -> Reading:
    """The reading of a failed server: what it lacks if it says so, else its error, without its secrets."""
    reason, hint = _first_line(error.message), error.hint
    if isinstance(error, AuthRequired):
        reason = f"needs credentials: {reason}"
    elif isinstance(error, ConnectError) and (lacking := _lacking(error.stderr_tail)) is not None:
        key, line = lacking
        reason, hint = f"needs {key}: {line}", f"Set {key} in the server's `env`."
    return Reading(reason=clean(reason), hint=clean(hint))


def _lacking(stderr: str) -> tuple[str, str] | None:
    """The variable that a server says is missing, and the line that says so."""
    for line in stderr.splitlines():
        key = _KEY.search(line)
        if key and _LACKING.search(line):
            return key.group(), _first_line(line)
    return None


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_LONGEST_REASON]
