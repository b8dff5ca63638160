"""Retries with tenacity."""
