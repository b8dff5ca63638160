"""A tool as the index sees it: terms by field for lexical rankers, passages for semantic ones."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Signal
from inspector.domain.schema import fields
from inspector.domain.tool import Tool
from inspector.engine.discovery.term import spaced, split_words, terms

FIELDS = (Signal.NAME, Signal.DESCRIPTION, Signal.PARAMETERS, Signal.SERVER)
PASSAGES = ("summary", "opening", "description", "parameters")
SUMMARY = PASSAGES.index("summary")
# The passages that say what a tool does; parameters say what it needs.
TEXTS = slice(0, PASSAGES.index("parameters"))
# Nobody searches for the tail of a book; a megabyte of description must not cost a second of indexing.
MAX_INDEXED = 20_000
# The encoder reads 256 tokens; this is more than they can hold.
MAX_EMBEDDED = 2_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")

Key = bytes
Vocabulary = dict[str, int]


@dataclass(frozen=True)
class Document:
    """One tool's index entry, made once and kept for as long as the tool does not change.

    `term_ids` and `frequencies` (one row a term, one column a field) are parallel; `lengths` counts the
    terms of each field. `passages` are the keys of its texts, see `passage_texts`, in the order of PASSAGES.
    """

    tool: Tool
    term_ids: NDArray[np.int32]
    frequencies: NDArray[np.float32]
    lengths: NDArray[np.float64]
    passages: tuple[Key, ...]


def read(tool: Tool, vocabulary: Vocabulary) -> Document:
    """The document of a tool. New terms go into `vocabulary`, which all documents of an index share."""
    counts = [Counter(terms(text[:MAX_INDEXED])) for text in _field_texts(tool)]
    found = tuple(dict.fromkeys(chain.from_iterable(counts)))
    return Document(
        tool,
        np.fromiter((vocabulary.setdefault(t, len(vocabulary)) for t in found), np.int32, len(found)),
        np.array([[count[t] for count in counts] for t in found], np.float32).reshape(-1, len(FIELDS)),
        np.array([count.total() for count in counts], np.float64),
        tuple(key_of(text) for text in passage_texts(tool)),
    )


def _field_texts(tool: Tool) -> tuple[str, ...]:
    """One text a field, in the order of FIELDS."""
    parameters = " ".join(f"{field.name} {field.description}" for field in fields(tool.input_schema))
    return tool.name, tool.description, parameters, tool.server


def passage_texts(tool: Tool) -> tuple[str, ...]:
    """What is embedded of a tool, in the order of PASSAGES.

    The summary is what Tool Attention (section 4.2) embeds, with the server; the others let a query meet
    the one sentence, the plain description or the parameter that it is about. Where a tool has no
    description or no parameters the name stands for them.
    """
    name = spaced(tool.name) or tool.name
    server = " ".join(split_words(tool.server))
    description = tool.description.strip()[:MAX_EMBEDDED]
    opening = _SENTENCE_END.split(description, 1)[0] or name
    parameters = "; ".join(
        f"{spaced(field.name)}: {field.description}" for field in fields(tool.input_schema)
    )
    texts = (
        f"{server} {name}: {description}".strip(),
        f"{name}: {opening}",
        description or name,
        f"{name} {parameters}" if parameters else name,
    )
    return tuple(text[:MAX_EMBEDDED] for text in texts)


def server_text(server: str, summary: str, tools: Sequence[Tool]) -> str:
    """A server's aggregate capability description (layered composition, layer 3, stage 1)."""
    names = ", ".join(spaced(tool.name) for tool in tools)
    return f"{' '.join(split_words(server))}: {summary} {names}"[:MAX_EMBEDDED]


def key_of(text: str) -> Key:
    """The content hash a vector is kept by."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def texts_by_key(tools: Sequence[Tool]) -> Mapping[Key, str]:
    """The passages of the tools, every summary before everything else: the first to be embedded."""
    passages = [passage_texts(tool) for tool in tools]
    ordered = chain.from_iterable(zip(*passages, strict=True)) if passages else ()
    return {key_of(text): text for text in ordered}
