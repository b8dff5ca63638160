"""The race: static binding against discovery on the same task."""
