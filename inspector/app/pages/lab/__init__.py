"""Place 6: experiments."""
