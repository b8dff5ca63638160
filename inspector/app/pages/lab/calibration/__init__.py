"""The threshold of a ranker, chosen on a curve."""
