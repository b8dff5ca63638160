"""What servers tell their client goes on to the clients of the gateway: progress, log messages, changes."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from mcp import MCPError, types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from inspector.features.gateway.asking import ClientRelay
from inspector.schema.json_value import JsonObject, as_text

_LISTS: dict[str, tuple[ServerEvent, types.ServerNotification]] = {
    "notifications/resources/list_changed": (ResourcesListChanged(), types.ResourceListChangedNotification()),
    "notifications/prompts/list_changed": (PromptsListChanged(), types.PromptListChangedNotification()),
}


class News:
    """Tells clients of the older protocol, and those of 2026-07-28 that listen."""

    def __init__(self, relay: ClientRelay) -> None:
        self.bus = InMemorySubscriptionBus()
        self._relay = relay
        self._sessions: dict[int, ServerSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, session: ServerSession) -> None:
        """A client is connected; each of its requests comes with another session."""
        if session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._sessions[id(session.client_params)] = session

    def tools_changed(self) -> None:
        """The gateway would list other tools now."""
        self._tell(ToolsListChanged(), types.ToolListChangedNotification())

    def heard(self, server: str, method: str, params: JsonObject) -> None:
        """A server has told something: see `Heard`. What nobody can read is left out."""
        with suppress(ValidationError):
            match method:
                case "notifications/progress":
                    for context in self._relay.contexts(server):
                        self._run(context.session.report_progress(**params))
                case "notifications/message":
                    said = types.LoggingMessageNotificationParams.model_validate(params, by_name=False)
                    for context in self._relay.contexts(server):
                        log, id_ = context.session.send_log_message, context.request_id
                        self._run(log(said.level, said.data, said.logger, id_))
                case "notifications/resources/updated":
                    uri = as_text(params.get("uri"))
                    told = types.ResourceUpdatedNotificationParams(uri=uri)
                    self._tell(ResourceUpdated(uri), types.ResourceUpdatedNotification(params=told))
                case _ if method in _LISTS:
                    self._tell(*_LISTS[method])

    def _tell(self, event: ServerEvent, notification: types.ServerNotification) -> None:
        self._run(self.bus.publish(event))
        for session in self._sessions.values():
            self._run(session.send_notification(notification))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(_quiet(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _quiet(work: Coroutine[Any, Any, None]) -> None:
    """News for a client that is gone is for nobody."""
    with suppress(MCPError, OSError, RuntimeError):
        await work
