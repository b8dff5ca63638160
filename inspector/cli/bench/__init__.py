"""`toolsight bench`, `calibrate` and `eval`."""
