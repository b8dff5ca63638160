"""Reads YAML as JSON is read: a key stands once, and what a text says is no larger than the text seems."""

import re
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

_MOST_REPEATED = 100_000
_BOOL = "tag:yaml.org,2002:bool"


class Loader(yaml.SafeLoader):
    """Rejects duplicate keys, of which YAML would keep the last, and aliases that repeat too much.

    A few lines of aliases can stand for more than fits in memory, whether `<<` merges them or not.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = self._repeated = 0
        self._sizes: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        before, is_alias = self._nodes, self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if node is not None and is_alias:
            # What an alias within it stands for is not composed yet, and endless.
            size = self._sizes.get(node, 0)
            self._nodes, self._repeated = self._nodes + size, self._repeated + size
            if not size or self._repeated > _MOST_REPEATED:
                problem = "aliases repeat too much" if size else "contains itself"
                raise ComposerError(problem=problem, problem_mark=node.start_mark)
        elif node is not None:
            self._nodes += 1
            self._sizes[node] = self._nodes - before
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in keys:
                raise ConstructorError(problem=f"{key.value} appears twice", problem_mark=key.start_mark)
            keys.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        return super().construct_mapping(node, deep)


# As YAML 1.2 has it, which the clients' own parsers follow: a server may be called `off` or `yes`.
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != _BOOL]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver(_BOOL, re.compile(r"^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$"), list("tTfF"))
