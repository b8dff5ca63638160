"""Apps in tests without the work that nobody looks at."""

from typing import Any

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_DRAW = Compositor.render_update
_READ = Stylesheet._parse_rules
_rules: dict[tuple[object, ...], list[RuleSet]] = {}


def draw_when_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a screen when a test reads it or takes its picture, and not after every key."""

    def render_update(self: Compositor, full: bool = False, *args: Any, **kwargs: Any) -> Any:
        if full:
            return _DRAW(self, full, *args, **kwargs)
        visible_screen_stack.set(kwargs.get("screen_stack") or [])
        self._dirty_regions.clear()
        return None

    monkeypatch.setattr(Compositor, "render_update", render_update)


def read_styles_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse each style sheet once for all apps with the same theme; each app parses them all otherwise."""

    def parse_rules(self: Stylesheet, *args: Any, **kwargs: Any) -> list[RuleSet]:
        key = (*args, *kwargs.items(), *self._variables.items())
        if key not in _rules:
            _rules[key] = _READ(self, *args, **kwargs)
        return _rules[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_rules)
