"""An open MCP connection as a `ServerLink`, and how it is opened: the protocol eras are tried in turn."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from mcp import Client, MCPError, types
from mcp_types import INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY, URL_ELICITATION_REQUIRED
from msgspec.structs import replace
from pydantic import RootModel, ValidationError

from inspector.core.error import (
    ArgumentsRejected,
    CallTimeout,
    CapabilityMissing,
    ClientRefusal,
    ConnectError,
    ProtocolError,
    ServerExited,
    ToolsightError,
)
from inspector.core.message import OnTask, TaskState, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import Era, ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.client.host import CALL, RAW, Channel, Host
from inspector.mcp.client.http import HttpChannel
from inspector.mcp.client.process import StdioChannel
from inspector.mcp.client.reader import ASK_FOR_LESS, TOO_LARGE, Reader, Recorder, cause_text, is_closed
from inspector.mcp.client.server_request import ProgressReport, ServerRequests
from inspector.mcp.client.session import ServerSession, SessionLost, is_lost
from inspector.mcp.client.task import METHODS, TTL, TaskCall, task_in
from inspector.mcp.client.tool_pages import read_pages, server_info, takes_tasks
from inspector.mcp.client.translate import UNREADABLE, flaw_text, tool_result
from inspector.mcp.frame import StderrLog
from inspector.mcp.port import ignored
from inspector.mcp.reaper import Reaper
from inspector.mcp.sign_in.person import SignInWay
from inspector.schema.json_value import JsonObject

# What the SDK's errors of a request mean.

SERVER_BUG = "This is a bug in the server."


def protocol_error(error: Exception, what: str) -> ProtocolError:
    """The error of a request that was answered, but with no result; `what` names the tool or method."""
    if isinstance(error, ValidationError):
        return ProtocolError(f"Invalid answer to {what}: {flaw_text(error)}", hint=SERVER_BUG)
    if not isinstance(error, MCPError):
        return ProtocolError(f"{what}: {cause_text(error)}")
    kind = ArgumentsRejected if error.code == INVALID_PARAMS else ProtocolError
    hint = "The server rejected the request."
    if error.message == UNREADABLE:
        hint = SERVER_BUG
    elif TOO_LARGE in error.message:
        hint = ASK_FOR_LESS
    elif error.code == MISSING_REQUIRED_CLIENT_CAPABILITY:
        hint = "The server needs a client that declares more: see the settings under `client`."
        return CapabilityMissing(f"{what}: {cause_text(error)}", hint=hint, data=error.data)
    return kind(f"{what}: {cause_text(error)}", hint=hint)


# How often a call may need more input (2026-07-28), and seconds between rounds in which it asks for nothing.
_MOST_ROUNDS = 10
_ROUND_PAUSE = 0.2
_STILL_WORKS = "The server may still be working on it. Raise `call_timeout` if it needs longer."
_HANGS = "It is connected, but may hang: reconnect it."
_MOST_TIMES = 10
_TASK_ONLY = "It runs only as a task: turn on `client.tasks`, and see whether its server declares tasks."
_AnyResult = RootModel[dict[str, Any]]
_Request = types.Request[dict[str, Any], str]
_UNMET = "{what} needs more input and does not get it: {why}"


class _TaskRequest(_Request):
    """Over HTTP its header names the task, so that it reaches the server that has it (SEP-2663)."""

    name_param: ClassVar[str | None] = "taskId"


# Long because every request of a connection goes through it.
class McpLink:
    """See `ServerLink`."""

    def __init__(self, spec: ServerSpec, host: Host, client: Client) -> None:
        self.info = server_info(client)
        self._server = spec.name
        self._host = host
        self._client = client
        self._session = ServerSession(spec.name, host, client.session, spec.connect_timeout, self._begun)
        self._tools: dict[str, Tool] = {}
        can = host.requests.capabilities
        self._makes_tasks = takes_tasks(client.server_capabilities) and (can is None or can.tasks)

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        return await self._session.within(lambda: self._listed(progress))

    async def _listed(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        listing = await read_pages(self._server, self._page, progress)
        self._tools = {tool.name: tool for tool in listing.tools}
        return listing

    async def _page(self, cursor: str | None) -> types.ListToolsResult:
        try:
            page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            if cursor is None and self.info.era is Era.MODERN:
                self.info = replace(self.info, list_kept=page.ttl_ms / 1000, list_scope=page.cache_scope)
            return page
        except Exception as error:
            raise await self._translated(error, "tools/list") from error

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout: float, on_task: OnTask = ignored
    ) -> ToolResult:
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
        known = self._tools.get(tool)
        is_task_only = known is not None and known.task_support == "required"
        if is_task_only and self._makes_tasks:
            params["task"] = {"ttl": TTL}
        late = CallTimeout(f"{tool} did not return within {timeout:g} s", hint=_STILL_WORKS)

        async def called() -> Mapping[str, Any]:
            if self._tools.get(tool) != known:
                raise ProtocolError(
                    f"{tool} was not called: the server forgot its session, and lists another {tool} now",
                    hint="Look at its definition, then call it again.",
                )
            return await self._timed(CALL, params, tool, timeout, late, on_task)

        try:
            raw = await self._session.within(called)
        except ClientRefusal as refusal:
            text = _UNMET.format(what=tool, why=refusal.message)
            return ToolResult(f"[{text}]", is_error=True, kinds=("unsupported",))
        except ProtocolError as error:
            error.hint = _TASK_ONLY if is_task_only and not self._makes_tasks else error.hint
            raise
        # What checks a result by its schema takes a while to import.
        schema = known.output_schema if known is not None else None
        result = await asyncio.to_thread(tool_result, raw, schema) if schema else tool_result(raw)
        # What only begins something is no result that anybody could use.
        return result if result.kinds == ("unsupported",) else replace(result, raw=raw)

    async def request(self, method: str, params: JsonObject, *, timeout: float) -> JsonObject:
        late = CallTimeout(f"{self._server} did not answer {method} within {timeout:g} s", hint=_HANGS)
        try:
            return await self._session.within(lambda: self._timed(method, params, method, timeout, late))
        except ClientRefusal as refusal:
            raise ProtocolError(_UNMET.format(what=method, why=refusal.message)) from refusal

    async def _begun(self) -> None:
        """In a session in place of a lost one, list the tools again."""
        self.info, before = server_info(self._client), self._tools
        await self._listed()
        if self._tools != before:
            self._host.reader.on_tools_changed()

    async def _timed(
        self,
        method: str,
        params: JsonObject,
        what: str,
        timeout: float,
        late: CallTimeout,
        on_task: OnTask = ignored,
    ) -> Mapping[str, Any]:
        """The result as it came. Raises ClientRefusal, CallTimeout, ServerExited or ProtocolError.

        A task's new state and a call's progress give it as much time again, up to `_MOST_TIMES` as much; a
        task that a relay follows has all the time that its server gives it.
        """
        requests, last = self._host.requests, asyncio.get_running_loop().time() + _MOST_TIMES * timeout

        def goes_on() -> None:
            left = last - asyncio.get_running_loop().time()
            requests.patience.renew(deadline, max(min(timeout, left), 0))

        def changed(state: TaskState) -> None:
            goes_on()
            on_task(state)

        report = ProgressReport(f"{self._server}:{what}", requests, goes_on) if method == CALL else None
        try:
            async with requests.call(timeout) as deadline:
                raw = await self._answered(method, params, report)
                task = task_in(raw) if report is not None else None
                if task is None:
                    return raw
                if (follower := requests.follower()) is not None:
                    requests.patience.lift(deadline)
                following = TaskCall(what, self._asked, requests.answers, changed, follower or ignored)
                return await following.result(task)
        except ToolsightError:
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and deadline.expired():
                if report is None or not report.is_begun:
                    raise late from None
                longest = f"{late.message} of its last progress, or {timeout * _MOST_TIMES:g} s in all"
                raise CallTimeout(longest, hint=late.hint) from None
            raise await self._translated(error, what) from error

    async def _answered(
        self, method: str, params: JsonObject, report: ProgressReport | None
    ) -> Mapping[str, Any]:
        """The result as it came, after whatever the server needed first. Raises ClientRefusal."""
        given: dict[str, Any] = {}
        for _ in range(_MOST_ROUNDS):
            try:
                raw = await self._result(method, {**params, **given}, report)
            except MCPError as error:
                if error.code != URL_ELICITATION_REQUIRED:
                    raise
                if not await self._host.requests.visits(error.data):
                    raise ClientRefusal("the address was not visited") from error
                raise ClientRefusal("call it again once what you do at the address is done") from error
            wanted = raw.get("inputRequests")
            if raw.get("resultType") != "input_required" or not isinstance(wanted, Mapping | None):
                return raw
            given = {"requestState": raw.get("requestState")}
            if wanted:
                given["inputResponses"] = await self._host.requests.answers(wanted)
            else:
                await asyncio.sleep(_ROUND_PAUSE)
        raise ClientRefusal(f"it asks for more after {_MOST_ROUNDS} answers")

    async def _result(
        self, method: str, params: JsonObject, report: ProgressReport | None = None
    ) -> Mapping[str, Any]:
        # Not `client.call_tool` and the like: they reject results that are not what they have to be, and
        # Toolsight shows what a server really answers.
        sent = {key: value for key, value in params.items() if value is not None}
        request = (_TaskRequest if method in METHODS else _Request)(method=method, params=sent)
        answer = (await self._client.session.send_request(request, _AnyResult, progress_callback=report)).root
        raw: Mapping[str, Any] = (answer.get("_meta") or {}).get(RAW, answer)
        return raw

    async def _asked(self, method: str, params: JsonObject) -> Mapping[str, Any]:
        """The result of a request about a call's task."""
        try:
            return await self._result(method, params)
        except Exception as error:
            problem = await self._translated(error, method)
            # A call that is made once more in a new session would begin another task.
            is_lost_task = isinstance(problem, SessionLost)
            raise (ProtocolError(problem.message) if is_lost_task else problem) from error

    async def wait_closed(self) -> ServerExited:
        return await self._host.wait_over()

    def stderr_tail(self) -> str:
        return self._host.channel.stderr_tail()

    async def close(self) -> None:
        """End the connection, and the server's process with everything that it started."""
        await self._host.close()

    async def _translated(self, error: Exception, what: str) -> ConnectError | ProtocolError:
        is_over = self._host.channel.ended.is_set() or self._host.is_over
        if not is_over and isinstance(self._host.channel, HttpChannel):
            refusal = self._host.channel.refusal(error)
            if refusal is not None:
                return refusal
        if not is_over and is_lost(error):
            return SessionLost("The server does not know its session: HTTP 404", hint="Reconnect the server.")
        if is_over or is_closed(error):
            # A stream that stopped in the middle of an answer ends the connection, if nothing else has.
            self._host.channel.ended.set()
            return await self._host.wait_over()
        return protocol_error(error, what)


