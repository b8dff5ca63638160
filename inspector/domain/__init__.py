"""What Toolsight talks about: frozen dataclasses and pure functions, standard library only."""
