"""Opens the app. This imports only what the first frame needs; the rest is imported while it is shown."""

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import ReturnType

from inspector.app.app import ToolsightApp
from inspector.app.terminal import TerminalApp
from inspector.cli.options import Options
from inspector.cli.run import found_in, run
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.feature import Given, Parts
from inspector.features.feature_list import FEATURES

if TYPE_CHECKING:
    from inspector.app.opening import Opened
    from inspector.app.start import Way
    from inspector.config.configuration import Configuration
    from inspector.core.server import ServerSpec
    from inspector.session.workbench import Workbench

_GIVE_WAY_SECONDS = 0.001
# How many objects the open app makes between two looks for garbage: a look takes some milliseconds.
_NEW_OBJECTS = 50_000


def open_app(options: Options, *, watch: bool = False) -> None:
    """Run the app on what `options` name; ask if they name nothing. Raises the error if it cannot open.

    With `watch` a server starts again when its files change. Raises ConfigError without a terminal.
    """
    _require_terminal()
    # Threads read servers and embed while keys are pressed: they give way to the screen after a millisecond.
    sys.setswitchinterval(_GIVE_WAY_SECONDS)
    shown = _Shown()

    async def opened() -> None:
        chosen = options if _is_named(options) else await _asked(options, shown)
        if chosen is None:
            return
        async with AsyncExitStack() as stack:
            app = ToolsightApp(lambda: _start(app, chosen, stack, watch=watch), _own_keys)
            await shown.run(app)
            if app.failure is not None:
                raise app.failure

    run(opened(), leave=shown.leave)


class _Shown:
    """The app that is on the terminal."""

    def __init__(self) -> None:
        self._app: TerminalApp[Any] | None = None

    async def run(self, app: TerminalApp[ReturnType]) -> ReturnType | None:
        self._app = app
        try:
            return await app.run_async()
        finally:
            self._app = None

    def leave(self) -> bool:
        """Leave it as with its key; False if there is none."""
        if self._app is not None:
            self._app.exit()
        return self._app is not None


def _own_keys() -> "Mapping[str, Any]":
    from inspector.cli.location import read_keys

    return read_keys()


def _is_named(options: Options) -> bool:
    """Whether it is clear what to open."""
    named = options.server or options.demo or options.registry or options.config or found_in(Path.cwd())
    return bool(named)


def _require_terminal() -> None:
    """Textual reads keys from stdin and draws on stderr."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        hint = (
            "Use a command instead, such as `toolsight tools`, `toolsight search QUERY` or `toolsight chat "
            "TEXT`. `toolsight --help` lists them all; most take --json."
        )
        raise ConfigError("the app needs a terminal", hint=hint)


async def _asked(options: Options, shown: _Shown) -> Options | None:
    """The options with what a person chose on the start page; None if they left."""
    from inspector.app.start import StartApp

    def find() -> "Sequence[Way]":
        from inspector.cli.start import ways

        return ways(options)

    def problem(words: tuple[str, ...]) -> str:
        from inspector.cli.start import problem

        return problem(words)

    chosen = await shown.run(StartApp(find, problem))
    if chosen is None:
        return None
    config = Path(chosen.config) if chosen.config else None
    return replace(options, config=config, server=chosen.server, demo=chosen.demo)


async def _start(app: ToolsightApp, options: Options, stack: AsyncExitStack, *, watch: bool) -> "Opened":
    """Open a workbench with the real adapters; leaving the stack closes it. Raises ConfigError."""
    await asyncio.to_thread(import_module, "inspector.cli.composition")
    from inspector.app.dialogs.approver import ModalApprover
    from inspector.app.dialogs.elicitor import ModalElicitor
    from inspector.app.opening import Opened, SystemClipboard, has_consent
    from inspector.app.place import TracePage
    from inspector.cli import composition
    from inspector.cli.configuration import as_seen, is_the_demo, whole_configuration
    from inspector.cli.location import source_words
    from inspector.config.program import under_work
    from inspector.core.redaction import clean
    from widgets import cover_with

    cover_with(clean)
    options, configuration, session = await asyncio.to_thread(_shared, options, stack)
    configuration = configuration or whole_configuration(options)
    memory = composition.open_memory(options)
    if configuration.named:
        await app.answer_typed()  # What was typed before the question is there is no answer to it.
        if not await has_consent(app, configuration, memory, approves=options.approve):
            raise ConfigError("no server was started", hint="Its files are read only with your consent.")
    configuration = (await asyncio.to_thread(as_seen, configuration, options)).unrestricted
    if watch:
        configuration = replace(configuration, servers=tuple(map(under_work, configuration.servers)))
    approver = ModalApprover(yes=options.yes)
    elicitor = ModalElicitor()
    bench = composition.make_workbench(configuration, options, approver, memory, elicitor=elicitor)
    await stack.enter_async_context(bench)
    if watch:
        await stack.enter_async_context(_watched(bench))
    if bench.settings.access.policy:
        await stack.enter_async_context(_followed(bench, Path(bench.settings.access.policy)))
    gc.freeze()  # What has been imported stays: no look for garbage goes through it again.
    gc.set_threshold(_NEW_OBJECTS)
    return Opened(
        *(bench, memory, approver, parts_of(options, bench)),
        clipboard=SystemClipboard(os.environ),
        approves=options.approve,
        elicitor=elicitor,
        home="session" if is_the_demo(configuration) else "timeline" if session else "servers",
        first=TracePage(session) if session else None,
        watches=watch,
        source=source_words(options),
    )


def _shared(options: Options, stack: AsyncExitStack) -> "tuple[Options, Configuration | None, str]":
    """For a session in a file: a database of its own, no server, and its id. Raises ConfigError."""
    from inspector.config.configuration import Configuration
    from inspector.store.shared_session import is_shared, opened_session

    file = " ".join(options.server)
    if not is_shared(file):
        return options, None, ""
    database, session = stack.enter_context(opened_session(Path(file)))
    # However old it is, it is not forgotten.
    values = {**options.values, "record.max_days": 0.0}
    return replace(options, server=(), database=database, values=values), Configuration(file, ()), session


def parts_of(options: Options, bench: "Workbench") -> Parts:
    """What the features give their pages, which takes their imports."""

    def given() -> Given:
        makers = (feature.made(feature.provide) for feature in FEATURES if feature.provide)
        return {part: one for make in makers for part, one in make(options, bench).items()}

    return Parts(given)


@asynccontextmanager
async def _followed(bench: "Workbench", policy: Path) -> AsyncIterator[None]:
    """Read the policy again whenever its file has changed: grants that go are gone at once."""
    from inspector.config.file import changes

    async def follow() -> None:
        async for _ in changes(lambda: [policy]):
            await bench.read_policy_again()

    task = asyncio.create_task(follow())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _watched(bench: "Workbench") -> AsyncIterator[None]:
    """Connect a server again whenever its files have changed."""
    from inspector.config.consent import approve_work
    from inspector.config.file import changes
    from inspector.config.program import source_files

    source = bench.whole_configuration.source

    async def follow(spec: "ServerSpec") -> None:
        async for _ in changes(lambda: source_files(spec).files):
            if spec in bench.configuration.servers:
                # Another session may begin first, in which there is no such server.
                with suppress(ToolsightError):
                    await bench.reconnect(spec.name)
                    await asyncio.to_thread(approve_work, spec, source, bench.ports.memory)

    tasks = [asyncio.create_task(follow(spec)) for spec in bench.whole_configuration.servers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
