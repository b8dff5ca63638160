"""The text of a registered tool, and the vectors that a registry lacks: what is embedded stays."""

from collections.abc import Callable

import numpy as np

from inspector.core.tool import Tool
from inspector.search.index.document import MAX_EMBEDDED, key_of
from inspector.search.index.ports import Embedder, ToolRegistry
from inspector.search.index.vocabulary import spaced


def embedded_text(tool: Tool) -> str:
    """A tool's name and description (semantic discovery, section 4.3), at most MAX_EMBEDDED characters.

    Where the description is one sentence it equals the passage `opening`, so that both share a vector.
    """
    name = spaced(tool.name) or tool.name
    return f"{name}: {tool.description.strip() or name}"[:MAX_EMBEDDED]


Progress = Callable[[str, int, int], None]
"""Receives what is done, how much of it, and how much there is."""
_BATCH, _READ = 32, 2000


def embed_missing(
    registry: ToolRegistry, embedder: Embedder, progress: Progress, cancelled: Callable[[], bool]
) -> int:
    """Embed every text without a vector of the embedder's model; return how many were embedded.

    Tools with equal texts are told as one. Raises ModelError or StoreError.
    """
    model, done = embedder.name, 0
    # A registry that lacks nothing is asked, too: it may have an index to build, which an earlier run left.
    texts = [] if cancelled() else list(registry.unembedded(model, _READ).items())
    if not texts:
        return 0
    total = registry.count() - registry.embedded(model)
    embedder.prepare(lambda had, size: progress("loading the model", had, size), cancelled)
    while texts:
        for start in range(0, len(texts), _BATCH):
            if cancelled():
                return done
            batch = dict(texts[start : start + _BATCH])
            rows = np.asarray(embedder.embed(list(batch.values())), "<f4")
            registry.keep_vectors(model, {key: row.tobytes() for key, row in zip(batch, rows, strict=True)})
            done += len(batch)
            progress("embedding", done, max(total, done))
        texts = [] if cancelled() else list(registry.unembedded(model, _READ).items())
    return done


def forget_other_dimensions(registry: ToolRegistry, embedder: Embedder) -> None:
    """Forget vectors that an embedder of the same name made with another number of dimensions.

    One vector of now, of any tool, is enough to know: see `ToolRegistry.keep_vectors`.
    """
    one = next(iter(registry.tools(limit=1)), None)
    if one is not None and registry.embedded(embedder.name):
        text = embedded_text(one.tool)
        vector = np.asarray(embedder.embed([text])[0], "<f4")
        registry.keep_vectors(embedder.name, {key_of(text): vector.tobytes()})
