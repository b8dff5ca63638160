"""What a model's provider takes, by the model's litellm name."""

import re

from inspector.schema.model_feature import PLAIN, ModelFeatures
from inspector.tokens.model_file import model_entry, shipped_models

# Anthropic's documentation, Tool search tool: not Claude Opus 4.1 and earlier models.
_WITHOUT_REFERENCES = re.compile(r"claude-(instant|[23]|(opus|sonnet)-4(-[01])?(-20\d{6})?$)")
# OpenAI's guide, Tool search: gpt-5.4 and later models; litellm lists earlier ones too.
_WITHOUT_TOOL_SEARCH = re.compile(r"gpt-(4|5(\.[0-3])?(-|$))")


def features_of(name: str) -> ModelFeatures:
    """The features of a model.

    Only Anthropic and OpenAI themselves are asked for theirs: whether other providers of the same models take
    them is not tested. Every Claude model takes marks; for references, litellm has to list it.
    """
    entry = model_entry(shipped_models(), name)
    listed, served = entry.get("litellm_provider"), name.rpartition("/")[0]
    if served == "anthropic" or (listed == "anthropic" and not served):
        knows = listed == "anthropic" and not _WITHOUT_REFERENCES.search(name)
        return ModelFeatures(True, "tool_reference" if knows else "", dialect="anthropic")
    if listed == "openai" and served in ("", "openai") and entry.get("supports_tool_search") is True:
        return ModelFeatures(deferral="" if _WITHOUT_TOOL_SEARCH.search(name) else "tool_search")
    return PLAIN
