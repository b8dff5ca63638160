"""What answers without an API key: the rule-based planner and the scripted model."""
