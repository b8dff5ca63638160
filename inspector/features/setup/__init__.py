"""Configuration, and what is wrong on this machine."""
