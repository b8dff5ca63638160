"""Models that need no API key: the rule-based planner and the scripted model."""
