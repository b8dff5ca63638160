"""Guards: what notices a model that loops or repeats itself. They advise and evict; they never block."""
