"""A label and what it says, wrapped beside the label."""

from textual.content import Content

from inspector.app.draw.style import MUTED

_LEAST = 12


def fact(label: str | Content, value: Content, labels: int, width: int) -> Content:
    """Return a label of `labels` cells, and the value in lines of what is left of `width`.

    Where too little is left, the value is left to wrap as it comes.
    """
    shown = label if isinstance(label, Content) else Content.styled(label, MUTED)
    head = shown.pad_right(max(labels - shown.cell_length, 1))
    room = width - labels
    rows = value.wrap(room) if room >= _LEAST else [value]
    return Content.assemble(head, Content(f"\n{' ' * labels}").join(rows or [Content("")]))
