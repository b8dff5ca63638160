"""A rule-based stand-in for a language model: works with any server, needs no key, and says what it is."""

from inspector.demo.planner.model import DemoPlanner

__all__ = ["DemoPlanner"]
