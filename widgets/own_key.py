"""Keys of an input in the order in which they were typed."""

from __future__ import annotations

from textual import events
from textual.widget import Widget


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
