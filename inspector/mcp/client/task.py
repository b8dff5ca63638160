"""A tool call that its server runs as a task, followed from the task's beginning to the call's result.

Tasks have two forms. In protocol 2025-11-25 the client asks for one, a task that needs input asks once
`tasks/result` waits, and that returns the result. In the extension of 2026-07-28 (SEP-2663) the server
decides, and `tasks/get` has questions and result. What a server sends tells which form it is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct, field

from inspector.core.error import ArgumentsRejected, ClientRefusal, ProtocolError, ServerExited, ToolsightError
from inspector.core.message import TaskState
from inspector.core.text import one_line, shortened
from inspector.schema.json_value import JsonObject

RELATED: Final = "io.modelcontextprotocol/related-task"
"""The key in `_meta` that says which task a message belongs to (2025-11-25)."""
GET, RESULT, UPDATE, CANCEL = "tasks/get", "tasks/result", "tasks/update", "tasks/cancel"
METHODS = frozenset({GET, RESULT, UPDATE, CANCEL})
TTL = 3_600_000
"""Milliseconds that a server is asked to keep a task."""
COMPLETED, FAILED, CANCELLED, INPUT_REQUIRED = "completed", "failed", "cancelled", "input_required"
ENDED = frozenset({COMPLETED, FAILED, CANCELLED})
MOST_ROUNDS = 10
"""How often a task may ask for input (2026-07-28)."""
# Milliseconds between polls, whatever a server wants; and what it gets if it does not say.
_SHORTEST, _LONGEST, _USUAL = 200, 60_000, 1_000
# Seconds in which a server may confirm that it cancels.
_PATIENCE = 2.0
_LONGEST_ID, _LONGEST_STATUS, _LONGEST_MESSAGE = 100, 40, 300
_SERVER_BUG = "This is a bug in the server."

Ask = Callable[[str, JsonObject], Awaitable[Mapping[str, Any]]]
"""Sends a request and returns its result as it came. Raises ToolsightError."""


def task_in(answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The task that an answer to a tool call begins; None if it is the result itself."""
    inner = answer.get("task")
    if isinstance(inner, Mapping) and "content" not in answer:
        return inner
    return answer if answer.get("resultType") == "task" else None


def task_state(task: Mapping[str, Any], polls: int = 0) -> TaskState:
    """What a task says of itself, cut to what people read."""
    return TaskState(
        _line(task.get("taskId"), _LONGEST_ID),
        _line(task.get("status"), _LONGEST_STATUS),
        _line(task.get("statusMessage"), _LONGEST_MESSAGE),
        polls,
    )


def _line(value: object, longest: int) -> str:
    return shortened(one_line(value[: longest * 2]), longest) if isinstance(value, str) else ""


def pause(task: Mapping[str, Any]) -> float:
    """Seconds until it is polled again: as its server wants, within limits."""
    wanted = task.get("pollIntervalMs", task.get("pollInterval"))
    if not isinstance(wanted, int | float) or isinstance(wanted, bool):
        wanted = _USUAL
    # Also for what is no number at all (NaN).
    within = wanted if wanted >= _SHORTEST else _SHORTEST
    return min(within, _LONGEST) / 1000