# Seconds for a server of 2026-07-28 to answer the older handshake.
_LONGEST_TRY = 2.0
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
    tries_older: bool = False,
    starts: Era | None = None,
) -> McpLink:
    """Try the eras in order, each with a fresh process and recorder. Raises the first ConnectError."""

    def new_host(era: Era, way: SignInWay | None) -> Host:
        reader = Reader(new_recorder(), on_tools_changed)
        channel: Channel = (
            HttpChannel(spec, reader, way)
            if spec.is_http
            else StdioChannel(spec, environment, stderr, reader, reaper)
        )
        return Host(channel, _MODES[era], reader, requests)

    deadline = asyncio.get_running_loop().time() + spec.connect_timeout
    first: ConnectError | None = None
    for era in eras_to_try(spec, remembered, starts):
        host = new_host(era, way)
        try:
            link = McpLink(spec, host, await host.open(deadline))
            if spec.era is Era.MODERN and link.info.era is not Era.MODERN:
                await link.close()
                raise ConnectError(
                    f"The server speaks {link.info.protocol}, not {Era.MODERN}",
                    hint="Remove `era` to let Toolsight detect it.",
                )
            if link.info.era is Era.MODERN:
                # Over stdio the older handshake went first, if no other is wanted. Nobody signs in for this.
                asks = tries_older and spec.is_http
                is_stdio = not (spec.is_http or spec.era or starts or spec.skills)
                refuses = await _refuses(new_host(Era.LEGACY, None)) if asks else is_stdio
                link.info = replace(link.info, refuses_older=refuses)
            return link
        except ConnectError as error:
            first = first or error
            # Some older servers exit when they get the probe of 2026-07-28.
            if not host.refused and not (era is Era.MODERN and isinstance(error, ServerExited)):
                break
    assert first is not None
    raise first


async def _refuses(host: Host) -> bool:
    """Whether the server refuses this handshake; one that only fails, or takes too long, says nothing."""
    try:
        await host.open(asyncio.get_running_loop().time() + _LONGEST_TRY)
    except ConnectError as error:
        status = host.channel.status if isinstance(host.channel, HttpChannel) else 0
        return host.refused or (type(error) is ConnectError and 400 <= status < 500)
    await host.close()
    return False


def eras_to_try(spec: ServerSpec, remembered: Era | None, starts: Era | None) -> tuple[Era, ...]:
    """The eras in order: the configured one; automatic for HTTP; else `starts`, what worked last, legacy.

    Only since 2026-07-28 can a server say that it serves skills: who wants them starts with that.
    """
    if spec.era is not None:
        return (spec.era,)
    if spec.is_http:
        return (Era.LEGACY, Era.AUTO) if starts is Era.LEGACY else (Era.AUTO,)
    is_modern = (starts or (Era.MODERN if spec.skills else remembered)) is Era.MODERN
    return (Era.MODERN, Era.LEGACY) if is_modern else (Era.LEGACY, Era.MODERN)
