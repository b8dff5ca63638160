"""The discovery loop: model, search, load, call, and again until it answers."""
