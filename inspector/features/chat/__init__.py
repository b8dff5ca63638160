"""A conversation with a model, and what each of its calls sends."""
