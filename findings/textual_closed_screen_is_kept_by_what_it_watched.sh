#!/usr/bin/env bash
# textual 8.2.8: a screen that is closed stays in memory while the app's value that it watched does not change.
#
# watch() of a screen on a reactive of the app registers the screen there, and nothing takes it out when the screen is
# popped: the app looks for watchers that are gone only when the value changes. Each dialog that is opened and closed
# leaves itself, with all its widgets, until then, for a value that never changes as long as the app runs. init=False or
# not makes no difference. A guess would be that popping a screen ends what it watches, as it ends its timers.
#
# Seen: dialogs that were opened, closed and collected as garbage, of 20; then the same after the value has changed.
#   closed without watching: 0 of 20 left
#   closed while watching: 20 of 20 left
#   after the value has changed: 0 of 20 left
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet textual==8.2.8
cat > dialogs.py <<'PYTHON'
import asyncio
import gc
import weakref

from textual.app import App
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Label

TIMES = 20


class Dialog(ModalScreen):
    def __init__(self, watches):
        super().__init__()
        self.watches = watches

    def compose(self):
        yield Label("a question")

    def on_mount(self):
        if self.watches:
            self.watch(self.app, "number", lambda _number: None, init=False)


class Main(App):
    number = reactive(0)


async def opened(pilot, watches):
    left = []
    for _ in range(TIMES):
        dialog = Dialog(watches)
        left.append(weakref.ref(dialog))
        await pilot.app.push_screen(dialog)
        del dialog
        await pilot.pause()
        await pilot.app.pop_screen()
        await pilot.pause()
    return left


async def still(pilot, left):
    # What was drawn last is held a little longer.
    for _ in range(3):
        await pilot.pause()
    gc.collect()
    return f"{sum(one() is not None for one in left)} of {TIMES} left"


async def main():
    async with Main().run_test() as pilot:
        print("closed without watching:", await still(pilot, await opened(pilot, False)))
        left = await opened(pilot, True)
        print("closed while watching:", await still(pilot, left))
        pilot.app.number += 1
        print("after the value has changed:", await still(pilot, left))


asyncio.run(main())
PYTHON
venv/bin/python dialogs.py 2>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
closed without watching: 0 of 20 left
closed while watching: 20 of 20 left
after the value has changed: 0 of 20 left
SEEN
