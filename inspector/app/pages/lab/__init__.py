"""Place 6: experiments with rankers, scenarios and published results."""
