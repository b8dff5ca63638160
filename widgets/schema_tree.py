"""`SchemaTree`: a JSON value or a JSON Schema as a tree that expands level by level."""

from __future__ import annotations

import json
from itertools import islice
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from widgets.schema_outline import Entry, children, top
from widgets.terminal_text import visible


class SchemaTree(Tree[Entry]):
    """Shows parameters with type, default and description; follows `$ref` and stops at loops.

    Lines are created when their parent is expanded, so large and recursive data cost nothing.
    """

    DEFAULT_CSS = """
    SchemaTree {
        background: transparent;
        scrollbar-size: 1 1;
        & > .schema-tree--key { text-style: bold; }
        & > .schema-tree--type { color: $text-accent; }
        & > .schema-tree--value { color: $text-success; }
        & > .schema-tree--note { color: $text-muted; }
        & > .schema-tree--warning { color: $text-warning; text-style: bold; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "schema-tree--key",
        "schema-tree--type",
        "schema-tree--value",
        "schema-tree--note",
        "schema-tree--warning",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open", "open", show=False),
        Binding("left", "close", "close", show=False),
        Binding("y", "copy", "copy", id="tree.copy"),
    ]

    value: reactive[object] = reactive(None, always_update=True, init=False)
    """The schema or the JSON value."""
    empty: reactive[str] = reactive("", init=False)
    """Shown when the value is empty."""

    class Copied(Message):
        """The JSON of a line is on the clipboard."""

        def __init__(self, schema_tree: SchemaTree) -> None:
            super().__init__()
            self.schema_tree = schema_tree

        @property
        def control(self) -> SchemaTree:
            """The tree, for `@on(..., "#id")`."""
            return self.schema_tree

    def __init__(
        self,
        value: object = None,
        *,
        schema: bool = True,
        empty: str = "No parameters.",
        max_depth: int = 24,
        max_children: int = 200,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        """Create a tree.

        Args:
            value: The value to show.
            schema: Whether it is a JSON Schema rather than plain JSON.
            empty: Shown when the value is empty.
            max_depth: Deeper levels cannot be expanded.
            max_children: Children shown at once; enter on "… N more" shows as many again.
            name: The widget's name.
            id: The widget's id.
            classes: The widget's classes.
        """
        super().__init__(Text(""), name=name, id=id, classes=classes)
        self.show_root = False
        self.guide_depth = 3
        self._schema = schema
        self._max_depth = max_depth
        self._max_children = max_children
        self.set_reactive(SchemaTree.value, value)
        self.set_reactive(SchemaTree.empty, empty)

    def on_mount(self) -> None:
        """Show the initial value."""
        self.watch_value()

    def watch_value(self) -> None:
        """Show the new value."""
        self.clear()
        self.root.data = top(self.value, schema=self._schema)
        self.root.expand()
        if not self._fill(self.root, 0):
            label = (
                self.empty
                if isinstance(self.value, dict | list | None)
                else json.dumps(self.value, default=str)
            )
            self._add(self.root, Entry(((visible(label, newlines=False), "note"),), self.value, loops=True))
        self.cursor_line = 0

    def _fill(self, node: TreeNode[Entry], start: int) -> int:
        """Add the children of a node from the `start`-th on; return how many."""
        if node.data is None:
            return 0
        entries = children(node.data, self.value)
        chosen = list(islice(entries, start, start + self._max_children))
        for entry in chosen:
            self._add(node, entry)
        if left := sum(1 for _ in entries):
            self._add(node, Entry(((f"… {left:,} more", "note"),), None))
        return len(chosen)

    def _add(self, node: TreeNode[Entry], entry: Entry) -> None:
        text = Text("".join(piece for piece, _ in entry.label) or " ")
        opens = entry.expandable and next(children(entry, self.value), None) is not None
        node.add(text, entry, allow_expand=opens and self._depth(node) < self._max_depth)

    @staticmethod
    def _depth(node: TreeNode[Entry]) -> int:
        depth, parent = 1, node.parent
        while parent is not None:
            depth, parent = depth + 1, parent.parent
        return depth

    def render_label(self, node: TreeNode[Entry], base_style: Style, style: Style) -> Text:
        """Draw a line, each piece in the style of its role."""
        entry = node.data
        text = Text("")
        if node.allow_expand:
            text.append("▾ " if node.is_expanded else "▸ ", base_style + style)
        for piece, role in entry.label if entry else ():
            text.append(piece, style + self._role_style(role))
        if entry and entry.expandable and self._depth(node) > self._max_depth:
            text.append("  … too deep to show", style)
        return text

    def _role_style(self, role: str) -> Style:
        whole = self.get_component_rich_style(f"schema-tree--{role}")
        return Style(color=whole.color, bold=whole.bold or None)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        """Create a node's children when it is first expanded."""
        node = event.node
        if not node.children:
            self._fill(node, 0)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Replace "… N more" with more lines."""
        node, parent = event.node, event.node.parent
        if parent is None or node.data is None or not node.data.label[0][0].startswith("… "):
            return
        if node is parent.children[-1] and node.data.value is None and len(node.data.label) == 1:
            start = len(parent.children) - 1
            node.remove()
            self._fill(parent, start)

    def action_open(self) -> None:
        """Expand the line under the cursor, or go to its first child; leave the key to others otherwise."""
        node = self.cursor_node
        if node is not None and node.allow_expand and not node.is_expanded:
            node.expand()
        elif node is not None and node.children:
            self.move_cursor(node.children[0])
        else:
            raise SkipAction

    def action_close(self) -> None:
        """Collapse the line under the cursor, or go to its parent; leave the key to others otherwise."""
        node = self.cursor_node
        if node is not None and node.is_expanded:
            node.collapse()
        elif node is not None and node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)
        else:
            raise SkipAction

    def action_copy(self) -> None:
        """Copy the JSON of the line under the cursor."""
        node = self.cursor_node
        if node is not None and node.data is not None:
            self.app.copy_to_clipboard(json.dumps(node.data.value, indent=2, default=str))
            self.post_message(self.Copied(self))
