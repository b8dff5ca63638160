"""Tools, vectors and sights for tests of registries."""

import numpy as np
from hypothesis import strategies as st

from inspector.core.access import Grant, Scope, Sight
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import embedded_text
from inspector.features.registry.library import embed_missing
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.embedded_text import key_of
from inspector.search.index.semantics import Embedder

MODEL = "m"
# Characters that back ends confuse: patterns, what is above surrogates, and equal lower cases.
ODD = "ab*?[]_%\\\ufffd\U0010ffffÄäK\u212aİ\n"
# Texts with these no registry keeps.
REFUSED = "\0\ud800\udfff\ufffe\uffff"


def tool(server: str, name: str, description: str = "", **more: object) -> Tool:
    """A tool by its server, name and description."""
    return Tool(server, name, description, **more)  # type: ignore[arg-type]


def sight_of(*patterns: str, allowlist: tuple[str, ...] | None = None) -> Sight:
    """What ada may see."""
    return Sight("ada", grants=(Grant(Scope.USER, "ada", "o", patterns),), allowlist=allowlist)


def unit(*values: float) -> list[float]:
    """A unit vector."""
    array = np.array(values, np.float32)
    return [float(value) for value in array / np.linalg.norm(array)]


def keep_vector(registry: ToolRegistry, of: Tool, *values: float, model: str = MODEL) -> None:
    """Keep the unit vector of a tool's text."""
    data = np.array(unit(*values), "<f4").tobytes()
    registry.keep_vectors(model, {key_of(embedded_text(of)): data})


names = st.text(st.sampled_from(ODD), min_size=1, max_size=4)
tools = st.builds(Tool, st.sampled_from(["s", "t", "é", "x[y]"]), names, st.sampled_from("pqr"))
patterns = st.lists(st.text(st.sampled_from(ODD + REFUSED + "*?:st"), max_size=5), max_size=4)


@st.composite
def sights(draw: st.DrawFn) -> Sight:
    """Any grants, and maybe an allowlist; every third may see a server, so that something is seen."""
    granted = draw(st.one_of(patterns, patterns, st.sampled_from([["s:*"], ["*"], ["?:*"], ["*:a*"]])))
    allowed = draw(st.one_of(st.none(), patterns, st.just(["*"]), st.just(["*a*"])))
    return sight_of(*granted, allowlist=None if allowed is None else tuple(allowed))


def embed_all(registry: ToolRegistry, embedder: Embedder) -> None:
    """Embed every tool."""
    embed_missing(registry, embedder, lambda *_: None, lambda: False)
