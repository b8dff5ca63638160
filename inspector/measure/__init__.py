"""How well searches do: labelled requests, metrics, calibration, statistics over sessions."""
