"""`toolsight chat` and `demo`."""
