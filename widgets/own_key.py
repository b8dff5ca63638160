"""Keys in the order in which they were typed, however fast."""

from __future__ import annotations

from textual import events
from textual.widget import Widget


async def open_input_on_key(widget: Widget, event: events.Key, action: str) -> None:
    """Open an input with a key of `widget`'s, and pass what was typed right behind it to that input.

    Call it first in the `_on_key` of what has the focus. Textual would run the action after the letters
    behind the key have come here, and these would be keys of the page.
    """
    focused = widget.screen.focused
    if focused is not None and focused is not widget:
        event.stop()
        focused._forward_event(event)
        return
    active = widget.screen.active_bindings.get(event.key)
    if active is not None and active.enabled and active.binding.action == action:
        event.stop()
        await widget.app.run_action(action, active.node)


async def act_on_own_key(widget: Widget, event: events.Key) -> None:
    """Run the action of a key that is the input's own; call it first in its `_on_key`.

    Textual runs a binding only after the key has gone up to the app: letters that came behind it are typed
    by then. Where many keys come at once, over a slow link, backspace would take away the wrong letter.
    """
    if event.is_printable:
        return
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):
        if await widget.app.run_action(binding.action, widget):
            event.stop()
            event.prevent_default()
            return
