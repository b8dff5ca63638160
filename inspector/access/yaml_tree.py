"""Reads YAML that people write, as plain values with their lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from inspector.config.file import MAX_BYTES, read_text
from inspector.config.problem import Location
from inspector.core.error import ConfigError

_HINT = "Indent with spaces, and quote text that contains a colon or a bracket."


class _Loader(yaml.SafeLoader):
    """Rejects duplicate keys, of which YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in keys:
                raise ConstructorError(problem=f"{key.value} appears twice", problem_mark=key.start_mark)
            keys.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        return super().construct_mapping(node, deep)


def load_yaml(path: Path, kind: str) -> tuple[Any, Callable[[Location], str]]:
    """The file's content, and a function that returns a location's file and line. Raises ConfigError."""
    text = read_text(path, kind, limit=MAX_BYTES)
    try:
        loader = _Loader(text)
        tree = loader.get_single_node()
        value = None if tree is None else loader.construct_document(tree)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
        raise ConfigError(f"{place}: not valid YAML: {error.problem}", hint=_HINT) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise ConfigError(f"{path}: not valid YAML: {reason}", hint=_HINT) from error
    return value, lambda loc: f"{path}:{_line(tree, loc)}"


def _line(node: yaml.Node | None, loc: Location) -> int:
    """The line of the key, or of the nearest enclosing node that exists."""
    line = node.start_mark.line + 1 if node else 1
    for step in loc:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == step]
            if not pairs:
                break
            line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
    return line