class TaskCall(Struct, eq=False):
    """One call that runs as a task. Whatever ends the waiting for it also cancels it.

    `answer` gives what the server asks for, by its keys; `changed` gets each new state, and `told` whatever
    the server says of the task.
    """

    tool: str
    ask: Ask
    answer: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
    changed: Callable[[TaskState], None]
    told: Callable[[Mapping[str, Any]], object]
    _id: str = ""
    _polls: int = 0
    _rounds: int = 0
    _last: TaskState | None = None
    _answered: set[str] = field(default_factory=set)
    # What waits for the result while the task needs input; it may not be asked for again.
    _waiting: asyncio.Task[Mapping[str, Any]] | None = None
    _may_wait: bool = True
    _giving: set[asyncio.Task[Mapping[str, Any]]] = field(default_factory=set)

    async def result(self, task: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow a task that has just begun, and return the call's result as it came.

        Raises ProtocolError if the server does not say how it goes on, or that it ended without a result;
        ClientRefusal if it asks for what it does not get.
        """
        id_ = task.get("taskId")
        if not isinstance(id_, str) or not id_:
            raise ProtocolError(f"{self.tool}: the server began a task without an id", hint=_SERVER_BUG)
        self._id = id_
        try:
            while not self._is_over(task):
                if (result := await self._meanwhile(task)) is not None:
                    self.changed(TaskState(self._id[:_LONGEST_ID], COMPLETED, polls=self._polls))
                    return result
                task = await self._polled()
        except BaseException:
            if self._waiting is not None:
                self._waiting.cancel()
            await self._cancel()
            raise
        finally:
            # The server waits for no more answers.
            for giving in self._giving:
                giving.cancel()
        return await self._result_of(task)

    def _is_over(self, task: Mapping[str, Any]) -> bool:
        status = self._own(task).get("status")
        if not isinstance(status, str):
            raise ProtocolError(f"{self.tool}: the server does not say how its task goes", hint=_SERVER_BUG)
        self.told(task)
        state, last = task_state(task, self._polls), self._last
        if last is None or (state.status, state.message) != (last.status, last.message):
            self._last = state
            self.changed(state)
        return status in ENDED

    def _own(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer about this task. Raises ProtocolError for one about another."""
        meta = answer.get("_meta")
        related = meta.get(RELATED) if isinstance(meta, Mapping) else None
        named = related if isinstance(related, Mapping) else answer
        if named.get("taskId", self._id) != self._id:
            raise ProtocolError(f"{self.tool}: the server answered for another task", hint=_SERVER_BUG)
        return answer

    async def _meanwhile(self, task: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Give what the task asks for and wait until it is to be polled; the result, if it comes before."""
        if task.get("status") == INPUT_REQUIRED:
            requests = task.get("inputRequests")
            if isinstance(requests, Mapping):
                self._ask(requests)
            elif self._may_wait:
                self._may_wait = False
                self._waiting = self._started(RESULT)
        if self._waiting is None and not self._giving:
            await asyncio.sleep(pause(task))
            return None
        running = self._giving | ({self._waiting} if self._waiting is not None else set())
        await asyncio.wait(running, timeout=pause(task), return_when=asyncio.FIRST_COMPLETED)
        for given in [giving for giving in self._giving if giving.done()]:
            self._giving.discard(given)
            given.result()
        if self._waiting is None or not self._waiting.done():
            return None
        waiting, self._waiting = self._waiting, None
        # Some servers refuse to wait; the result comes once the task has ended.
        with suppress(ProtocolError):
            return self._own(waiting.result())
        return None

    def _ask(self, requests: Mapping[str, Any]) -> None:
        """Ask for what was not asked for before: a poll may still name it. The task is polled meanwhile."""
        new = {key: request for key, request in requests.items() if key not in self._answered}
        if not new:
            return
        self._rounds += 1
        if self._rounds > MOST_ROUNDS:
            raise ClientRefusal(f"it asks for more after {MOST_ROUNDS} answers")
        self._answered |= new.keys()
        self._giving.add(_unawaited(self._give(new)))

    async def _give(self, requests: Mapping[str, Any]) -> Mapping[str, Any]:
        given = {"taskId": self._id, "inputResponses": await self.answer(requests)}
        return await self.ask(UPDATE, given)

    async def _polled(self) -> Mapping[str, Any]:
        self._polls += 1
        try:
            return await self._asked(GET)
        except ServerExited:
            raise
        except ToolsightError as error:
            is_gone = isinstance(error, ArgumentsRejected)
            what = "the server does not know its task" if is_gone else "its task cannot be followed"
            raise ProtocolError(
                f"{self.tool}: {what}: {error.message}", hint="The server may still be working on it."
            ) from error

    async def _result_of(self, task: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of a task that has ended."""
        status, inside, error = task["status"], task.get("result"), task.get("error")
        said = task_state(task).message
        if status == CANCELLED:
            why = f": {said}" if said else ""
            raise ProtocolError(f"{self.tool}: the server cancelled its task{why}")
        if isinstance(inside, Mapping):
            return inside
        if isinstance(error, Mapping):
            told = _line(error.get("message"), _LONGEST_MESSAGE)
            raise ProtocolError(f"{self.tool}: {told} ({error.get('code')})")
        try:
            return self._own(await (self._waiting or self._asked(RESULT)))
        except ProtocolError as problem:
            told = said if status == FAILED and said else problem.message
            raise ProtocolError(f"{self.tool}: its task {status} without a result: {told}") from problem

    async def _cancel(self) -> None:
        """Cancel the task; a server that does not confirm it is not waited for."""
        ending = self._started(CANCEL)
        await asyncio.wait({ending}, timeout=_PATIENCE)
        is_confirmed = ending.done() and not ending.cancelled() and ending.exception() is None
        ending.cancel()
        status = "told to cancel" if is_confirmed else "not cancelled"
        self.changed(TaskState(self._id[:_LONGEST_ID], status, polls=self._polls))

    def _started(self, method: str) -> asyncio.Task[Mapping[str, Any]]:
        """A request about the task that nobody has to wait for."""
        return _unawaited(self._asked(method))

    async def _asked(self, method: str) -> Mapping[str, Any]:
        return await self.ask(method, {"taskId": self._id})


def _unawaited(work: Coroutine[Any, Any, Mapping[str, Any]]) -> asyncio.Task[Mapping[str, Any]]:
    """Work whose error may be nobody's."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
