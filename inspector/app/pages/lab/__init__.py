"""Place 6: experiments with rankers and scenarios."""
