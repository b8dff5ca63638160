"""Opening a session in the app: consent first, connections after."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.app.dialogs.approver import ModalApprover
from inspector.app.dialogs.consent import ConsentDialog
from inspector.domain.consent import describe
from inspector.engine.ports import ServerMemory
from inspector.engine.workbench import Workbench

if TYPE_CHECKING:
    from textual.app import App

    from inspector.app.pages.lab.job import Lab
    from inspector.app.pages.lab.reproduction.job import Reproduction


@dataclass(frozen=True, slots=True)
class Opened:
    """A workbench that nothing is connected in yet, and what the app needs beside it.

    Without a `lab` there are no scenarios to run, and without a `reproduction` nothing to reproduce.
    """

    bench: Workbench
    memory: ServerMemory
    approver: ModalApprover
    lab: "Lab | None" = None
    reproduction: "Reproduction | None" = None


async def connect(app: "App[None]", opened: Opened) -> bool:
    """Connect every server, after a yes if this configuration has none; False where it was a no."""
    opened.approver.attach(app)
    configuration = opened.bench.configuration
    fingerprint = configuration.fingerprint()
    # In a thread, so that opening the database does not hold up the keys.
    approved = await asyncio.to_thread(opened.memory.is_approved, fingerprint)
    if not (configuration.trusted or approved):
        dialog = ConsentDialog(configuration.source, describe(configuration))
        if not ConsentDialog.accepted(await app.push_screen_wait(dialog)):
            return False
        opened.memory.approve(fingerprint, configuration.source)
    opened.bench.connect()
    return True
