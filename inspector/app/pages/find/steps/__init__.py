"""A whole request against one search per step."""
