#!/usr/bin/env bash
# litellm 1.106.2: token_counter() counts a tool's parameter behind $ref or anyOf as the one word "any".
#
# token_counter(tools=...) writes each tool as a line of TypeScript and counts that, for every provider. The writer reads
# type, properties, items, enum and description. A parameter that is a $ref into $defs, or an anyOf, becomes "any", and
# its whole schema is free; so are default, pattern, title and examples. Pydantic writes a model as a $ref and an
# optional one as an anyOf, so for tools made by the Python SDKs a budget by this count is far too low: the provider is
# sent the JSON. In the other direction an enum of numbers costs more than its JSON. It warns of nothing.
#
# Seen (tokens that one parameter adds, for claude-sonnet-4-5; the object holds a description of 500 words):
#   the object, inline               517   JSON's characters / 4: 646
#   the object, by $ref                9   JSON's characters / 4: 652
#   optional, anyOf of it and null     9   JSON's characters / 4: 654
#   500 words as default               9   JSON's characters / 4: 635
#   500 words as description         512   JSON's characters / 4: 636
#   300 numbers as enum             1206   JSON's characters / 4: 356
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile litellm==1.106.2
LITELLM_LOCAL_MODEL_COST_MAP=True env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import json

from litellm import token_counter

WORDS = "word " * 500
OBJECT = {"type": "object", "properties": {"b": {"type": "string", "description": WORDS}}}


def tokens(parameter, defs=None):
    def count(properties):
        schema = {"type": "object", "properties": properties, **({"$defs": defs} if defs else {})}
        tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}
        messages = [{"role": "user", "content": "hi"}]
        return token_counter(model="claude-sonnet-4-5", messages=messages, tools=[tool])

    return count({"a": parameter}) - count({})


def show(label, parameter, defs=None):
    size = len(json.dumps([parameter, defs])) // 4
    print(f"{label:<31}{tokens(parameter, defs):>5}   JSON's characters / 4: {size}")


REF = {"$ref": "#/$defs/O"}
show("the object, inline", OBJECT)
show("the object, by $ref", REF, {"O": OBJECT})
show("optional, anyOf of it and null", {"anyOf": [OBJECT, {"type": "null"}]})
show("500 words as default", {"type": "string", "default": WORDS})
show("500 words as description", {"type": "string", "description": WORDS})
show("300 numbers as enum", {"type": "integer", "enum": list(range(300))})
PY
diff seen.txt - <<'SEEN'
the object, inline               517   JSON's characters / 4: 646
the object, by $ref                9   JSON's characters / 4: 652
optional, anyOf of it and null     9   JSON's characters / 4: 654
500 words as default               9   JSON's characters / 4: 635
500 words as description         512   JSON's characters / 4: 636
300 numbers as enum             1206   JSON's characters / 4: 356
SEEN
