"""The workbench: one session on one configuration, and everything a page or a command can do with it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from inspector.access.reach import unreadable
from inspector.access.restriction import refuse_access, require_whole
from inspector.config.configuration import setting_values
from inspector.config.server_change import Addition, Removal
from inspector.core.access import Toolset
from inspector.core.error import Fetched, ToolsightError
from inspector.core.events import (
    AccessChanged,
    Event,
    MilestoneReached,
    ModelSwitched,
    Origin,
    SearchPerformed,
    TrustChanged,
    TurnEnded,
)
from inspector.core.events.base import Actor
from inspector.core.message import ToolCall, ToolResult
from inspector.core.ports import ChatModel, LocalModel
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.server import ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.loop.tool_call import Request
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.sign_in.person import Visitor
from inspector.schema.json_value import JsonObject
from inspector.search.answer.rewording import Rewording, require_writer, reword
from inspector.session.assembly import preconditions_of, redactor_of, started
from inspector.session.running_session import RunningSession
from inspector.session.server_change import INSTALL, REMOVE
from inspector.tokens.synthetic import Answer

Written = TypeVar("Written")


# Long because everything that can be done to a session is one of its methods.
class Workbench(RunningSession):
    """A session that can be changed: every change goes through here and becomes an event in the stream.

    Leaving `async with Workbench(...) as bench:` closes all connections.
    """

    def expect_connection(self) -> None:
        """It will be connected soon: until then messages wait."""
        self._begun.clear()

    def connect(self, origin: Origin | None = None) -> None:
        """Run predicates and start servers in the background; needs consent. Raises ConfigError.

        `origin` is the client that the session serves, if its model is not ours.
        """
        self._start_session(origin)
        self._parts.begin(self._background)
        self._connections.start()
        self._background.run(asyncio.to_thread(self.accounting.warm))
        self._begun.set()

    def _start_session(self, origin: Origin | None = None) -> None:
        self._parts.binder.preconditions = preconditions_of(self._live)
        self._session.emit(started(self._live, self.policy.profile, self._trusted, origin))
        self._check()

    async def reconnect(self, server: str) -> None:
        """Close a server's connection, if any, and reopen it."""
        await self._handover.over()
        await self._connections.reconnect(server)

    async def stop(self, server: str) -> None:
        """Close a server's connection, or stop opening it."""
        await self._handover.over()
        await self._connections.stop(server)

    async def sign_in(self, server: str, visitor: Visitor) -> str:
        """Sign in to a server anew, as the visitor answers, and reconnect it. Raises ToolsightError.

        Returns where the sign-in is kept; "" if the server wanted none.
        """
        _, place = await self._sign_ins.sign_in(self._remote(server), visitor)
        await self.reconnect(server)
        return place

    async def sign_out(self, server: str) -> bool:
        """Forget the sign-in to a server and reconnect it; False if there was none. Raises ToolsightError."""
        was_signed_in = await self._sign_ins.sign_out(self._remote(server))
        if was_signed_in:
            await self.reconnect(server)
        return was_signed_in

    async def documents(self, server: str) -> tuple[Fetched, ...]:
        """What a client can fetch before it connects to a server: of a sign-in that is wanted, else its card.

        Raises ToolsightError.
        """
        if self.state.servers[server].needs_login:
            return await self._sign_ins.documents(self._remote(server))
        spec = next((one for one in self.configuration.servers if one.name == server and one.is_http), None)
        if spec is None:
            return ()
        # It takes a while to import.
        from inspector.mcp.client.card import card_documents

        return await card_documents(spec, self.state.servers[server].info)

    @property
    def _sign_ins(self) -> McpConnector:
        require_whole(self._live.sight, "sign in to servers")
        if self.ports.sign_ins is None:
            raise ToolsightError("there is nothing to sign in to here")
        return self.ports.sign_ins

    def _remote(self, server: str) -> ServerSpec:
        """The server of that name, which has to have an address."""
        for spec in self.whole_configuration.servers:
            if spec.name == server and spec.is_http:
                return spec
        raise ToolsightError(f"there is no server '{server}' with an address")

    def trust(self, server: str, trusted: bool) -> None:
        """Believe what a server claims about its tools for this session, or no longer."""
        if server in self.state.servers and (server in self.state.trusted_servers) is not trusted:
            self._session.emit(TrustChanged(server, trusted))

    def search(self, request: SearchRequest) -> SearchReport:
        """Search on behalf of the user: all scores, nothing loaded."""
        self._connections.catch_up()
        state = self.state
        answer = self.retrieval.look(
            request, bound=state.bound_ids, pinned=state.pinned, unmet=self._parts.binder.unmet()
        )
        self._session.emit(SearchPerformed(answer.report, answer.text, by="user"))
        if (further := self.server_source.after(answer.report, "user")) is not None:
            self._session.emit(further)
        return answer.report

    async def reword(self, query: str) -> Rewording:
        """Ask the session's model how it would search for that. Raises ModelError if that is no LLM."""
        with self._handover.running("a request is being reworded"):
            return await reword(self._live.model, query, self.state.offer)

    async def ask_writer(self, ask: Callable[[ChatModel], Awaitable[Written]]) -> Written:
        """What the session's model writes beside the conversation. Raises ModelError if that is no LLM."""
        require_writer(self._live.model.name)
        with self._handover.running("the model is writing"):
            return await ask(self._live.model)

    async def install(self, wanted: Addition, *, by: Actor = "user") -> None:
        """Add a server as a person has seen it. Raises ToolsightError; then everything is as it was."""
        async with self._handover.alone():
            require_whole(self._live.sight, INSTALL)
            await self._parts.server_changes.install(wanted, by)

    async def remove_server(self, wanted: Removal, *, by: Actor = "user") -> None:
        """Take a server out of configuration and session. Raises ToolsightError and changes nothing."""
        async with self._handover.alone():
            require_whole(self._live.sight, REMOVE)
            await self._parts.server_changes.remove(wanted, by)

    async def call(self, tool_id: str, arguments: JsonObject) -> ToolResult:
        """Call a permitted tool on behalf of the user. Raises ToolsightError."""
        with self._handover.running("a tool call is running"):
            self._connections.catch_up()
            tool = self._parts.binder.require(tool_id)
            call = ToolCall(f"user-{self.ports.clock.monotonic():.6f}", tool.id, arguments)
            return await self._parts.chat.calls.by_person(Request(call, tool, by="user"))

    async def answer(self, call: ToolCall) -> Answer:
        """Answer a call of a model that somebody else talks to, as the loop answers its own model's.

        It may search, or call what it was offered or has found. Of a server's result, the answer has all.
        """
        with self._handover.running("a tool call is running"):
            self._connections.catch_up()
            dispatcher, offered = self._parts.chat.dispatcher, self.state.bound_ids
            [own] = dispatcher.own((call,))
            return own if isinstance(own, Answer) else await dispatcher.dispatch(own, offered)

    def note(self, event: Event) -> None:
        """Record what came of the session outside of it."""
        self._session.emit(event)

    def load(self, tool_id: str) -> None:
        """Bind a deferred or evicted tool by hand."""
        tool = self._parts.binder.require(tool_id)
        if not self.state.tools[tool.id].binding.is_bound:
            self._parts.chat.iteration.clear(tool.id)
            self._parts.binder.context.bind(tool, "by hand")
            self._measure()

    def evict(self, tool_id: str) -> None:
        """Unbind a loaded tool by hand; pinned tools stay."""
        self._parts.binder.context.evict(tool_id, "hand", "by hand")
        self._measure()

    async def chat(self, text: str) -> TurnEnded:
        """Run the discovery loop for one user message, after those that came before it.

        Cancel the task to cancel the turn, or to take back a message that still waits.
        """
        await self._begun.wait()
        with self._handover.running("a message is being answered"):
            return await self._parts.chat.loop.run(text)

    def change_setting(self, path: str, value: Any) -> None:
        """Change one setting for this session. Raises ToolsightError and changes nothing on failure."""
        refuse_access(path)
        self.policy.set(path, value)

    def reset_setting(self, path: str) -> None:
        """Reset a setting to the value from the file or the profile. Raises ConfigError."""
        refuse_access(path)
        self.policy.reset(path)

    async def declare(self, client: ClientCapabilities) -> None:
        """Declare this to the servers from now on; return when those that it changes are connected anew."""
        self.policy.set_all(setting_values(client))
        await self._connections.declare_again()

    def use_profile(self, name: str) -> None:
        """Switch the profile; settings changed in this session stay. Raises ConfigError."""
        self.policy.use(name)

    def stop_embedding(self) -> None:
        """Stop downloading or embedding; searches use what is embedded so far."""
        self.retrieval.cancel_embedding()

    def switch_toolset(self, name: str) -> None:
        """Restrict the catalog; "" lifts the restriction. Raises ConfigError."""
        self.configuration.toolset(name)
        self._live.toolset = name
        self._parts.chat.redundancy.clear()
        self._rebuild()

    def switch_model(self, name: str) -> None:
        """Use another model from the next model call on. Raises ModelError."""
        self._use(self.ports.model_for(name))

    def use_local_model(self, found: LocalModel) -> None:
        """Use a model that was found on this machine from the next model call on. Raises ModelError."""
        self._use(self.ports.local_models.open(found))

    def _use(self, model: ChatModel) -> None:
        self._live.model = model
        self._session.emit(ModelSwitched(model.name, model.label, model.window, model.api_base))
        self._background.run(self.accounting.use_model(self._connections.tools, self._rebuild))

    def milestone(self, name: str, *, by: Actor = "user") -> None:
        """Mark a milestone as reached; preconditions may depend on it."""
        self._session.emit(MilestoneReached(name, by))

    async def see_as(self, user: str, expert: str = "") -> None:
        """Begin a new session in which everything is as the user may see it, through an expert if named.

        Without a user it is the administrator's, who sees everything. Nothing of the session before goes
        into it: no conversation, no change of settings, nothing loaded. Raises ToolsightError and changes
        nothing if the policy does not know them, while a message is being answered, or during a call.
        """
        async with self._handover.under_way():
            sight = self.access.sight_as(user, expert)
            await self._connections.leave(sight)
            self._parts.close()
            await self._parts.aclose()
            self.access.use(sight)
            self._renew()
            await self._connections.renew()

    def _renew(self) -> None:
        """Replace everything that remembers a session by something that remembers nothing."""
        self._past_sessions.append(self.session_id)
        self._session.listeners = ()
        self._open_session(f"{self._past_sessions[0]}-{len(self._past_sessions) + 1}")
        self.policy.renew(self.access.settings)
        self._see()
        self._wires.clear()
        if (wire := self.ports.wire) is not None:
            for spec in self.whole_configuration.servers:
                wire.frames(spec.name).clear()
        if self._live.toolset not in self.configuration.toolsets:
            self._live.toolset = ""
        self._live.retrieval = self._new_retrieval(self.settings)
        self._parts = self._make_parts()
        self._start_session()
        self._parts.begin(self._background)

    def _see(self) -> None:
        """Let everything work with what the sight leaves."""
        live = self._live
        live.sight, live.settings = self.access.sight, self.policy.settings
        live.configuration = self.access.configuration(self.whole_configuration)

    def _keep_toolset(self) -> None:
        """A chosen toolset of which nothing may be seen any more permits nothing; it is not lifted."""
        live, name = self._live, self._live.toolset
        toolsets = live.configuration.toolsets
        if name and name not in toolsets:
            toolsets = {**toolsets, name: Toolset(name)}
            live.configuration = replace(live.configuration, toolsets=toolsets)

    async def read_policy_again(self) -> None:
        """Read the policy's file again: grants that went are gone at once. If it cannot be read, it stays."""
        async with self._handover.alone():
            try:
                policy = await asyncio.to_thread(self.access.read)
            except ToolsightError as error:
                self._session.emit(unreadable(error, self._live.sight))
                return
            if not self.access.take(policy):
                return
            self._session.emit(AccessChanged(self.access.user, self.access.expert))
            self._see()
            self._keep_toolset()
            self._session.redactor = redactor_of(self.whole_configuration, self.access.sight)
            self._connections.narrow()
            self.policy.restrict_again()
            self._rebuild()
            await self._connections.look_again()
            self._rebuild()
