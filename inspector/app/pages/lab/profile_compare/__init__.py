"""One scenario under every profile."""
