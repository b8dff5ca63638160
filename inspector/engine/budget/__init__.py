"""What a model request costs in tokens."""
