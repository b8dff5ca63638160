"""Calibration: choosing a ranker's threshold on a curve."""
