"""Runs a model's script, call by call, as if the model made the calls; it reads what the script returns.

A live model's script is not run: code that a model wrote needs a sandbox, and Toolsight has none.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from inspector.core.events import ScriptRun
from inspector.core.message import ToolCall, ToolMessage
from inspector.core.stream import LiveModel, Session
from inspector.core.text import paragraphs
from inspector.loop.binder import Binder
from inspector.loop.rejection import Rejections
from inspector.schema.json_value import as_text
from inspector.tokens.declaration import function_name
from inspector.tokens.script import (
    Script,
    ScriptError,
    filled,
    parts,
    read_script,
    result_value,
    returned_text,
)
from inspector.tokens.synthetic import Answer

NOT_RUN = "scripts do not run here"
_ADVICE = (
    "Toolsight has no sandbox for code that a model writes: the client executes scripts. "
    "Set binding.delivery to call_tool to call tools one by one."
)


@dataclass(eq=False)
class ScriptRunner:
    """Runs scripts; `dispatch` makes one call, with everything that happens around it."""

    session: Session
    binder: Binder
    rejections: Rejections
    live: LiveModel
    dispatch: Callable[[ToolCall, Collection[str]], Awaitable[Answer]]

    async def run(self, call: ToolCall, offered: Collection[str]) -> Answer:
        """Run the script of a call; `offered` holds the tools of the request that it answers."""
        if not self.live.features.scripted:
            return self.rejections.reject(call, NOT_RUN, f"The script was not run. {_ADVICE}")
        code = as_text(call.arguments.get("code"))
        try:
            script = read_script(code)
        except ScriptError as error:
            return self.rejections.reject(call, "unreadable script", f"The script was not run: {error}.")
        run = _Run(self, call, offered)
        text = await run.result(script)
        returned = self.binder.size(ToolMessage(call.id, call.name, text, bool(run.failed)))
        withheld = run.withheld(script, returned)
        self.session.emit(ScriptRun(call.id, code, len(run.sizes), returned, withheld, run.failed))
        return Answer(text, run.guidance, failed=bool(run.failed))

    def wire_name(self, name: str) -> str:
        """The name of the bound tool that a script calls so; the name itself if none is declared as that.

        Raises ScriptError if two are.
        """
        tools = map(self.binder.catalog.get, self.session.state.bound_ids)
        found = [t.wire_name for t in tools if t is not None and function_name(t.wire_name) == name]
        if len(found) > 1:
            raise ScriptError(f"{name} could be any of {', '.join(found)}")
        return found[0] if found else name


class _Run:
    """One run: the tokens of each result so far, and what is said of the calls."""

    def __init__(self, runner: ScriptRunner, call: ToolCall, offered: Collection[str]) -> None:
        self._runner, self._call, self._offered = runner, call, offered
        self.sizes: list[int] = []
        self._results: dict[str, Any] = {}
        self.guidance = self.failed = ""

    async def result(self, script: Script) -> str:
        """What the script returns as text; the error at which it stops, if it does."""
        results = self._results
        try:
            for one in script.calls:
                name, arguments = self._runner.wire_name(one.tool), filled(one.arguments, results)
                answer = await self._made(name, arguments)
                if answer.failed:
                    self.failed = f"call {len(self.sizes)} of {len(script.calls)} failed"
                    return f"Error: the script stopped, as {self.failed} ({name}): {answer.text}"
                structured = answer.result.structured if answer.result is not None else None
                results[one.name] = result_value(answer.text, structured)
            return returned_text(filled(script.returns, results))
        except ScriptError as error:
            self.failed = error.message
            return f"Error: the script stopped: {error.message}."

    def withheld(self, script: Script, returned: int) -> int:
        """The tokens of results that are not returned; `returned` are those of parts of some."""
        if self.failed:
            return sum(self.sizes[: len(self._results)])
        read = {part.name: not part.path for part in parts(script.returns)}
        sizes = [(read.get(one.name), size) for one, size in zip(script.calls, self.sizes, strict=True)]
        in_part = sum(size for whole, size in sizes if whole is False)
        return sum(size for whole, size in sizes if whole is None) + max(0, in_part - returned)

    async def _made(self, name: str, arguments: dict[str, Any]) -> Answer:
        inner = ToolCall(f"{self._call.id}.{len(self.sizes) + 1}", name, arguments)
        answer = await self._runner.dispatch(inner, self._offered)
        self.sizes.append(self._runner.binder.size(ToolMessage(inner.id, name, answer.text, answer.failed)))
        self.guidance = paragraphs(self.guidance, answer.guidance)
        return answer
