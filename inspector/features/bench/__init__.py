"""How well every ranker finds the right tools."""
