"""What a model's provider takes beyond a plain request."""

from dataclasses import dataclass
from typing import Literal

Deferral = Literal["", "tool_reference", "tool_search"]
"""How a provider loads definitions later: Claude expands `tool_reference`, OpenAI takes `tool_search`."""

SchemaDialect = Literal["", "anthropic"]
"""The form of tool schemas that a provider takes; "" for any."""


@dataclass(frozen=True, slots=True)
class ModelFeatures:
    """`breakpoints`: the prompt cache keeps what is marked and nothing else; `deferral`: "" for none."""

    breakpoints: bool = False
    deferral: Deferral = ""
    dialect: SchemaDialect = ""


PLAIN = ModelFeatures()
