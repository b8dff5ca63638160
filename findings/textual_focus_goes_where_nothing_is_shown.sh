#!/usr/bin/env bash
# textual 8.2.8: focus() gives the keys to a widget that is not displayed, and `focusable` and `visible` say that it may.
#
# A widget that loses its display while it has the focus loses the focus too, and Tab never reaches one without a display.
# So one takes it that a widget without a display cannot have the focus. But focus(), the call that code makes when a page
# is switched, asks neither: of an Input in a container with display: none, or with display = False itself, `focusable` is
# true, focus() succeeds, and what a person types next goes into a field that nobody sees. `visible` is true as well; only
# `screen.focus_chain` leaves such a widget out.
#
# Seen:
#   hidden while it has the focus: focus on nobody
#   in a hidden container: focusable True, visible True, in the focus chain False; after focus(): focus on other
#   typed ab: seen '', other 'ab'
#   hidden itself: focusable True, in the focus chain False; after focus(): focus on other
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check textual==8.2.8 2>log.txt
cat > focus.py <<'PY'
import asyncio

from textual.app import App
from textual.containers import Vertical
from textual.widgets import Input


class Form(App):
    def compose(self):
        yield Input(id="seen")
        with Vertical():
            yield Input(id="other")


async def main():
    app = Form()
    async with app.run_test() as pilot:
        seen, other, box = app.query_one("#seen"), app.query_one("#other"), app.query_one(Vertical)

        async def focus(widget):
            widget.focus()
            await pilot.pause()
            return f"focus on {app.focused.id}"

        await focus(other)
        box.display = False
        await pilot.pause()
        print(f"hidden while it has the focus: focus on {app.focused.id if app.focused else 'nobody'}")
        before = f"focusable {other.focusable}, visible {other.visible}"
        chain = f"in the focus chain {other in app.screen.focus_chain}"
        print(f"in a hidden container: {before}, {chain}; after focus(): {await focus(other)}")
        await pilot.press("a", "b")
        print(f"typed ab: seen {seen.value!r}, other {other.value!r}")
        box.display, other.display = True, False
        await focus(seen)
        before, chain = f"focusable {other.focusable}", f"in the focus chain {other in app.screen.focus_chain}"
        print(f"hidden itself: {before}, {chain}; after focus(): {await focus(other)}")


asyncio.run(main())
PY
env/bin/python focus.py | tee seen.txt
diff seen.txt - <<'SEEN'
hidden while it has the focus: focus on nobody
in a hidden container: focusable True, visible True, in the focus chain False; after focus(): focus on other
typed ab: seen '', other 'ab'
hidden itself: focusable True, in the focus chain False; after focus(): focus on other
SEEN
