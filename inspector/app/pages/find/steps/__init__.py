"""One search for a whole request beside one search per step."""
