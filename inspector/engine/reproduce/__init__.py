"""Published numbers beside our own: what is measured on what, and what does not hold together."""
