"""Servers' instructions to a model (MCP, `InitializeResult.instructions`), as part of a prompt."""

from collections.abc import Mapping


def instructions_text(instructions: Mapping[str, str]) -> str:
    """The instructions of each server under its name; "" if there are none."""
    parts = [f"Instructions of server {server}:\n{text}" for server, text in instructions.items() if text]
    return "\n\n".join(parts)
