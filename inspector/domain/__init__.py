"""The domain model: frozen dataclasses and pure functions, standard library only."""
