"""Place 5: what happened, by event and by model call."""
