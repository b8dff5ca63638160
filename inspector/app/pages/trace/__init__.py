"""Place 5: what happened, event by event and turn by turn."""
