"""An index with one tool edited, apart from the index that searches use."""

from collections.abc import Mapping
from copy import copy

from inspector.domain.error import ToolsightError
from inspector.domain.tool import Tool
from inspector.engine.retrieval.document import Key, key_of, texts_by_key
from inspector.engine.retrieval.index import ToolIndex
from inspector.engine.xray.place import position_of


def draft(index: ToolIndex, edited: Tool, original_id: str) -> ToolIndex:
    """The index with the edited tool in the place of the original, embedded where the index is semantic.

    Nothing of `index` changes, so this may run in a thread while searches go on, but not while its semantics
    embeds. The new vectors are kept nowhere. Raises ToolsightError where the original is not in the index or
    another tool has the edited one's id, ModelError where the texts cannot be embedded.
    """
    position = position_of(index, original_id)
    if index.tools[position] == edited:
        return index
    if index.position.get(edited.id, position) != position:
        raise ToolsightError(
            f"there is a tool '{edited.id}' already", hint="Give the edited tool another name."
        )
    tools = (*index.tools[:position], edited, *index.tools[position + 1 :])
    apart = _apart(index)
    changed = apart.updated(tools)
    if apart.semantics is None or not index.is_semantic:
        return changed
    texts = _new_texts(changed, index, edited)
    if texts:
        apart.semantics.embed(texts, keep=False)
    return changed.with_new_vectors()


def _apart(index: ToolIndex) -> ToolIndex:
    """The same index with a vocabulary and fresh vectors of its own: both grow with what is read."""
    apart = copy(index)
    apart.vocabulary = dict(index.vocabulary)
    if index.semantics is not None:
        apart.semantics = copy(index.semantics)
        # It makes a new mapping of what is fresh, and what the table has is taken over from the table.
        apart.semantics.settle(index.vectors)
    return apart


def _new_texts(changed: ToolIndex, index: ToolIndex, edited: Tool) -> Mapping[Key, str]:
    """What the edit brought; what the index lacked before stays missing, or it would count as an effect."""
    texts = dict(texts_by_key([edited]))
    texts |= {key_of(text): text for text in changed.server_texts.values()}
    known = set(index.keys())
    return {key: text for key, text in texts.items() if key not in known}
