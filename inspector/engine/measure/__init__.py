"""Labelled requests, metrics with intervals, calibration."""
