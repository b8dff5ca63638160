"""A person's own program as a client: what it is given, what it is called, and which frameworks it has."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from inspector.features.clients.measured.start import Setting, Start

SERVERS: Final = "TOOLSIGHT_MCP_SERVERS"
"""The variable with the servers to use, as a configuration of clients has them."""
# What decides on what a model gets of a tool.
_FRAMEWORKS = (
    *("openai-agents", "pydantic-ai-slim", "langchain", "langchain-mcp-adapters", "google-adk"),
    *("strands-agents", "smolagents", "llama-index-core", "llama-index-tools-mcp", "semantic-kernel"),
    *("agent-framework-core", "crewai", "mcp-use", "dspy", "autogen-ext", "haystack-ai", "agno", "fastmcp"),
    *("ai", "@ai-sdk/mcp", "@openai/agents", "@mastra/core", "@mastra/mcp", "@langchain/core"),
    *("@langchain/mcp-adapters", "@google/genai", "mcp", "@modelcontextprotocol/sdk"),
)
_DISTRIBUTIONS = """
import importlib.metadata, json
print(json.dumps({one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}))
"""
_SECONDS = 60
_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")


def variables(setting: Setting) -> Mapping[str, str]:
    """What points the libraries of all providers at the stand-in, and keeps them from calling home."""
    keys = ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "GOOGLE_GENERATIVE_AI")
    return {
        "OPENAI_BASE_URL": setting.openai,
        "OPENAI_API_BASE": setting.openai,
        "ANTHROPIC_BASE_URL": setting.address,
        "ANTHROPIC_API_BASE": setting.address,
        "GOOGLE_GEMINI_BASE_URL": setting.address,
        **{f"{name}_API_KEY": "any" for name in keys},
        "GOOGLE_GENAI_USE_VERTEXAI": "false",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "LANGSMITH_TRACING": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": ",".join(filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1"))),
        SERVERS: setting.servers_json,
    }


def own_start(words: Sequence[str], setting: Setting) -> Start:
    """Starts the program where the person is, with their variables but for their keys."""
    return Start(tuple(words), variables(setting), is_persons=True)


def own_name(words: Sequence[str]) -> str:
    """The program's name: of its file, of its module, or of its command."""
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    named = (Path(word).stem for word in words[1:] if Path(word).is_file())
    return next(named, Path(words[0]).name if words else "")


def frameworks(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """The known frameworks in the program's environment, with their versions; "" without any."""
    python = _python(words)
    found = _distributions(python, environment) if python else _node_modules(words)
    return ", ".join(f"{name} {found[name]}" for name in _FRAMEWORKS if name in found)


def _python(words: Sequence[str]) -> list[str]:
    """The command of the Python that the program runs in; none for one that is no Python."""
    named = next((at for at, word in enumerate(words) if _PYTHON.fullmatch(Path(word).name)), None)
    if named is not None:
        return list(words[: named + 1])
    if words[:2] == ("uv", "run"):
        at = next((at for at, word in enumerate(words) if at > 1 and Path(word).is_file()), 2)
        return [*words[:at], "python"]
    # A command of a virtual environment says in its first line which Python it has.
    try:
        with Path(shutil.which(words[0]) or words[0]).open("rb") as file:
            first = file.readline(1_000).decode(errors="replace")
    except OSError:
        return []
    interpreter = first.removeprefix("#!").split()
    return interpreter if first.startswith("#!") and _PYTHON.fullmatch(Path(interpreter[0]).name) else []


def _distributions(python: Sequence[str], environment: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        done = subprocess.run(
            [*python, "-c", _DISTRIBUTIONS], env=environment, capture_output=True, timeout=_SECONDS
        )
        found: Mapping[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return found


def _node_modules(words: Sequence[str]) -> Mapping[str, Any]:
    """The packages that are found from the program's file upwards, or from the working folder."""
    file = next((Path(word) for word in words if Path(word).is_file()), Path.cwd() / "program")
    found = {}
    for folder in reversed(file.resolve().parents):
        for name in _FRAMEWORKS:
            package = folder / "node_modules" / name / "package.json"
            with suppress(OSError, ValueError):
                found[name] = json.loads(package.read_bytes()).get("version", "")
    return found


def samples() -> Mapping[str, Mapping[str, str]]:
    """Programs to begin with, by their frameworks: each with its `code` and what `installs` it."""
    text = (files(__package__) / "samples.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
