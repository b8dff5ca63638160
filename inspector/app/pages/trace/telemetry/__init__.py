"""The telemetry page: what was searched, used, how fast it was and what failed, of one session or of all."""
