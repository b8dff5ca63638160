"""The outside world, one port a module; each imports its vendor on first use."""
