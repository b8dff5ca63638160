"""The guard lab: scenarios step by step, with the guards' counts."""
