"""Opens the app. This imports only what the first frame needs; the rest is imported while it is shown."""

import asyncio
import os
import tempfile
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.app.app import ToolsightApp
from inspector.cli.options import Options

if TYPE_CHECKING:
    from inspector.app.opening import Opened
    from inspector.research.source import Source


def open_app(options: Options, *, demo: bool = False) -> None:
    """Run the app on the configuration of `options`, or on the demo. Raises the error if it cannot open."""

    async def run() -> None:
        async with AsyncExitStack() as stack:
            app = ToolsightApp(lambda: _start(options, stack, demo=demo))
            await app.run_async()
            if app.failure is not None:
                raise app.failure

    asyncio.run(run())


async def _start(options: Options, stack: AsyncExitStack, *, demo: bool) -> "Opened":
    """Open a workbench with the real adapters; leaving the stack closes it."""
    await asyncio.to_thread(import_module, "inspector.cli.composition")
    from inspector.adapters.clipboard import SystemClipboard
    from inspector.app.dialogs.approver import ModalApprover
    from inspector.app.opening import Opened
    from inspector.app.reproduction import Reproduction
    from inspector.cli import composition
    from inspector.cli.scenario.lab import ShippedLab

    if demo:
        state = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolsight-demo-"))
        configuration = composition.demo_configuration(Path(state))
    else:
        configuration = composition.read_configuration(options)
    memory = composition.open_memory(options)
    approver = ModalApprover(yes=options.yes)
    bench = composition.make_workbench(configuration, options, approver, memory)
    await stack.enter_async_context(bench)
    reproduction = Reproduction(lambda: _open_source(stack))
    clipboard = SystemClipboard(os.environ)
    return Opened(bench, memory, approver, ShippedLab(options), reproduction, clipboard)


def _open_source(stack: AsyncExitStack) -> "Source":
    from inspector.cli.research.sources import ShippedSource

    return stack.enter_context(ShippedSource())
